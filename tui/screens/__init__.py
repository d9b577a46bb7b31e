"""The browser and its dialogs, one screen a module."""
