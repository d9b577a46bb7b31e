"""Draw the index in a terminal and let it be browsed by keyboard."""

VERSION = "0.2.0"
