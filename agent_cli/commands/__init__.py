"""Slash commands, the same for every frontend: one file, one `COMMAND`."""
