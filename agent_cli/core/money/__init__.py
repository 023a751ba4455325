"""What a session uses and costs, and where that ends."""
