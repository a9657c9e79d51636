"""The translation task: Transformer, loss, export and decoding. It receives ids and knows no lattice."""
