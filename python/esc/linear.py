# SPDX-License-Identifier: Apache-2.0
"""nn.Linear layers of a model, and convolutions of 1 x 1, replaced by kernels of a bundle where those are faster."""

import collections.abc
import copy
import dataclasses
import math
import numbers

import torch

from .bundle import BundleError
from .measure import measure
from .model import Model
from .names import Prefix, unmatched_hint
from .report import LayerReport, Measurement, Report

# What rounding may make of a whole product, against one in float64: two roundings to the type, and sums in any order.
TOLERANCES = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 1e-5, "f64": 1e-5, "tf32": 2e-3}

# The epilogue of kernels that compute all of nn.Linear.
FUSED_BIAS = "bias"
DENSE_IS_FASTER = "dense is faster"  # why a layer is kept


# Beyond this nobody looks for a number of tokens for which unpacking pays.
MOST_TOKENS = 16384


class PackedWeight:
    """What a layer without a dense weight has in its place: knows its shape, type and device, and is unpacked into a
    new tensor each time that something else is needed."""

    def __init__(self, layer):
        self._layer = layer

    @property
    def shape(self):
        return torch.Size(self._layer.weight_shape)

    @property
    def dtype(self):
        return self._layer.weight_dtype

    @property
    def device(self):
        return self._layer.packed.device

    @property
    def is_cuda(self):
        return self._layer.packed.is_cuda

    @property
    def requires_grad(self):
        return False

    def __getattr__(self, name):
        return getattr(self._layer.unpacked(), name)

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        def dense(value):
            return value._layer.unpacked() if isinstance(value, cls) else value

        return function(*map(dense, arguments), **{name: dense(value) for name, value in (named or {}).items()})


class EscLinear(torch.nn.Module):
    """Y = X x W^T + bias as nn.Linear, by a layer of a bundle, whose kernels add the bias where they were made with --epilogue bias. The packed weights are the
    buffer `packed`, which moves with the module and is no part of its state, since the bundle has them; the bias stays a parameter.

    With `dense_above` products of more tokens than that are dense: by a weight that is unpacked for each, where the
    layer's kernels can do that, else by the dense one, which is kept. A state has the dense weight where it can be
    unpacked. One with other values in the pattern of the bundle's weight is taken where the kernels can do that, and one
    with another pattern refused."""

    def __init__(self, model, layer, dense, packed=None, dense_above=None):
        """Takes the place of `dense`, on its GPU; `packed` is what model.place(layer) gave there, where that was called before."""
        super().__init__()
        self.in_features = model.layers[layer].k
        self.out_features = model.layers[layer].m
        self.layer = layer
        self.dense_above = dense_above
        self.bias = dense.bias
        self.unpacks = model.unpacks(layer)
        self.takes_values = self.unpacks and model.takes_values(layer)
        self._values = None  # of another state than the bundle's: True, or the dense weight where that is not packed
        self.weight_shape = tuple(dense.weight.shape)
        self.weight_dtype = dense.weight.dtype
        if not self.unpacks:
            self.weight = dense.weight if dense_above is not None else None
        self.register_buffer("packed", model.place(layer, dense.weight.device) if packed is None else packed, persistent=False)
        self._model = model
        self._number = model.number(layer)
        self._fused = model.facts.epilogue == FUSED_BIAS

    def __getattr__(self, name):
        # No parameter and no attribute of its own: looking at it is not to unpack it.
        if name == "weight" and self.__dict__.get("unpacks"):
            return PackedWeight(self)
        return super().__getattr__(name)

    def forward(self, x):
        if self.is_dense(x):
            return torch.nn.functional.linear(x, self.dense_weight(), self.bias)
        return self.product(x)

    def unpacked(self):
        """The dense weight, in a tensor of its own."""
        return torch.ops.esc.unpack.default(self.packed, self._number).view(self.weight_shape)

    def pattern(self):
        """Where the packed weight has values, of which some may be zero."""
        ones = torch.ones(self.weight_shape, dtype=self.weight_dtype, device=self.packed.device)
        packed = self.packed.clone()
        torch.ops.esc.values.default(ones.flatten(1), packed, self._number)
        return torch.ops.esc.unpack.default(packed, self._number) != 0

    @torch.no_grad()
    def take_values(self, weight):
        """Gives the weight the values of this one in its pattern."""
        given = weight.detach().flatten(1).to(self.packed.device, self.weight_dtype).contiguous()
        torch.ops.esc.values.default(given, self.packed, self._number)
        self._values = True

    def dense_weight(self):
        return self.unpacked() if self.unpacks else self.weight

    def is_dense(self, x):
        """Whether the product of so many rows is dense."""
        return self.dense_above is not None and x.numel() // self.in_features > self.dense_above

    def product(self, x):
        """The same of x [.., in_features] by the bundle's kernels."""
        if self._fused:
            return torch.ops.esc.linear_with.default(x, self.packed, self._number, [self.bias])
        y = torch.ops.esc.linear.default(x, self.packed, self._number)
        return y if self.bias is None else y + self.bias

    def _apply(self, fn, recurse=True):
        before = self.packed
        super()._apply(fn, recurse)
        if self.packed is before:
            return self
        if self._values is True:
            self._values = torch.ops.esc.unpack.default(before, self._number).to(self.packed.device)
        if self.packed.is_cuda:
            self.packed = self._model.place(self.layer, self.packed.device)  # what a GPU reads depends on which it is
            if self._values is not None:
                self.take_values(self._values)
        return self

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.unpacks:
            destination[prefix + "weight"] = self.unpacked()

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        name = prefix + "weight"
        weight = state_dict.get(name)
        refusal = None if weight is None else self._refusal(weight)
        if refusal is not None:
            error_msgs.append(f"{name}: {refusal}")
            return
        if weight is not None and self.takes_values:
            self.take_values(weight)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        if (self.unpacks or self.weight is None) and name in unexpected_keys:
            unexpected_keys.remove(name)  # it is packed, as was checked

    def _refusal(self, weight):
        """Why the layer cannot have this weight; None where it can."""
        if not self.takes_values:
            return None if self._model.has_weights(self.layer, weight) else self._what_differs(weight)
        folder = self._model.facts.folder
        if tuple(weight.shape) != self.weight_shape:
            return f"is {tuple(weight.shape)}, the weight that the bundle {folder} was made from {self.weight_shape}"
        given = weight.detach().flatten(1).to(self.packed.device, self.weight_dtype)
        outside = ((given != 0) & ~self.pattern()).sum().item()
        if outside == 0:
            return None
        return (f"has {outside} non-zeros where the weight that the bundle {folder} was made from is zero; prune it to "
                "that pattern, or generate a bundle from it and replace the layers of a dense model")

    def _what_differs(self, weight):
        folder = self._model.facts.folder
        if self._model.has_pattern(self.layer, weight):
            return (f"has the pattern of the weight that the bundle {folder} was made from, and other values; "
                    "write them with escgen pack, and replace the layers of a dense model")
        return (f"is not the weight that the bundle {folder} was made from; generate a bundle from it, and "
                "replace the layers of a dense model")

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, layer={self.layer}"


