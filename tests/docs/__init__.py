"""The documentation is held to what it says."""
