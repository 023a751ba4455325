"""Leaf helpers that know nothing of the rest of the program."""
