"""Keeping a conversation within the model's window."""
