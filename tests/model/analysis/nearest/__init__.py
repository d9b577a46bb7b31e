"""Tests of `model/analysis/nearest`."""
