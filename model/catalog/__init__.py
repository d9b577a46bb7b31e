"""Answer questions from an index: packages, rows, facets, dependencies."""
