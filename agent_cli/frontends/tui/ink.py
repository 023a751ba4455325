"""The few inks besides the theme's own: how far text steps back."""

MUTED = "$foreground 65%"
"""Secondary: labels, notes, counts."""
FAINT = "$foreground 40%"
"""There when looked for: hints, what cannot be chosen."""
