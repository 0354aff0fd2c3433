# SPDX-License-Identifier: Apache-2.0
"""An opened model bundle: its layers, and the operator that multiplies by them."""

import ctypes

import torch

from .bundle import BundleError, digests_of, read_bundle

NO_KERNEL_IMAGE = 209  # cudaErrorNoKernelImageForDevice

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32}

_operator = None  # the library with esc::linear and esc_register_layer; one for the process
_shapes = {}  # m, k and type of each registered layer


def rounded_to_tf32(values):
    """float32 numbers as a bundle of tf32 has them: of 11 significant bits, where two are as near the one farther from zero."""
    bits = values.view(torch.int32)
    moved = torch.where(values.isfinite(), bits + 0x1000, torch.where(values.isnan(), bits | 0x400000, bits))
    return (moved & ~0x1FFF).view(torch.float32)


def _load(path):
    if not path.is_file():
        raise BundleError(f"{path}: is not there; compile the bundle: python -m esc build {path.parent.with_suffix('')}")
    try:
        return ctypes.CDLL(str(path))
    except OSError as problem:
        raise BundleError(f"{path}: cannot be loaded: {problem}; compile the bundle again on this machine") from None


def _load_operator(path):
    """Loads the operator, once: that of the first bundle serves all."""
    global _operator
    if _operator is None:
        loaded = _load(path)
        if not hasattr(loaded, "esc_takes_values"):
            raise BundleError(f"{path}: is the operator of another version; compile the bundle again: "
                              f"python -m esc build {path.parent.with_suffix('')}")
        _operator = loaded
        _operator.esc_register_layer.restype = ctypes.c_int64
        _operator.esc_register_layer.argtypes = [ctypes.c_void_p]
        _operator.esc_can_unpack.argtypes = [ctypes.c_void_p]
        _operator.esc_takes_values.argtypes = [ctypes.c_void_p]
        torch.library.register_fake("esc::linear", _fake_linear)
        torch.library.register_fake("esc::unpack", _fake_unpack)
        torch.library.register_fake("esc::values", lambda weight, packed, layer: None)
        torch.library.register_fake("esc::linear_with", _fake_linear)
    return _operator


def _fake_linear(x, packed, layer, operands=()):
    return x.new_empty(*x.shape[:-1], _shapes[layer][0])


def _fake_unpack(packed, layer):
    m, k, dtype = _shapes[layer]
    return packed.new_empty(m, k, dtype=dtype)


class Model:
    """The layers of a bundle, by the names of their tensors. Their packed weights are mapped from the bundle's model.packed as long as something refers to this;
    the tensors that `place` gives are whose they are handed to."""

    def __init__(self, folder):
        self.facts = read_bundle(folder)
        name = self.facts.name
        library = _load(self.facts.library)
        functions = {function: getattr(library, f"{name}_{function}") for function in ("open", "close", "layer", "device_bytes", "place", "error")}
        for function in ("open", "layer"):
            functions[function].restype = ctypes.c_void_p
            functions[function].argtypes = [ctypes.c_char_p]
        functions["error"].restype = ctypes.c_char_p
        functions["close"].argtypes = [ctypes.c_void_p]
        functions["close"].restype = None
        functions["device_bytes"].restype = ctypes.c_size_t
        functions["device_bytes"].argtypes = [ctypes.c_void_p]
        functions["place"].argtypes = [ctypes.c_void_p] * 4
        self._functions = functions
        self._opened = None
        self._numbers = {}
        packed = self.facts.folder / "model.packed"
        self._opened = functions["open"](str(packed).encode())
        if self._opened is None:
            raise BundleError(f"{packed}: {functions['error']().decode()}; compile the bundle again after it was generated again")
        operator = _load_operator(self.facts.operator)
        self.layers = {layer.name: layer for layer in self.facts.layers}
        self._unpacking, self._taking_values = set(), set()
        self._pointers = {layer: functions["layer"](layer.encode()) for layer in self.layers}
        for layer, pointer in self._pointers.items():
            number = operator.esc_register_layer(pointer) if pointer else -1
            if number < 0:
                raise BundleError(f"{self.facts.library}: has no layer {layer} of this format; compile the bundle again")
            self._numbers[layer] = number
            _shapes[number] = (self.layers[layer].m, self.layers[layer].k, self.dtype)
            if operator.esc_can_unpack(pointer):
                self._unpacking.add(layer)
            if operator.esc_takes_values(pointer):
                self._taking_values.add(layer)

    def __del__(self):
        if getattr(self, "_opened", None):
            self._functions["close"](self._opened)

    def __deepcopy__(self, memo):
        return self  # copies of a network are of the same bundle

    @property
    def dtype(self):
        return TYPES[self.facts.dtype]

    def number(self, layer):
        """By which torch.ops.esc.linear and linear_with know it in this process."""
        return self._numbers[layer]

    def unpacks(self, layer):
        """Whether torch.ops.esc.unpack can write the layer's dense weights from the packed ones."""
        return layer in self._unpacking

    def takes_values(self, layer):
        """Whether torch.ops.esc.values can write other values into the layer's packed weights, whose pattern stays."""
        return layer in self._taking_values

    def place(self, layer, device=None):
        """The layer's packed weights in a tensor of bytes on a GPU, the current one where none is named, whose kernels are loaded there. To be done before a
        product is captured in a graph."""
        with torch.cuda.device(device):
            packed = torch.empty(self._functions["device_bytes"](self._pointers[layer]), dtype=torch.uint8, device="cuda")
            status = self._functions["place"](self._opened, self._pointers[layer], packed.data_ptr(), torch.cuda.current_stream().cuda_stream)
        if status != 0:
            reason = self._functions["error"]().decode() or f"CUDA error {status}"
            if status == NO_KERNEL_IMAGE:
                major, minor = torch.cuda.get_device_capability(device)
                reason += f"; compile the bundle for this GPU: python -m esc build {self.facts.folder} --arch sm_{major}{minor}"
            raise BundleError(f"layer {layer}: cannot be placed on the GPU: {reason}")
        return packed

    def has_weights(self, layer, weight):
        """Whether a tensor, m x k or m x k x 1 x 1, rounded to the bundle's type has the pattern and the values that the layer was packed from."""
        facts = self.layers[layer]
        return self._digests(facts, weight) == (facts.pattern_sha256, facts.values_sha256)

    def has_pattern(self, layer, weight):
        """Whether it has the pattern, whatever its values are."""
        facts = self.layers[layer]
        return self._digests(facts, weight)[0] == facts.pattern_sha256

    def _digests(self, facts, weight):
        """(pattern, values) of a tensor as the manifest has them; of another shape none."""
        if tuple(weight.shape) not in ((facts.m, facts.k), (facts.m, facts.k, 1, 1)):
            return None, None
        rounded = weight.detach().flatten(1).to(self.dtype)
        if self.facts.dtype == "tf32":
            rounded = rounded_to_tf32(rounded)
        kept = rounded != 0
        offsets = torch.zeros(facts.m + 1, dtype=torch.int64)
        offsets[1:] = kept.sum(dim=1).cumsum(dim=0).cpu()
        columns = kept.nonzero()[:, 1].to(torch.int32).cpu()
        values = rounded[kept].cpu().contiguous().view(torch.uint8)
        return digests_of((facts.m, facts.k), *(part.numpy().tobytes() for part in (offsets, columns, values)))
