"""Tests that talk to a model over HTTP."""
