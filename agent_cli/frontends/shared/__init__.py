"""What frontends for users have in common; nothing here knows a screen library."""
