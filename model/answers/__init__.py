"""The answers: each module is one, whole, and nothing but the table of commands knows it."""
