"""Dialogs over the browser, one per module."""
