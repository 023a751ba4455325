"""Whether a call may run: what is known of it, the decision, and the question to the user."""
