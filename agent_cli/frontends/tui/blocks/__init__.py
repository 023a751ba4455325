"""The blocks of the transcript, one kind in each module."""
