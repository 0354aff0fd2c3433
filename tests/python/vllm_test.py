# SPDX-License-Identifier: Apache-2.0
"""The plug-in of vLLM beside vLLM itself: vllm_test.py ESCGEN. Exit status 77 where vLLM is not installed. No GPU is needed: where the bundle's kernels would
multiply stands a product of the same weights, and which layers and rows it is asked for is what is looked at."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

try:
    import torch
    import vllm  # noqa: F401
except ImportError:
    print("skipped: vLLM is not installed")
    sys.exit(77)

import safetensors.torch  # noqa: E402
from esc import BundleError, read_bundle  # noqa: E402
from esc import vllm as plugin  # noqa: E402
from esc.model import Model  # noqa: E402

ESCGEN = None
HIDDEN, KEYS, INNER = 64, 32, 96
SHAPES = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (KEYS, HIDDEN), "self_attn.v_proj": (KEYS, HIDDEN), "self_attn.o_proj": (HIDDEN, HIDDEN),
          "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN), "mlp.down_proj": (HIDDEN, INNER)}


class StandIn:
    """An opened bundle without a GPU: its checks are the real ones, and it notes what is placed: its number in one byte."""

    has_weights = Model.has_weights
    _digests = Model._digests
    can_unpack = False

    def __init__(self, folder):
        self.facts = read_bundle(folder)
        self.dtype = torch.float32
        self.layers = {layer.name: layer for layer in self.facts.layers}
        self.names = sorted(self.layers)
        self.placed = []

    def place(self, layer, device=None):
        self.placed.append(layer)
        return torch.tensor([self.number(layer)], dtype=torch.uint8, device=device)

    def number(self, layer):
        return self.names.index(layer)

    def unpacks(self, layer):
        return self.can_unpack


class VllmPlugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        torch.manual_seed(1)
        cls.weights = {}
        for name, shape in SHAPES.items():
            weight = torch.randn(shape)
            cls.weights[f"model.layers.0.{name}.weight"] = torch.where(weight.abs() < 1, torch.zeros(()), weight)
        path = pathlib.Path(cls.folder.name)
        safetensors.torch.save_file(cls.weights, path / "model.safetensors")
        subprocess.run([ESCGEN, "generate", path / "model.safetensors", "--bcol", "1,8", "--layout", "nk", "--no-verify", "--name", "model", "-o", path / "kernels", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.bundle = path / "kernels" / "model"
        cls.calls = []
        names = sorted(cls.weights)

        @torch.library.custom_op("esc::linear", mutates_args=())
        def linear(x: torch.Tensor, packed: torch.Tensor, layer: int) -> torch.Tensor:
            assert packed.tolist() == [layer]
            cls.calls.append((names[layer], x.numel() // x.shape[-1]))
            return torch.nn.functional.linear(x, cls.weights[names[layer]])

        @torch.library.custom_op("esc::unpack", mutates_args=())
        def unpack(packed: torch.Tensor, layer: int) -> torch.Tensor:
            cls.calls.append((names[layer], "unpacked"))
            return cls.weights[names[layer]].clone()

        import vllm.distributed as distributed
        from vllm.config import DeviceConfig, VllmConfig, set_current_vllm_config

        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29555")
        cls.context = set_current_vllm_config(VllmConfig(device_config=DeviceConfig(device="cpu")))
        cls.context.__enter__()
        distributed.init_distributed_environment(world_size=1, rank=0, local_rank=0, distributed_init_method="env://", backend="gloo")
        distributed.initialize_model_parallel(1)
        cls.config_class = plugin.register()

    @classmethod
    def tearDownClass(cls):
        cls.context.__exit__(None, None, None)
        cls.folder.cleanup()

    def config(self, **more):
        from vllm.model_executor.layers.quantization import get_quantization_config

        self.assertIs(get_quantization_config("esc"), self.config_class)
        config = get_quantization_config("esc").from_config({"quant_method": "esc", "bundle": str(self.bundle), **more})
        config.packed_modules_mapping = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
        config._model = StandIn(self.bundle)
        return config

    def qkv(self, config):
        from vllm.model_executor.layers.linear import QKVParallelLinear

        prefix = "model.layers.0.self_attn"
        layer = QKVParallelLinear(HIDDEN, 16, HIDDEN // 16, KEYS // 16, bias=False, params_dtype=torch.float32, quant_config=config, prefix=f"{prefix}.qkv_proj")
        for part in "qkv":
            layer.weight_loader(layer.weight, self.weights[f"{prefix}.{part}_proj.weight"], part)
        return layer

    def test_fused_layer_is_multiplied_part_by_part(self):
        config = self.config()
        layer = self.qkv(config)
        layer.quant_method.process_weights_after_loading(layer)
        parts = [f"model.layers.0.self_attn.{part}_proj.weight" for part in "qkv"]
        self.assertEqual(config.opened().placed, parts)
        x = torch.randn(5, HIDDEN)
        self.calls.clear()
        y, _ = layer(x)
        self.assertEqual(self.calls, [(part, 5) for part in parts])
        torch.testing.assert_close(y, x @ torch.cat([self.weights[part] for part in parts]).T)

    def test_many_tokens_are_dense(self):
        for above, tokens, sparse in ((None, 8, True), (None, 9, False), (3, 4, False)):
            config = self.config(**({} if above is None else {"dense_above": above}))
            layer = self.qkv(config)
            layer.quant_method.process_weights_after_loading(layer)
            self.calls.clear()
            layer(torch.randn(tokens, HIDDEN))
            self.assertEqual(bool(self.calls), sparse, (above, tokens))

    def test_weights_that_can_be_unpacked_are_given_up(self):
        config = self.config(dense_above=3)
        config.opened().can_unpack = True
        layer = self.qkv(config)
        layer.quant_method.process_weights_after_loading(layer)
        self.assertIsNone(layer.weight)
        self.assertEqual([name for name, _ in layer.named_parameters()], [])
        parts = [f"model.layers.0.self_attn.{part}_proj.weight" for part in "qkv"]
        expected = torch.cat([self.weights[part] for part in parts])
        for tokens, called in ((3, 3), (4, "unpacked")):
            x = torch.randn(tokens, HIDDEN)
            self.calls.clear()
            y, _ = layer(x)
            self.assertEqual(self.calls, [(part, called) for part in parts])
            torch.testing.assert_close(y, x @ expected.T)

    def test_other_weights_stay_dense(self):
        config = self.config()
        layer = self.qkv(config)
        with torch.no_grad():
            layer.weight[0, 0] += 1
        with self.assertLogs("esc.vllm", "WARNING"):
            layer.quant_method.process_weights_after_loading(layer)
        self.calls.clear()
        layer(torch.randn(2, HIDDEN))
        self.assertEqual(self.calls, [])

    def test_layers_without_kernels_are_those_of_vllm(self):
        from vllm.model_executor.layers.linear import ReplicatedLinear, UnquantizedLinearMethod

        other = ReplicatedLinear(HIDDEN, 16, bias=False, params_dtype=torch.float32, quant_config=self.config(), prefix="model.layers.7.router")
        self.assertIsInstance(other.quant_method, UnquantizedLinearMethod)

    def test_a_layer_of_several_gpus_is_refused(self):
        method = self.qkv(self.config()).quant_method
        with self.assertRaisesRegex(BundleError, "--tensor-parallel-size 1"):
            method.create_weights(torch.nn.Module(), HIDDEN, [HIDDEN // 2], HIDDEN, HIDDEN, torch.float32)

    def test_one_graph_serves_all_sizes(self):
        config = self.config()
        layer = self.qkv(config)
        layer.quant_method.process_weights_after_loading(layer)
        program = torch.export.export(layer, (torch.randn(6, HIDDEN),), dynamic_shapes=({0: torch.export.Dim("tokens", min=1, max=4096)},), strict=False).module()
        for tokens, sparse in ((2, True), (100, False)):
            self.calls.clear()
            x = torch.randn(tokens, HIDDEN)
            torch.testing.assert_close(program(x)[0], layer(x)[0])
            self.assertEqual(bool(self.calls), sparse)


if __name__ == "__main__":
    ESCGEN = sys.argv.pop(1)
    unittest.main()
