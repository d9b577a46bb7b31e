"""The process around the program: streams, signals, exit codes, crashes."""
