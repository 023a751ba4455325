"""The full-screen frontend, made with Textual."""
