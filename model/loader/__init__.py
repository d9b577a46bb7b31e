"""Load sources into an up-to-date catalog, building or reusing its index."""
