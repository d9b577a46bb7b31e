"""Measure the program against references that run in turn with it."""
