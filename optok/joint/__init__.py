"""Tokenizers that learn: the neural unigram model, the joint objective, post-processing."""
