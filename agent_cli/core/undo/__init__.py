"""What is kept of a call so that it can be undone, and undoing it."""
