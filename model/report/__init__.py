"""Turn records and answers into clean strings, for the screen and the shell."""
