"""Ways to meet the agent."""
