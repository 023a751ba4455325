"""The parts of checkpoints: bytes, what is on the disk, who changed it, and putting it back."""
