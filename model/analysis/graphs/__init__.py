"""Specs with their own attributes and dependencies, as the analyses read them."""
