"""Without a screen: stdout carries only the answer or the events, all else goes to stderr."""
