"""A session as it is written down, and read again."""
