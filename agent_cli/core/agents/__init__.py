"""Roles an agent can play, and work that one agent hands to another."""
