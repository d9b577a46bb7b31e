"""Turn the bytes of a document into records, one module a format."""
