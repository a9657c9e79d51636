"""All segmentations of a text into pieces, and what joint training asks of them (METHOD: Segmentation lattice).

    vocabulary = Vocabulary.load("x.model")
    lattices = vocabulary.lattices(texts)
    best_path(lattices, vocabulary.scores).to_lists()

Every operation takes a batch of lattices and scores over the pieces; scores may change, the lattices stay.
`Merges` is the same for BPE models: SentencePiece's segmentation, and dropout.
"""

from optok.lattice.best_path import best_path
from optok.lattice.merges import Merges
from optok.lattice.nbest import nbest
from optok.lattice.paths import NBest, Paths
from optok.lattice.sampling import sample
from optok.lattice.sums import Counts, entropy, expected_counts, log_partition
from optok.lattice.vocabulary import Lattices, Vocabulary

__all__ = [
    "Counts",
    "Lattices",
    "Merges",
    "NBest",
    "Paths",
    "Vocabulary",
    "best_path",
    "entropy",
    "expected_counts",
    "log_partition",
    "nbest",
    "sample",
]
