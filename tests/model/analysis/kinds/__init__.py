"""Tests of `model/analysis/kinds`."""
