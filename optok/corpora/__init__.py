"""Corpora: where parallel text comes from, and how it becomes a train, a valid and a test split."""
