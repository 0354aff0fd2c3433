# SPDX-License-Identifier: Apache-2.0
"""What a model bundle says of itself, and which weights it was made from."""

import dataclasses
import hashlib
import json
import pathlib


class BundleError(Exception):
    """Something about a bundle: the place, the rule that is broken, and what to do."""


@dataclasses.dataclass(frozen=True)
class LayerFacts:
    """A layer as the manifest has it: W is m x k, and `bcols` are the numbers of tokens that it has kernels for."""

    name: str
    m: int
    k: int
    nonzeros: int
    packed_bytes: int
    bcols: tuple
    pattern_sha256: str
    values_sha256: str


@dataclasses.dataclass(frozen=True)
class BundleFacts:
    """A bundle of `escgen generate MODEL --layout nk`. `dtype` is f32, f64, f16, bf16 or tf32; `epilogue` is what --epilogue named, as in bias+relu, or empty."""

    folder: pathlib.Path
    name: str
    dtype: str
    epilogue: str
    architectures: tuple
    layers: tuple

    @property
    def library(self):
        """Where `python -m esc build` puts the bundle's kernels; beside the folder, which has nothing but the bundle in it."""
        return self.build_folder / f"lib{self.name}.so"

    @property
    def operator(self):
        """Where it puts the operator."""
        return self.build_folder / "libesc_operator.so"

    @property
    def build_folder(self):
        return self.folder.with_name(self.folder.name + ".build")


def read_bundle(folder):
    """The facts of the bundle in `folder`. Raises BundleError where it is none, or not one for nn.Linear."""
    folder = pathlib.Path(folder).resolve()
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
    except OSError as problem:
        raise BundleError(f"{path}: cannot be read: {problem.strerror}; name the folder that `escgen generate MODEL` wrote") from None
    except ValueError as problem:
        raise BundleError(f"{path}: is no JSON: {problem}; generate the bundle again") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != "model":
        raise BundleError(f"{path}: is not of a model bundle; name the folder that `escgen generate MODEL` wrote for a model of several layers")
    if manifest["layout"] != "nk":
        raise BundleError(f"{path}: has layout {manifest['layout']}, where PyTorch's tensors are nk; generate the bundle with --layout nk")
    epilogue = manifest.get("epilogue_parts", "")
    if manifest.get("epilogue") and not epilogue:
        raise BundleError(f"{path}: has an epilogue and does not say which; generate the bundle again")
    layers = tuple(
        LayerFacts(
            name=layer["name"],
            m=layer["m"],
            k=layer["k"],
            nonzeros=layer["nnz"],
            packed_bytes=sum(packing["bytes"] for packing in layer["packings"]),
            bcols=tuple(sorted({variant["bcol"] for variant in layer["variants"]})),
            pattern_sha256=layer["pattern_sha256"],
            values_sha256=layer["values_sha256"],
        )
        for layer in manifest["layers"]
    )
    return BundleFacts(folder, manifest["name"], manifest["dtype"], epilogue, tuple(manifest["architectures"]), layers)


def digests_of(shape, offsets, columns, values):
    """(pattern_sha256, values_sha256) of a matrix of this shape as the manifest has them, from the bytes of its compressed rows: `offsets` of
    64 bits, rows + 1 of them, `columns` of 32 bits, ascending in a row, and `values` of the bundle's type."""
    rows, width = shape
    nonzeros = len(columns) // 4
    pattern = hashlib.sha256()
    for number in (rows, width, nonzeros):
        pattern.update(number.to_bytes(8, "little"))
    pattern.update(offsets)
    pattern.update(columns)
    return pattern.hexdigest(), hashlib.sha256(values).hexdigest()
