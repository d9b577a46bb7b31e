"""Parse the query language, and check specs against a query. Knows no index."""