class EscConv2d(EscLinear):
    """A convolution of 1 x 1 as nn.Conv2d: a linear layer of each pixel's channels. Images in torch.channels_last are read where they lie, others are copied;
    the result is in torch.channels_last."""

    def __init__(self, model, layer, dense, packed=None, dense_above=None):
        super().__init__(model, layer, dense, packed, dense_above)
        self.stride = dense.stride

    def forward(self, x):
        if self.stride != (1, 1):
            x = x[..., :: self.stride[0], :: self.stride[1]]
        if self.is_dense(x):
            return torch.nn.functional.conv2d(x, self.dense_weight(), self.bias)
        return self.product(x.movedim(-3, -1)).movedim(-1, -3)


def is_pointwise(module):
    """Whether it is a convolution that looks at each pixel by itself."""
    return type(module) is torch.nn.Conv2d and module.kernel_size == (1, 1) and module.groups == 1 and module.padding in ("valid", 0, (0, 0))


def difference_of(sparse, dense, x):
    """The largest relative difference (Frobenius) of a layer from the dense one in float64, of which PyTorch does not round the operands."""
    exact = copy.deepcopy(dense).double()(x.double())
    return ((sparse(x).double() - exact).norm() / exact.norm().clamp_min(torch.finfo(torch.float64).tiny)).item()


# The module that replaces a layer of each type.
REPLACEMENTS = {torch.nn.Linear: EscLinear, torch.nn.Conv2d: EscConv2d}


def _reason_to_keep(bundle, layer, linear):
    """Why a layer cannot be replaced; None where it can."""
    if type(linear) is torch.nn.Conv2d and not is_pointwise(linear):
        return "it is a convolution of more than one pixel, or in groups"
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


