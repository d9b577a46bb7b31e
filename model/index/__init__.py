"""Keep the records of all sources in one immutable SQLite file."""
