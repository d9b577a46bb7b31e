"""Sources: what the user names, and the documents that are found there."""
