"""Tests of `model/analysis/fit`."""
