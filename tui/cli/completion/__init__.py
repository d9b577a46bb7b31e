"""Completion in shells: what the word at the cursor of a command line can become."""
