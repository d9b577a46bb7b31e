"""Draw the index in a terminal and let it be browsed by keyboard."""

VERSION = "0.1.0.dev0"
