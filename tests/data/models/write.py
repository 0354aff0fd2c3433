# SPDX-License-Identifier: Apache-2.0
"""Writes the models of this folder with the libraries that people write theirs with: python3 write.py FOLDER."""

import json
import pathlib
import sys

import ml_dtypes
import numpy
import scipy.sparse
from safetensors.numpy import save_file

folder = pathlib.Path(sys.argv[1])
random = numpy.random.default_rng(1)


def pruned(rows, columns, share, dtype="float32"):
    """Values of three significant bits, so that every type holds them, of which so large a share is zero."""
    values = random.integers(1, 8, (rows, columns)) * random.choice([-0.25, 0.25], (rows, columns))
    return numpy.where(random.random((rows, columns)) < share, 0, values).astype(dtype)


# One file: all float types, a bias, indices, weights of a convolution, a pair of torch.nn.utils.prune.
dense = pruned(24, 40, 0.8)
save_file(
    {
        "up_proj.weight": dense,
        "up_proj.bias": numpy.arange(24, dtype="float32"),
        "down_proj.weight": dense.T.astype("float16").copy(),
        "gate_proj.weight": dense.astype(ml_dtypes.bfloat16),
        "head.weight": dense.astype("float64"),
        "conv.weight": pruned(6, 4 * 3 * 3, 0.7).reshape(6, 4, 3, 3),
        "position_ids": numpy.arange(8, dtype="int64"),
        "query.weight_orig": pruned(24, 40, 0),
        "query.weight_mask": (dense != 0).astype("float32"),
    },
    folder / "layers.safetensors",
    metadata={"format": "pt"},
)


def bitmask(matrix):
    """The tensors that compressed-tensors' sparse-bitmask has for a matrix."""
    kept = matrix != 0
    counts = kept.sum(axis=1)
    return {
        "shape": numpy.array(matrix.shape, dtype="int64"),
        "compressed": matrix[kept],
        "bitmask": numpy.packbits(kept, axis=1, bitorder="little"),
        "row_offsets": (numpy.cumsum(counts) - counts).astype("int64"),
    }


def two_of_four(rows, columns):
    """A matrix with the tensors of its sparse-24-bitmask, which may keep a zero among its two of four."""
    values = pruned(rows, columns, 0)
    order = numpy.argsort(random.random((rows, columns // 4, 4)), axis=2)
    kept = (order < 2).reshape(rows, columns)
    matrix = numpy.where(kept, values, 0).astype("float16")
    matrix[0, numpy.flatnonzero(kept[0])[0]] = 0
    tensors = {
        "shape": numpy.array([[rows], [columns]], dtype="int64"),
        "compressed": matrix[kept].reshape(rows, columns // 2),
        "bitmask": numpy.packbits(kept, axis=1, bitorder="little"),
    }
    return matrix, tensors


two_four, two_four_tensors = two_of_four(10, 20)
compressed = {f"up_proj.{part}": tensor for part, tensor in bitmask(dense).items()}
compressed |= {f"early.weight.{part}": tensor for part, tensor in bitmask(dense[:, :37].copy()).items()}
compressed |= {f"down_proj.{part}": tensor for part, tensor in two_four_tensors.items()}
save_file(compressed, folder / "bitmask.safetensors", metadata={"format": "pt"})
numpy.save(folder / "two_four.npy", two_four)
numpy.save(folder / "dense.npy", dense)

# The same matrix in two files with an index, as save_pretrained writes them.
shards = {"model-00001-of-00002.safetensors": {"a.weight": dense}, "model-00002-of-00002.safetensors": {"b.weight": dense[:, ::-1].copy()}}
for name, tensors in shards.items():
    save_file(tensors, folder / name, metadata={"format": "pt"})
weight_map = {tensor: name for name, tensors in shards.items() for tensor in tensors}
index = {"metadata": {"total_size": 2 * dense.nbytes}, "weight_map": weight_map}
(folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")

# SciPy's formats, deflated and stored.
for form in ["csr", "csc", "coo", "bsr", "dia"]:
    matrix = scipy.sparse.coo_array(dense).asformat(form)
    scipy.sparse.save_npz(folder / f"{form}.npz", matrix)
    scipy.sparse.save_npz(folder / f"{form}_stored.npz", matrix, compressed=False)
scipy.sparse.save_npz(folder / "blocks.npz", scipy.sparse.bsr_array(dense.astype("float64"), blocksize=(4, 5)))
numpy.savez(folder / "arrays.npz", up=dense, fortran=numpy.asfortranarray(dense), bias=numpy.arange(5.0))
numpy.savez_compressed(folder / "arrays_deflated.npz", up=dense, half=dense.astype("float16"))
