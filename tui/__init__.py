"""Draw the index in a terminal and let it be browsed by keyboard."""
