"""The browser screen and its parts."""
