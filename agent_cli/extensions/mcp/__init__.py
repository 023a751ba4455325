"""MCP servers: their tools become ours, under the same rules; `mcp` is imported when needed."""
