# SPDX-License-Identifier: Apache-2.0
"""A plug-in of vLLM: linear layers of a served model by the kernels of a bundle.

    vllm serve MODEL --quantization esc --hf-overrides '{"quantization_config": {"quant_method": "esc", "bundle": "kernels/model"}}'

vLLM finds it by the entry point vllm.general_plugins. The checkpoint is the one that the bundle was made from: its dense weights are loaded as ever, and
serve what the bundle does not have. Products of more tokens than `dense_above` (in the configuration, by default the
bundle's largest bCol) are dense: by weights that are unpacked for each, where the bundle's kernels can do that, and the
dense ones are given up as soon as a layer is loaded; else by the dense ones.
"""

import logging

import torch

from .bundle import BundleError, read_bundle

logger = logging.getLogger(__name__)


def shards_of(prefix, fused):
    """The tensors of the checkpoint that a layer of vLLM has: of model.layers.0.self_attn.qkv_proj those of q_proj, k_proj and v_proj, one below the other."""
    parent, _, own = prefix.rpartition(".")
    return [f"{parent}.{name}.weight".removeprefix(".") for name in fused.get(own, [own])]


@torch.library.custom_op("esc::linear_or_dense", mutates_args=())
def linear_or_dense(
    x: torch.Tensor, packed: list[torch.Tensor], layers: list[int], weight: torch.Tensor | None, dense_above: int, outputs: int
) -> torch.Tensor:
    """X x W^T by layers of a bundle, side by side, or dense where x has more rows: by the weight, or by those of the
    layers, unpacked, where it is None. One operator, so that whoever compiles the network does not decide it once for all
    sizes."""
    is_dense = x.numel() // x.shape[-1] > dense_above
    if is_dense and weight is not None:
        return torch.nn.functional.linear(x, weight)
    parts = zip(packed, layers, strict=True)
    if is_dense:
        products = [torch.nn.functional.linear(x, torch.ops.esc.unpack.default(own, layer)) for own, layer in parts]
    else:
        products = [torch.ops.esc.linear.default(x, own, layer) for own, layer in parts]
    return products[0] if len(products) == 1 else torch.cat(products, dim=-1)


@linear_or_dense.register_fake
def _fake_linear_or_dense(x, packed, layers, weight, dense_above, outputs):
    return x.new_empty(*x.shape[:-1], outputs)


def register():
    """Makes "esc" a quantization method of vLLM."""
    from vllm.model_executor.layers.linear import LinearBase, LinearMethodBase, UnquantizedLinearMethod
    from vllm.model_executor.layers.quantization import register_quantization_config
    from vllm.model_executor.layers.quantization.base_config import QuantizationConfig

    class EscLinearMethod(LinearMethodBase):
        """What a linear layer of vLLM does with its weights, where the bundle has all of them."""

        def __init__(self, config, tensors):
            self.config = config
            self.tensors = tensors
            self.dense = UnquantizedLinearMethod()

        def create_weights(self, layer, input_size_per_partition, output_partition_sizes, input_size, output_size, params_dtype, **extra_weight_attrs):
            if input_size_per_partition != input_size or sum(output_partition_sizes) != output_size:
                raise BundleError(f"{self.tensors[0]}: is cut among several GPUs, where a kernel is for a whole layer; serve with --tensor-parallel-size 1")
            self.dense.create_weights(layer, input_size_per_partition, output_partition_sizes, input_size, output_size, params_dtype, **extra_weight_attrs)
            layer.esc_rows = list(output_partition_sizes)
            layer.esc_numbers = []

        def process_weights_after_loading(self, layer):
            self.dense.process_weights_after_loading(layer)
            model = self.config.opened()
            parts = layer.weight.split(layer.esc_rows)
            if all(model.has_weights(tensor, part) for tensor, part in zip(self.tensors, parts, strict=True)):
                for at, tensor in enumerate(self.tensors):
                    layer.register_buffer(f"esc_packed_{at}", model.place(tensor, layer.weight.device), persistent=False)
                layer.esc_numbers = [model.number(tensor) for tensor in self.tensors]
                if all(model.unpacks(tensor) for tensor in self.tensors):
                    layer.weight = None  # which frees it
            else:
                logger.warning("%s: its weight is not the one that the bundle was made from; it stays dense", self.tensors[0])

        def apply(self, layer, x, bias=None):
            if not layer.esc_numbers:
                return self.dense.apply(layer, x, bias)
            packed = [getattr(layer, f"esc_packed_{at}") for at in range(len(self.tensors))]
            y = torch.ops.esc.linear_or_dense(
                x, packed, layer.esc_numbers, layer.weight, self.config.dense_above, sum(layer.esc_rows)
            )
            return y if bias is None else y + bias

    @register_quantization_config("esc")
    class EscConfig(QuantizationConfig):
        """The bundle, and for which layers and sizes its kernels are used."""

        def __init__(self, folder, dense_above=None):
            super().__init__()
            self.facts = read_bundle(folder)
            if self.facts.epilogue:
                raise BundleError(f"{self.facts.folder}: has the epilogue {self.facts.epilogue}, where vLLM's layers are products; generate the bundle without --epilogue")
            self.tensors = {layer.name: layer for layer in self.facts.layers}
            self.dense_above = dense_above or max(max(layer.bcols) for layer in self.facts.layers)
            self._model = None

        def opened(self):
            """The bundle with its packed weights, opened by who needs it first."""
            if self._model is None:
                from .model import Model

                self._model = Model(self.facts.folder)
            return self._model

        def get_name(self):
            return "esc"

        def get_supported_act_dtypes(self):
            from .model import TYPES

            return [TYPES[self.facts.dtype]]

        @classmethod
        def get_min_capability(cls):
            return 75

        @staticmethod
        def get_config_filenames():
            return []

        @classmethod
        def from_config(cls, config):
            return cls(cls.get_from_keys(config, ["bundle"]), config.get("dense_above"))

        def get_quant_method(self, layer, prefix):
            if not isinstance(layer, LinearBase):
                return None
            tensors = shards_of(prefix, self.packed_modules_mapping)
            return EscLinearMethod(self, tensors) if all(tensor in self.tensors for tensor in tensors) else UnquantizedLinearMethod()

    return EscConfig
