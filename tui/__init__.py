"""Draw the index in a terminal and let it be browsed by keyboard."""

VERSION = "0.2.0"
RELEASED = "2026-11-22"
"""The day of the version, as the changelog has it."""
