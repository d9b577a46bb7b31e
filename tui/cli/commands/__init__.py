"""The commands that print no answer: each is a module with its entry and a function `run`."""
