"""Resolve what the user names as sources to the documents in them."""
