# SPDX-License-Identifier: Apache-2.0
"""nn.Linear layers of a model, replaced by kernels of a bundle where those are faster."""

import torch

from .bundle import BundleError
from .measure import measure
from .model import Model
from .report import LayerReport, Measurement, Report

# What rounding may make of a whole product, against one in float32: two roundings to the type, and sums in any order.
TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 1e-5, torch.float64: 1e-5}

# The epilogue of kernels that compute all of nn.Linear.
FUSED_BIAS = "bias"


class EscLinear(torch.nn.Module):
    """Y = X x W^T + bias as nn.Linear, by a layer of a bundle, whose kernels add the bias where they were made with --epilogue bias. The weights are the
    bundle's and no part of the state; the bias stays a parameter. With `dense_above` products of more tokens than that are dense, for which the dense weight is kept. A state with another
    weight than the bundle's is refused."""

    def __init__(self, model, layer, linear, dense_above=None):
        super().__init__()
        self.in_features = linear.in_features
        self.out_features = linear.out_features
        self.layer = layer
        self.dense_above = dense_above
        self.bias = linear.bias
        self.weight = linear.weight if dense_above is not None else None
        self._model = model  # which must be open as long as this is used
        self._number = model.number(layer)
        self._fused = model.facts.epilogue == FUSED_BIAS

    def forward(self, x):
        if self.dense_above is not None and x.numel() // self.in_features > self.dense_above:
            return torch.nn.functional.linear(x, self.weight, self.bias)
        if self._fused:
            return torch.ops.esc.linear_with.default(x, self._number, [self.bias])
        y = torch.ops.esc.linear.default(x, self._number)
        return y if self.bias is None else y + self.bias

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        name = prefix + "weight"
        if name in state_dict and not self._model.has_weights(self.layer, state_dict[name]):
            error_msgs.append(f"{name}: is not the weight that the bundle {self._model.facts.folder} was made from; generate a bundle from it, and "
                              "replace the layers of a dense model")
            return
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        if self.weight is None and name in unexpected_keys:
            unexpected_keys.remove(name)  # it is packed, as was checked

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, layer={self.layer}"


def difference_of(sparse, dense_weight, bias, x):
    """The largest relative difference (Frobenius) of the layer from a product of float32."""
    exact = torch.nn.functional.linear(x.float(), dense_weight.float(), None if bias is None else bias.float())
    return ((sparse(x).float() - exact).norm() / exact.norm().clamp_min(torch.finfo(torch.float32).tiny)).item()


def _reason_to_keep(bundle, layer, linear):
    """Why a layer cannot be replaced; None where it can."""
    if not linear.weight.is_cuda:
        return "its weight is not on a GPU"
    if linear.weight.dtype != bundle.dtype:
        return f"its weight is {str(linear.weight.dtype).removeprefix('torch.')}, the bundle {bundle.facts.dtype}"
    if not bundle.has_weights(layer, linear.weight):
        return "its weight is not the one that the bundle was made from"
    if bundle.facts.epilogue == FUSED_BIAS and linear.bias is None:
        return "it has no bias, which the bundle's kernels add"
    return None


def _threshold(measurements):
    """The largest number of tokens that was measured and for which the bundle's kernel is faster; None where there is none."""
    return max((one.tokens for one in measurements if one.sparse < one.dense), default=None)


def replace_linear(model, folder, tokens=None, drop_dense=False, keep=()):
    """Replaces each nn.Linear of `model` whose weight the bundle in `folder` was made from, where the bundle's kernels are faster, and says
    what became of each in a Report. `tokens` are the numbers of rows of X that are measured, the bundle's own where None. Modules named in `keep` are
    left alone.

    Each layer keeps its dense weight, for products of more tokens than the largest number for which the kernel was faster. With
    `drop_dense` the dense weights go, which frees their memory; then a layer is replaced where the kernels take less time for all numbers together.

    The weights must be on the GPU that the model runs on, in the bundle's type. Raises BundleError where the bundle cannot be used, and
    RuntimeError where a product is wrong."""
    bundle = Model(folder)
    if bundle.facts.epilogue not in ("", FUSED_BIAS):
        raise BundleError(f"{bundle.facts.folder}: has the epilogue {bundle.facts.epilogue}, where nn.Linear is a product and a bias; generate the bundle without "
                          "--epilogue or with --epilogue bias, or call torch.ops.esc.linear_with where the network does what it says")
    report = []
    for name, linear in list(model.named_modules()):
        layer = f"{name}.weight"
        if type(linear) is not torch.nn.Linear or layer not in bundle.layers or name in keep:
            continue
        facts = bundle.layers[layer]
        reason = _reason_to_keep(bundle, layer, linear)
        measurements, difference, dense_above = (), None, None
        if reason is None:
            bundle.prepare(layer, linear.weight.device)
            with torch.cuda.device(linear.weight.device):
                measurements, difference = _try(bundle, layer, linear, tokens or facts.bcols)
            dense_above = None if drop_dense else _threshold(measurements)
            is_faster = sum(one.sparse for one in measurements) < sum(one.dense for one in measurements) if drop_dense else dense_above is not None
            if is_faster:
                parent, _, own = name.rpartition(".")
                setattr(model.get_submodule(parent), own, EscLinear(bundle, layer, linear, dense_above))
            else:
                reason = "dense is faster"
        report.append(LayerReport(name, facts.m, facts.k, 1 - facts.nonzeros / (facts.m * facts.k), linear.weight.numel() * linear.weight.element_size(),
                                  facts.packed_bytes, measurements, difference, reason, dense_above))
    return Report(tuple(report), torch.cuda.get_device_name())


@torch.no_grad()
def _try(bundle, layer, linear, tokens):
    """(measurements, largest difference) of a prepared layer beside the dense one. Raises RuntimeError where a product is wrong."""
    sparse = EscLinear(bundle, layer, linear)
    measurements, largest = [], 0.0
    for count in tokens:
        x = torch.randn(count, linear.in_features, device=linear.weight.device, dtype=linear.weight.dtype)
        difference = difference_of(sparse, linear.weight, linear.bias, x)
        if not difference <= TOLERANCES[bundle.dtype]:
            raise RuntimeError(f"layer {layer}: the product of {count} tokens differs by {difference:.1e} from the dense one; "
                               "please report it with the bundle's manifest")
        largest = max(largest, difference)
        measurements.append(Measurement(count, measure(lambda: linear(x)), measure(lambda: sparse(x))))
    return tuple(measurements), largest
