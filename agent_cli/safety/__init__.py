"""What protects the user: analysis, redaction, sanitising, confinement; no policy of its own."""