def _drawn_input(dense, count, memory_format):
    """Random rows for a linear layer, or an image of so many pixels in the result of a convolution."""
    kind = {"device": dense.weight.device, "dtype": dense.weight.dtype}
    if type(dense) is torch.nn.Linear:
        return torch.randn(count, dense.in_features, **kind)
    height = max(side for side in range(1, math.isqrt(count) + 1) if count % side == 0)
    return torch.randn(1, dense.in_channels, height * dense.stride[0], count // height * dense.stride[1], **kind).to(memory_format=memory_format)


def replace_linear(model, folder, tokens=None, drop_dense=False, keep=(), memory_format=torch.contiguous_format, prefix=""):
    """Replaces each nn.Linear, and each nn.Conv2d of 1 x 1, of `model` whose weight the bundle in `folder` was made from, where the bundle's kernels are faster, and says
    what became of each in a Report. `tokens` are the numbers of rows of X that are measured, the bundle's own where None; a mapping such as {1: 10, 16: 1}
    says how often the network multiplies with each, and sums of times count that. Modules named in `keep` are left
    alone. Of a convolution tokens are pixels, and `memory_format` is that of the images that it is measured with: torch.channels_last, where the network
    has that. `prefix` is for a network whose modules have other names than the checkpoint's tensors: what the bundle's names have before the modules', as in
    "model.", or a pair of what modules begin with and what the bundle has in its place, as in ("module.", "model."). The report says what to give.

    A layer whose kernels can unpack its weight keeps no dense one: products of more tokens than the largest number for
    which the kernel was faster than unpacking, which is looked for, are dense beyond that. It is replaced where it takes
    less time for all numbers together. Other layers keep their dense weight, for products of more tokens than the
    largest number for which the kernel was faster. With `drop_dense` those go, too; then such a layer is replaced where
    the kernels take less time for all numbers together. Dense weights are freed layer by layer.

    The weights must be on the GPU that the model runs on, in the bundle's type. Raises BundleError where the bundle cannot be used, and
    RuntimeError where a product is wrong; what became of the layers before that is in the `report` of the exception."""
    bundle = Model(folder)
    if bundle.facts.epilogue not in ("", FUSED_BIAS):
        raise BundleError(f"{bundle.facts.folder}: has the epilogue {bundle.facts.epilogue}, where nn.Linear is a product and a bias; generate the bundle without "
                          "--epilogue or with --epilogue bias, or call torch.ops.esc.linear_with where the network does what it says")
    prefix = Prefix.of(prefix)
    weights = _weights(tokens)
    modules = {name: module for name, module in model.named_modules() if name and type(module) in REPLACEMENTS}
    hint = unmatched_hint(list(modules), bundle.layers, prefix)
    found = {name: prefix.layer(name) for name in modules if name not in keep}
    reports, storages, biased = [], {}, set()
    try:
        for name in list(modules):
            linear = modules.pop(name)  # then it is the model's alone, and its weight is freed where it is replaced
            if found.get(name) in bundle.layers:
                storages[name] = _storage_of(linear.weight)
                biased.update([name] if linear.bias is not None else [])
                reports.append(_replace(model, bundle, name, found[name], linear, tokens, weights, drop_dense, memory_format))
            del linear
    except Exception as problem:
        problem.report = Report(tuple(reports), _gpu_name(), hint, weights)  # what was measured is not lost
        raise
    hints = [hint, _bias_hint(bundle, reports, biased)]
    return Report(_with_tied(reports, storages, model), _gpu_name(), "; ".join(one for one in hints if one), weights)


def _bias_hint(bundle, reports, biased):
    """What to say where layers stay dense whose bias a second launch adds behind their kernels; empty where there are none."""
    behind = [one.name for one in reports if one.kept == DENSE_IS_FASTER and one.name in biased]
    if not behind or bundle.facts.epilogue == FUSED_BIAS:
        return ""
    return f"{len(behind)} of the layers that dense is faster for have a bias, which a second launch adds here: escgen generate --epilogue bias makes kernels that add it"


def _weights(tokens):
    """How often a network multiplies with each number of tokens, {number: weight}; None where nobody says it."""
    if not isinstance(tokens, collections.abc.Mapping):
        return None
    for count, weight in tokens.items():
        if not (isinstance(weight, numbers.Real) and 0 < weight < math.inf):
            raise ValueError(f"tokens: has the weight {weight!r} for {count}, which is no finite number above 0; write it as in {{1: 10, 16: 1}}")
    return dict(tokens)


def _storage_of(weight):
    """By which tensors know that they are in the same memory."""
    return weight.untyped_storage().data_ptr()


def _with_tied(reports, storages, model):
    """The reports, which say of replaced layers whether another module still has their dense weight."""
    others = [module for _, module in model.named_modules() if type(module) not in REPLACEMENTS.values()]
    left = {_storage_of(parameter) for module in others for parameter in module.parameters(recurse=False)}
    return tuple(dataclasses.replace(one, tied=one.kept is None and storages[one.name] in left) for one in reports)


def _gpu_name():
    """The GPU's; where there is no driver a report says that."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"


def _replace(model, bundle, name, layer, linear, tokens, weights, drop_dense, memory_format):
    """Replaces one module where the bundle's kernels are faster; what became of it."""
    facts = bundle.layers[layer]
    reason = _reason_to_keep(bundle, layer, linear)
    measurements, difference, dense_above = (), None, None
    if reason is None:
        sparse = REPLACEMENTS[type(linear)](bundle, layer, linear)
        with torch.cuda.device(linear.weight.device):
            measurements, difference = _try(sparse, linear, tokens or facts.bcols, memory_format)
            if sparse.unpacks:
                dense_above = _unpacking_threshold(sparse, linear, measurements, memory_format)
        if not sparse.unpacks:
            dense_above = None if drop_dense else _threshold(measurements)
        if _is_worth_it(measurements, weights, dense_above, sparse.unpacks, drop_dense):
            parent, _, own = name.rpartition(".")
            setattr(model.get_submodule(parent), own, REPLACEMENTS[type(linear)](bundle, layer, linear, sparse.packed, dense_above))
        else:
            reason = DENSE_IS_FASTER
    return LayerReport(name, facts.m, facts.k, 1 - facts.nonzeros / (facts.m * facts.k), linear.weight.numel() * linear.weight.element_size(),
                       facts.packed_bytes, measurements, difference, reason, dense_above, layer,
                       reason is None and sparse.unpacks)


def _is_worth_it(measurements, weights, dense_above, unpacks, drop_dense):
    """Whether a layer is to be replaced. Without a dense weight it serves every number of tokens, so that all count, each
    by its weight."""
    if not unpacks and not drop_dense:
        return dense_above is not None
    last = dense_above if unpacks and dense_above is not None else math.inf
    weights = weights or {one.tokens: 1 for one in measurements}
    now = sum(weights[one.tokens] * (one.sparse if one.tokens <= last else one.unpacked) for one in measurements)
    return now < sum(weights[one.tokens] * one.dense for one in measurements)


@torch.no_grad()
def _try(sparse, linear, tokens, memory_format):
    """(measurements, largest difference) of a layer beside the dense one. Raises RuntimeError where a product is wrong."""
    measurements, largest = [], 0.0
    for count in tokens:
        x = _drawn_input(linear, count, memory_format)
        difference = difference_of(sparse, linear, x)
        if not difference <= TOLERANCES[sparse._model.facts.dtype]:
            raise RuntimeError(f"layer {sparse.layer}: the product of {count} tokens differs by {difference:.1e} from the dense one; "
                               "please report it with the bundle's manifest")
        largest = max(largest, difference)
        measurements.append(Measurement(count, measure(lambda: linear(x)), measure(lambda: sparse(x)),
                                        measure_unpacked(sparse, x)))
    return tuple(measurements), largest


def measure_unpacked(sparse, x):
    """Microseconds of unpacking and a dense product; None where the layer cannot be unpacked."""
    if not sparse.unpacks:
        return None
    before, sparse.dense_above = sparse.dense_above, 0
    try:
        return measure(lambda: sparse(x))
    finally:
        sparse.dense_above = before


@torch.no_grad()
def _unpacking_threshold(sparse, linear, measurements, memory_format):
    """The largest number of tokens for which the kernel was faster than unpacking and a dense product: of those that
    were measured, and of twice the largest, and so on, as long as it is; None where it always was."""
    times = sorted((one.tokens, one.sparse, one.unpacked) for one in measurements)
    count = 2 * times[-1][0]
    while times[-1][1] < times[-1][2]:
        if count > MOST_TOKENS:
            return None
        x = _drawn_input(linear, count, memory_format)
        times.append((count, measure(lambda: sparse(x)), measure_unpacked(sparse, x)))
        count *= 2
    return max((tokens for tokens, kernel, unpacked in times if kernel < unpacked), default=0)
