"""Fetch named files, from this machine or a server, into a local path."""
