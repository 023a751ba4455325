"""What the app asks and shows on top of everything else."""
