"""From nothing to a model: finding keys and local servers, choosing, and saving the choice."""
