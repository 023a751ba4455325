"""What protects the person: analysis, redaction, sanitising, confinement; no policy of its own."""
