"""Help while a query is typed: completions, diagnostics, advice."""
