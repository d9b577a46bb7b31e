"""The parts of the screen: query line, lists, table, detail, and the lines around them."""
