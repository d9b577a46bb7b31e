"""Tests of `model/analysis/environments`."""
