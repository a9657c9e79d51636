"""Tokenizers: SentencePiece baselines, encoding streams of text, reading and writing `.model` files."""
