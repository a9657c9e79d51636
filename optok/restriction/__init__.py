"""Smaller vocabularies: choosing pieces, slicing a translator."""
