"""The agent inside an editor, over the Agent Client Protocol: `agent acp`."""
