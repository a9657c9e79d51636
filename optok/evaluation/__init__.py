"""Scores, significance and the table of a benchmark."""
