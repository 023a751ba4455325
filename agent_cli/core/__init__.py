"""The agent itself: it knows no screen, no vendor and no concrete tool."""
