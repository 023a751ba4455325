"""The tests of agent."""
