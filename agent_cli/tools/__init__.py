"""The built-in tools: one file, one `TOOL`."""
