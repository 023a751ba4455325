"""Completions for shells, written from the very parser that reads the command line."""
