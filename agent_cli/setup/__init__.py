"""From nothing to a model: what there is, what was chosen, keys and local servers."""
