"""What others add to the program; tools and plugins import `agent_cli.extensions.api`."""
