"""Measurements of memfs, each against its floor in the same run."""
