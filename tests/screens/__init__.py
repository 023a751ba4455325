"""Screens, driven by Pilot."""
