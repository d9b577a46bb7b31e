"""Partition look-alikes by what runs, and find what tells them apart."""
