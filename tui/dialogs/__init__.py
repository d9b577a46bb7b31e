"""Dialogs over the browser, one a module."""
