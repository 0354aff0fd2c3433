# SPDX-License-Identifier: Apache-2.0
"""Kernels of pruned layers in PyTorch.

    escgen generate model.safetensors --layout nk --dtype f16 --bcol 1,16 --gpu h200 -o kernels
    python -m esc build kernels/model

    import esc
    report = esc.replace_linear(model, "kernels/model")
"""

from .bundle import BundleError, read_bundle

__all__ = ["BundleError", "EscConv2d", "EscLinear", "Model", "read_bundle", "replace_linear"]


def __getattr__(name):
    # PyTorch is imported where something needs it: reading and building a bundle do not.
    if name == "Model":
        from .model import Model

        return Model
    if name in ("EscConv2d", "EscLinear", "replace_linear"):
        from . import linear

        return getattr(linear, name)
    raise AttributeError(f"module 'esc' has no attribute '{name}'")
