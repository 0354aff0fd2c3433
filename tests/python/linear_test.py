# SPDX-License-Identifier: Apache-2.0
"""Replaced layers beside PyTorch itself, without a GPU: linear_test.py ESCGEN. Exit status 77 where PyTorch is not
installed. In place of the bundle's kernels stand products of its weights, and of the clock what a test says."""

import copy
import gc
import pathlib
import subprocess
import sys
import tempfile
import unittest
import weakref
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

import esc  # noqa: E402
from esc import linear, read_bundle  # noqa: E402
from esc.model import Model  # noqa: E402

M, K = 24, 40
NAMES = ("a.weight", "b.weight")
WEIGHTS, CALLS = {}, []


def dense(packed):
    """The weight of a stand-in's packed one: its bytes."""
    return packed.view(torch.float16).view(M, K)


@torch.library.custom_op("esc::linear", mutates_args=())
def sparse_product(x: torch.Tensor, packed: torch.Tensor, layer: int) -> torch.Tensor:
    CALLS.append(("linear", x.numel() // x.shape[-1]))
    return torch.nn.functional.linear(x, dense(packed))


@torch.library.custom_op("esc::unpack", mutates_args=())
def unpack(packed: torch.Tensor, layer: int) -> torch.Tensor:
    CALLS.append(("unpack", NAMES[layer]))
    return dense(packed).clone()


@torch.library.custom_op("esc::values", mutates_args=("packed",))
def values(weight: torch.Tensor, packed: torch.Tensor, layer: int) -> None:
    CALLS.append(("values", NAMES[layer]))
    assert weight.is_contiguous() and weight.dtype == torch.float16
    dense(packed).copy_(torch.where(WEIGHTS[NAMES[layer]] != 0, weight, 0))


sparse_product.register_fake(lambda x, packed, layer: x.new_empty(*x.shape[:-1], M))
unpack.register_fake(lambda packed, layer: packed.new_empty(M, K, dtype=torch.float16))


class StandIn:
    """An opened bundle without a GPU; its checks are the real ones."""

    has_weights, has_pattern, _digests = Model.has_weights, Model.has_pattern, Model._digests
    dtype = torch.float16
    can_unpack = True
    can_take_values = True

    def __init__(self, folder):
        self.facts = read_bundle(folder)
        self.layers = {layer.name: layer for layer in self.facts.layers}

    def __deepcopy__(self, memo):
        return self

    def place(self, layer, device=None):
        return WEIGHTS[layer].clone().view(torch.uint8).flatten()

    def number(self, layer):
        return NAMES.index(layer)

    def unpacks(self, layer):
        return self.can_unpack

    def takes_values(self, layer):
        return self.can_take_values


class Network(torch.nn.Module):
    def __init__(self, tied=False):
        super().__init__()
        for name in NAMES:
            own = torch.nn.Linear(K, M, dtype=torch.float16)
            with torch.no_grad():
                own.weight.copy_(WEIGHTS[name])
            self.add_module(name.removesuffix(".weight"), own)
        if tied:
            self.embedding = torch.nn.Embedding(M, K, dtype=torch.float16)
            self.embedding.weight = self.a.weight


class Replacement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import numpy

        cls.scratch = tempfile.TemporaryDirectory()
        torch.manual_seed(1)
        tensors = {}
        for name in NAMES:
            weight = torch.randn(M, K).half()
            WEIGHTS[name] = torch.where(weight.abs() < 0.7, torch.zeros((), dtype=torch.float16), weight)
            tensors[name] = WEIGHTS[name].numpy()
        path = pathlib.Path(cls.scratch.name)
        numpy.savez(path / "model.npz", **tensors)
        subprocess.run([sys.argv[1], "generate", path / "model.npz", "--bcol", "1,8", "--layout", "nk", "--dtype", "f16",
                        "--all", "--no-verify", "-o", path, "--name", "kernels", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.folder = path / "kernels"

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.bundle = StandIn(self.folder)
        CALLS.clear()

    def layer(self, **more):
        return esc.EscLinear(self.bundle, "a.weight", Network().a, **more)

    def replaced(self, network, kernel_wins_until, **more):
        """replace_linear where products by the kernel take as many microseconds as there are tokens, and others so many
        that the kernel wins until then."""

        def time(call):
            CALLS.clear()
            call()
            kind, count = CALLS[-1] if CALLS else ("dense", None)
            return count if kind == "linear" else kernel_wins_until + 0.5 + (kind == "unpack")

        on_cuda = mock.patch.object(torch.Tensor, "is_cuda", new_callable=mock.PropertyMock, return_value=True)
        opened = mock.patch.object(linear, "Model", lambda folder: self.bundle)
        with on_cuda, opened, mock.patch.object(linear, "measure", time), mock.patch.object(torch.cuda, "device"):
            return esc.replace_linear(network, self.folder, **more)

    def test_no_dense_weight_is_kept(self):
        layer = self.layer(dense_above=8)
        self.assertEqual([name for name, _ in layer.named_parameters()], ["bias"])
        facts = (tuple(layer.weight.shape), layer.weight.dtype, layer.weight.device.type)
        self.assertEqual(facts, ((M, K), torch.float16, "cpu"))
        self.assertEqual(CALLS, [])
        self.assertTrue(torch.equal(layer.weight.float(), WEIGHTS["a.weight"].float()))
        self.assertTrue(torch.equal(torch.add(layer.weight, 0), WEIGHTS["a.weight"]))

    @torch.no_grad()
    def test_many_tokens_are_unpacked(self):
        layer = self.layer(dense_above=8)
        for tokens, calls in ((8, [("linear", 8)]), (9, [("unpack", "a.weight")])):
            CALLS.clear()
            x = torch.randn(tokens, K).half()
            expected = torch.nn.functional.linear(x, WEIGHTS["a.weight"], layer.bias)
            torch.testing.assert_close(layer(x), expected, rtol=1e-2, atol=1e-2)
            self.assertEqual(CALLS, calls)

    @torch.no_grad()
    def test_it_is_compiled_whole(self):
        layer = self.layer(dense_above=8)
        for tokens in (3, 20):
            x = torch.randn(tokens, K).half()
            found = torch.compile(layer, fullgraph=True, backend="aot_eager")(x)
            torch.testing.assert_close(found, layer(x), rtol=1e-2, atol=1e-2)

    def test_a_state_has_the_weight(self):
        layer = self.layer()
        state = layer.state_dict()
        self.assertEqual(sorted(state), ["bias", "weight"])
        self.assertTrue(torch.equal(state["weight"], WEIGHTS["a.weight"]))
        self.assertEqual(layer.load_state_dict(state).unexpected_keys, [])
        self.assertEqual(layer.load_state_dict({"bias": state["bias"]}).missing_keys, [])
        torch.nn.Linear(K, M, dtype=torch.float16).load_state_dict(state)

    def test_a_layer_that_takes_no_values_keeps_its_own(self):
        self.bundle.can_take_values = False
        layer = self.layer()
        state = layer.state_dict()
        self.assertEqual(layer.load_state_dict(state).unexpected_keys, [])
        with self.assertRaisesRegex(RuntimeError, "weight: has the pattern of .* and other values; .* escgen pack"):
            layer.load_state_dict({**state, "weight": 2 * state["weight"]})
        with self.assertRaisesRegex(RuntimeError, "weight: is not the weight that the bundle"):
            layer.load_state_dict({**state, "weight": state["weight"] + 1})

    @torch.no_grad()
    def test_other_values_in_the_pattern_are_taken(self):
        layer = self.layer(dense_above=8)
        first = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
        weight = (-3 * WEIGHTS["a.weight"]).clone()
        weight[WEIGHTS["a.weight"] > 2] = 0  # a zero in the pattern is a value
        self.assertEqual(layer.load_state_dict({"weight": weight.float(), "bias": first["bias"] + 1}).unexpected_keys, [])
        self.assertTrue(torch.equal(layer.state_dict()["weight"], weight))
        self.assertTrue(torch.equal(layer.bias, first["bias"] + 1))
        for tokens in (3, 20):
            x = torch.randn(tokens, K).half()
            expected = torch.nn.functional.linear(x, weight, layer.bias)
            torch.testing.assert_close(layer(x), expected, rtol=1e-2, atol=2e-2)
        layer.load_state_dict(first)  # where there were zeros for a while
        self.assertTrue(torch.equal(layer.state_dict()["weight"], WEIGHTS["a.weight"]))

    def test_another_pattern_is_refused_and_nothing_changed(self):
        network = Network()
        for name in NAMES:
            own = name.removesuffix(".weight")
            setattr(network, own, esc.EscLinear(self.bundle, name, network.get_submodule(own)))
        before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        changed = {name: 2 * tensor for name, tensor in before.items()}
        changed["a.weight"][WEIGHTS["a.weight"] == 0] += 1
        count = (WEIGHTS["a.weight"] == 0).sum().item()
        refusal = f"a.weight: has {count} non-zeros where .* is zero; prune it to that pattern, or generate a bundle"
        with self.assertRaisesRegex(RuntimeError, refusal):
            network.load_state_dict(changed)
        self.assertTrue(torch.equal(network.state_dict()["a.weight"], before["a.weight"]))
        self.assertTrue(torch.equal(network.state_dict()["a.bias"], before["a.bias"]))
        with self.assertRaisesRegex(RuntimeError, r"weight: is \(40, 24\), the weight .* \(24, 40\)"):
            network.a.load_state_dict({"weight": before["a.weight"].T, "bias": before["a.bias"]})

    def test_other_values_move_and_are_copied_with_the_layer(self):
        layer = self.layer()
        weight = 2 * WEIGHTS["a.weight"]
        layer.load_state_dict({**layer.state_dict(), "weight": weight})
        on_cuda = mock.patch.object(torch.Tensor, "is_cuda", new_callable=mock.PropertyMock, return_value=True)
        with on_cuda:
            layer._apply(torch.clone)  # as to another GPU, where the bundle's weights are placed
        self.assertTrue(torch.equal(layer.unpacked(), weight))
        layer._apply(torch.clone)  # as to the host and back
        with on_cuda:
            layer._apply(torch.clone)
        self.assertTrue(torch.equal(copy.deepcopy(layer).unpacked(), weight))

    def test_from_how_many_tokens_on_is_measured(self):
        for wins_until, above in ((8, 8), (100, 64)):
            network = Network()
            report = self.replaced(network, wins_until)
            found = [(one.kept, one.dense_above, one.unpacks) for one in report.layers]
            self.assertEqual(found, [(None, above, True)] * 2)
            self.assertEqual(network.a.dense_above, above)
        self.assertEqual([one.kept for one in self.replaced(Network(), 0).layers], ["dense is faster"] * 2)

    def test_where_a_bias_is_added_behind_slower_kernels_the_epilogue_is_named(self):
        self.assertIn("have a bias, which a second launch adds here: escgen generate --epilogue bias", self.replaced(Network(), 0).hint)
        self.assertEqual(self.replaced(Network(), 100).hint, "")
        network = Network()
        for name in NAMES:
            network.get_submodule(name.removesuffix(".weight")).bias = None
        self.assertEqual(self.replaced(network, 0).hint, "")

    def test_how_often_tokens_occur_decides(self):
        self.bundle.can_unpack = False
        for tokens, kept in ((None, "dense is faster"), ({1: 100, 16: 1}, None), ({1: 1, 16: 100}, "dense is faster")):
            report = self.replaced(Network(), 4, tokens=tokens, drop_dense=True)
            self.assertEqual([one.kept for one in report.layers], [kept] * 2)
            self.assertEqual(report.weights, tokens)
        for weight in (0, -1, float("nan"), float("inf"), "2"):
            with self.assertRaisesRegex(ValueError, "tokens: has the weight .* for 1, which is no finite number above 0"):
                self.replaced(Network(), 4, tokens={1: weight})

    def test_weights_are_freed_layer_by_layer(self):
        network = Network()
        first = weakref.ref(network.a.weight)
        alive = []
        place = self.bundle.place

        def placing(layer, device=None):
            if layer == "b.weight":
                gc.collect()
                alive.append(first() is not None)
            return place(layer, device)

        self.bundle.place = placing
        report = self.replaced(network, 20)
        self.assertEqual(alive, [False])
        self.assertEqual(report.bytes_in_use, sum(one.packed_bytes for one in report.layers))

    def test_tied_weights_are_not_freed(self):
        report = self.replaced(Network(tied=True), 20)
        self.assertEqual([(one.name, one.tied) for one in report.layers], [("a", True), ("b", False)])
        self.assertEqual(report.bytes_in_use, sum(one.packed_bytes for one in report.layers) + 2 * M * K)

    def test_what_cannot_be_unpacked_keeps_its_weight(self):
        self.bundle.can_unpack = False
        network = Network()
        report = self.replaced(network, 4)
        self.assertEqual([(one.dense_above, one.unpacks) for one in report.layers], [(1, False)] * 2)
        self.assertEqual([name for name, _ in network.a.named_parameters()], ["bias", "weight"])
        report = self.replaced(network := Network(), 20, drop_dense=True)
        self.assertIsNone(network.a.weight)
        self.assertEqual(report.bytes_in_use, sum(one.packed_bytes for one in report.layers))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
