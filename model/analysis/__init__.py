"""Compare the specs of an index: differences, run-time kinds, fit, coverage."""
