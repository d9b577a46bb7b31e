"""Tests of `model/analysis/differences`."""
