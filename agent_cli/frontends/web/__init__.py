"""The full-screen app in a browser on this machine."""
