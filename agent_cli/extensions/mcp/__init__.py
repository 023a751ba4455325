"""MCP servers: their tools become ours, under the same rules, and no claim of theirs is believed.

The package `mcp` takes a second to import. It is imported in `client` and `http` alone, and those
are loaded when the first server is.
"""
