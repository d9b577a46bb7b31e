"""Tests of `model/analysis/graphs`."""
