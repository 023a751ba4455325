"""MCP servers: their tools become ours, under the same rules, and no claim of theirs is believed.

The package `mcp` takes a second to import. It is imported by `mcp_connection` and what that needs,
which is loaded when the first server is.
"""
