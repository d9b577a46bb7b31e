"""Dialogs over the browser: lists to pick from, answers, comparison, copying, export, help."""
