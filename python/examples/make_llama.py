# SPDX-License-Identifier: Apache-2.0
"""make_llama.py FILE LAYERS ZEROS: the pruned linear layers of a Llama of 2048 channels and random weights, as a .safetensors file. All layers have the
same weights, so that what is made of them compresses."""

import json
import struct
import sys

import numpy

CHANNELS, INNER, KEYS = 2048, 5632, 256
SHAPES = {
    "self_attn.q_proj": (CHANNELS, CHANNELS),
    "self_attn.k_proj": (KEYS, CHANNELS),
    "self_attn.v_proj": (KEYS, CHANNELS),
    "self_attn.o_proj": (CHANNELS, CHANNELS),
    "mlp.gate_proj": (INNER, CHANNELS),
    "mlp.up_proj": (INNER, CHANNELS),
    "mlp.down_proj": (CHANNELS, INNER),
}


def pruned(random, shape, zeros):
    """Normal numbers of which the smallest magnitudes are zero."""
    weight = (random.standard_normal(shape) * 0.02).astype(numpy.float16)
    weight[numpy.abs(weight) < numpy.quantile(numpy.abs(weight).astype(numpy.float32), zeros)] = 0
    return weight.tobytes()


def main():
    path, layers, zeros = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    random = numpy.random.default_rng(7)
    weights = {name: pruned(random, shape, zeros) for name, shape in SHAPES.items()}
    header, end = {}, 0
    for layer in range(layers):
        for name, weight in weights.items():
            header[f"model.layers.{layer}.{name}.weight"] = {"dtype": "F16", "shape": SHAPES[name], "data_offsets": [end, end + len(weight)]}
            end += len(weight)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in range(layers):
            for weight in weights.values():
                file.write(weight)


main()
