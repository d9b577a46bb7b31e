"""Hold a small cache (pages and an index of real builds) and an environment, to try."""
