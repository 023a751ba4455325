"""What others add to the program: tools of one's own, plugins, MCP servers.

`agent_cli.extensions.api` is what a tool or a plugin imports.
"""
