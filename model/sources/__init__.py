"""Resolve the names of sources to the documents in them."""
