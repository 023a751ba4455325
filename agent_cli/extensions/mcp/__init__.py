"""MCP servers: their tools become ours, under the same rules and with none of their claims believed.

The package `mcp` takes a second to import. It is imported in `client` and `http` alone, and those
are loaded when the first server is.
"""
