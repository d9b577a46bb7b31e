"""Load sources into an up-to-date catalog, built or reused, and answer questions from it."""
