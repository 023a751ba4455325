"""What frontends for a person have in common; nothing here knows a screen library."""
