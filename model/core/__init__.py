"""Vocabulary and small tools: records, columns, versions, text, errors."""
