"""What protects the person: analysis, redaction, sanitising and confinement, without any policy of its own."""
