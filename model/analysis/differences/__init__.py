"""Compare two specs: pairs of nodes, what differs by itself, and what follows."""
