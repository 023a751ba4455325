"""What is kept of a call so that it can be taken back, and taking it back."""
