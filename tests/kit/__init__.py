"""What the tests are built with."""
