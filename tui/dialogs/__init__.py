"""Dialogs over the browser: lists to pick from, help, and the palette of commands."""
