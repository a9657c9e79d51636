"""The shapes known without torch are those of the Transformer."""

import subprocess
import sys

import pytest

from optok.config import Architecture
from optok.translation.shapes import weight_shapes
from optok.translation.transformer import Transformer


@pytest.mark.parametrize("pre_norm", [True, False])
def test_names_and_shapes_are_those_of_the_transformer(pre_norm: bool):
    sizes = Architecture(
        encoder_layers=3, decoder_layers=2, width=16, feed_forward=24, heads=2, dropout=0.1, pre_norm=pre_norm
    )
    weights = Transformer(sizes, 50, 60, 3, 3).state_dict()
    assert weight_shapes(sizes, 50, 60) == {name: tuple(tensor.shape) for name, tensor in weights.items()}
    assert list(weight_shapes(sizes, 50, 60)) == list(weights)


def test_they_need_no_torch():
    code = "import sys, optok.translation.shapes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
