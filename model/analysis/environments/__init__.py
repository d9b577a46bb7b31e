"""Answer questions about whole environments and sources."""
