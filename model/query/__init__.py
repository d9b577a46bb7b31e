"""The query language: its syntax, what it asks, and what a pattern means."""
