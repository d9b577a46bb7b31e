"""The command line: arguments, help and the commands that print."""
