# SPDX-License-Identifier: Apache-2.0
"""The operators and replace_linear on a GPU: gpu_test.py ESCGEN MODEL, or gpu_test.py --bundles DIR FUSED ANY BITMAPS for bundles of layers `*_proj.weight` that were
generated elsewhere with --layout nk and a type of 16 bits: without an epilogue, with --epilogue bias, with that of ANY_PARTS, and of family bitmap. Ends with status 77, skipped, where there is no PyTorch or no GPU."""

import copy
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

try:
    import torch
except ImportError:
    torch = None
if torch is None or not torch.cuda.is_available():
    print("skipped: " + ("PyTorch is not installed" if torch is None else "PyTorch sees no GPU"))
    sys.exit(77)

import esc  # noqa: E402
from esc.build import build  # noqa: E402


# An epilogue with operands of each kind that it can have in this layout but one for each token.
ANY_PARTS = "bias+scale+residual+relu"
BITMAP = "bitmap:columns=8,panels=2,warps=2,stages=3,units=2"


def weight_of(bundle, name):
    """The dense weight that a layer was packed from: its product of the identity, which is exact."""
    facts = bundle.layers[name]
    packed = bundle.place(name)
    identity = torch.eye(facts.k, device="cuda", dtype=bundle.dtype)
    if bundle.facts.epilogue == "bias":
        nothing = torch.zeros(facts.m, device="cuda", dtype=bundle.dtype)
        return torch.ops.esc.linear_with(identity, packed, bundle.number(name), [nothing]).T.contiguous()
    return torch.ops.esc.linear(identity, packed, bundle.number(name)).T.contiguous()


class Network(torch.nn.Module):
    """Layers with the names of the bundle's tensors."""

    def __init__(self, bundle, bias):
        super().__init__()
        for name, facts in bundle.layers.items():
            linear = torch.nn.Linear(facts.k, facts.m, bias=bias, device="cuda", dtype=bundle.dtype)
            with torch.no_grad():
                linear.weight.copy_(weight_of(bundle, name))
            self.add_module(name.removesuffix(".weight"), linear)


class WithABundle(unittest.TestCase):
    """Tests of the bundle in `folder()`."""

    @classmethod
    def setUpClass(cls):
        build(cls.folder())
        torch.manual_seed(1)
        cls.bundle = esc.Model(cls.folder())
        cls.packed = {name: cls.bundle.place(name) for name in cls.bundle.layers}

    def product(self, name, x):
        return torch.ops.esc.linear(x, self.packed[name], self.bundle.number(name))

    def draw(self, *sizes):
        return torch.randn(*sizes, device="cuda", dtype=self.bundle.dtype)

    def assert_close(self, found, expected):
        error = (found.double() - expected.double()).norm() / expected.double().norm().clamp_min(1e-300)
        self.assertLess(error.item(), 2e-2 if self.bundle.dtype == torch.bfloat16 else 2e-3)


class OfPlainProducts(WithABundle):
    folder = staticmethod(lambda: FOLDERS[0])

    def test_products_of_any_number_of_tokens(self):
        for name, facts in self.bundle.layers.items():
            weight = weight_of(self.bundle, name)
            self.assertTrue(self.bundle.has_weights(name, weight))
            for tokens in (0, 1, 2, 7, 16, 17, 64, 65, 257):
                x = self.draw(tokens, facts.k)
                y = self.product(name, x)
                self.assertEqual(tuple(y.shape), (tokens, facts.m))
                if tokens > 0:
                    self.assert_close(y, x.double() @ weight.double().T)

    def test_other_weights_are_not_taken_for_the_layers_own(self):
        name = next(iter(self.bundle.layers))
        weight = weight_of(self.bundle, name)
        other = weight.clone()
        other[weight != 0] *= 2
        self.assertFalse(self.bundle.has_weights(name, other))
        self.assertFalse(self.bundle.has_weights(name, weight[:-1]))

    def test_the_operator_keeps_the_rules_of_pytorch(self):
        for name, facts in self.bundle.layers.items():
            for x in (self.draw(3, facts.k), self.draw(2, 3, facts.k), self.draw(5, 2 * facts.k)[:, : facts.k], self.draw(facts.k)):
                torch.library.opcheck(torch.ops.esc.linear.default, (x, self.packed[name], self.bundle.number(name)))

    def test_what_is_no_operand_is_refused(self):
        name, facts = next(iter(self.bundle.layers.items()))
        number, packed, x = self.bundle.number(name), self.packed[name], self.draw(3, facts.k)
        for given, words in ((x.float(), "another type"), (self.draw(3, facts.k + 1), "last dimension")):
            with self.assertRaisesRegex(RuntimeError, words):
                torch.ops.esc.linear(given, packed, number)
        for other, words in ((packed.cpu(), "not on the GPU of x"), (packed[1:], "are not the .* bytes that place"), (packed.view(torch.int8), "are not the .* bytes")):
            with self.assertRaisesRegex(RuntimeError, words):
                torch.ops.esc.linear(x, other, number)
        with self.assertRaisesRegex(RuntimeError, "there is no layer"):
            torch.ops.esc.linear(x, packed, 1 << 40)
        with self.assertRaises(NotImplementedError):
            torch.ops.esc.linear(x.cpu(), packed.cpu(), number)

    def test_packed_weights_outlive_the_model(self):
        bundle = esc.Model(self.folder())
        name, facts = next(iter(bundle.layers.items()))
        number, packed, x = bundle.number(name), bundle.place(name), self.draw(3, facts.k)
        self.assertEqual(number, self.bundle.number(name))
        del bundle
        self.assertTrue(torch.equal(torch.ops.esc.linear(x, packed, number), self.product(name, x)))

    def test_a_layer_moves(self):
        name, facts = next(iter(self.bundle.layers.items()))
        layer = esc.EscLinear(self.bundle, name, torch.nn.Linear(facts.k, facts.m, device="cuda", dtype=self.bundle.dtype))
        self.assertEqual([own for own, _ in layer.named_buffers()], ["packed"])
        self.assertEqual(list(layer.state_dict()), ["bias"])
        x = self.draw(3, facts.k)
        expected = layer(x)
        before = layer.packed
        self.assertIs(layer.to(self.bundle.dtype).packed, before)
        layer.cpu()
        self.assertFalse(layer.packed.is_cuda)
        with self.assertRaises(NotImplementedError):
            layer(x.cpu())
        for device in range(torch.cuda.device_count()):
            self.assertTrue(torch.equal(layer.to(f"cuda:{device}")(x.to(f"cuda:{device}")).to(x.device), expected))
        bias = layer.bias.detach().to(x.device)
        layer.to("meta").to_empty(device="cuda")
        with torch.no_grad():
            layer.bias.copy_(bias)
        self.assertTrue(torch.equal(layer(x), expected))

    def test_layers_are_replaced_and_compiled(self):
        for bias, drop_dense in ((False, False), (True, False), (True, True)):
            dense, sparse = Network(self.bundle, bias), Network(self.bundle, bias)
            sparse.load_state_dict(dense.state_dict())
            report = esc.replace_linear(sparse, self.folder(), drop_dense=drop_dense)
            self.assertEqual(len(report.layers), len(self.bundle.layers))
            self.assertEqual(report.replaced, sum(isinstance(module, esc.EscLinear) for module in sparse.modules()))
            for own in report.layers:
                self.assertIn(own.kept, (None, "dense is faster"))
                layer, expected = sparse.get_submodule(own.name), dense.get_submodule(own.name)
                self.assertEqual(own.kept is None and drop_dense, isinstance(layer, esc.EscLinear) and layer.weight is None)
                x = self.draw(4, 3, own.k)
                self.assert_close(layer(x), expected(x))
                self.assert_close(layer(self.draw(40, own.k).mul_(0).add_(1)), expected(torch.ones(40, own.k, device="cuda", dtype=self.bundle.dtype)))
                with torch.no_grad():
                    self.assert_close(torch.compile(layer, fullgraph=True)(x), expected(x))

    def convolutions(self, bias):
        """Of one pixel, with the bundle's weights."""
        for name, facts in self.bundle.layers.items():
            for stride in (1, (2, 3)):
                dense = torch.nn.Conv2d(facts.k, facts.m, 1, stride=stride, bias=bias, device="cuda", dtype=self.bundle.dtype)
                with torch.no_grad():
                    dense.weight.copy_(weight_of(self.bundle, name)[:, :, None, None])
                self.assertTrue(self.bundle.has_weights(name, dense.weight))
                yield name, dense

    @torch.no_grad()
    def test_convolutions_of_one_pixel(self):
        for bias in (False, True):
            for name, dense in self.convolutions(bias):
                sparse = esc.EscConv2d(self.bundle, name, dense)
                images = self.draw(2, dense.in_channels, 5, 7)
                for x in (images, images.to(memory_format=torch.channels_last), images[0], images[:, :, :1, :1], images[:0]):
                    found, expected = sparse(x), dense(x)
                    self.assertEqual(found.shape, expected.shape)
                    if x.numel() > 0:
                        self.assert_close(found, expected)
                self.assertTrue(sparse(images).is_contiguous(memory_format=torch.channels_last))
                torch.compiler.reset()  # else these are too many versions of one function
                self.assert_close(torch.compile(sparse, fullgraph=True)(images), dense(images))
                large = esc.EscConv2d(self.bundle, name, dense, dense_above=8)
                self.assertTrue(torch.equal(large(self.draw(3, dense.in_channels, 9, 9).mul_(0).add_(1)), dense(torch.ones(3, dense.in_channels, 9, 9, device="cuda", dtype=self.bundle.dtype))))

    def test_convolutions_are_replaced(self):
        for memory_format in (torch.contiguous_format, torch.channels_last):
            network = torch.nn.Module()
            names = list(self.bundle.layers)
            for name, dense in self.convolutions(True):
                network.add_module(name.removesuffix(".weight"), dense)  # that with a stride
            wide = self.bundle.layers[names[0]]
            network.add_module(names[0].removesuffix(".weight"), torch.nn.Conv2d(wide.k, wide.m, 3, device="cuda", dtype=self.bundle.dtype))
            report = esc.replace_linear(network, self.folder(), tokens=(12, 49), drop_dense=True, memory_format=memory_format)
            kept = {layer.name: layer.kept for layer in report.layers}
            self.assertEqual(kept[names[0].removesuffix(".weight")], "it is a convolution of more than one pixel, or in groups")
            for layer in report.layers[1:]:
                self.assertIn(layer.kept, (None, "dense is faster"))
                self.assertEqual([one.tokens for one in layer.measurements], [12, 49])

    def test_a_graph_replays_what_it_captured(self):
        name, facts = next(iter(self.bundle.layers.items()))
        x, other = self.draw(16, facts.k), self.draw(16, facts.k)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = self.product(name, x)
        x.copy_(other)
        graph.replay()
        self.assertTrue(torch.equal(y, self.product(name, other)))

    def test_what_cannot_be_replaced_is_said(self):
        network = Network(self.bundle, False)
        names = [name.removesuffix(".weight") for name in self.bundle.layers]
        with torch.no_grad():
            network.get_submodule(names[0]).weight.mul_(2)
        network.get_submodule(names[1]).float()
        reasons = {layer.name: layer.kept for layer in esc.replace_linear(network, self.folder()).layers}
        self.assertIn("is not the one that the bundle was made from", reasons[names[0]])
        self.assertIn("its weight is float32", reasons[names[1]])
        self.assertIs(type(network.get_submodule(names[0])), torch.nn.Linear)

    def test_a_state_with_other_weights_is_refused(self):
        name, facts = next(iter(self.bundle.layers.items()))
        dense = Network(self.bundle, True).get_submodule(name.removesuffix(".weight"))
        state = dense.state_dict()
        for dense_above in (None, 8):
            layer = esc.EscLinear(self.bundle, name, dense, dense_above=dense_above)
            self.assertEqual(layer.load_state_dict(layer.state_dict()).missing_keys, [])
            layer.load_state_dict({**state, "bias": torch.ones_like(state["bias"])})
            self.assertEqual(layer.bias.float().mean().item(), 1)
            with self.assertRaisesRegex(RuntimeError, "has the pattern of the weight that the bundle .* and other values"):
                layer.load_state_dict({**state, "weight": 2 * state["weight"]})
            with self.assertRaisesRegex(RuntimeError, "is not the weight that the bundle"):
                layer.load_state_dict({**state, "weight": state["weight"].roll(1, dims=1)})

    def test_a_copy_of_a_network_multiplies(self):
        name, facts = next(iter(self.bundle.layers.items()))
        layer = esc.EscLinear(self.bundle, name, torch.nn.Linear(facts.k, facts.m, device="cuda", dtype=self.bundle.dtype))
        x = self.draw(3, facts.k)
        self.assertTrue(torch.equal(copy.deepcopy(layer)(x), layer(x)))

    def test_kernels_of_another_architecture_are_refused(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "other"
            shutil.copytree(self.folder(), folder)
            other = "sm_80" if torch.cuda.get_device_capability() != (8, 0) else "sm_90"
            build(folder, architectures=[other])
            bundle = esc.Model(folder)
            with self.assertRaisesRegex(esc.BundleError, "--arch sm_"):
                bundle.place(next(iter(bundle.layers)))

    def test_large_products_stay_dense_where_that_is_asked_for(self):
        name, facts = next(iter(self.bundle.layers.items()))
        linear = Network(self.bundle, False).get_submodule(name.removesuffix(".weight"))
        layer = esc.EscLinear(self.bundle, name, linear, dense_above=8)
        x = self.draw(9, facts.k)
        self.assertTrue(torch.equal(layer(x), linear(x)))
        self.assertTrue(torch.equal(layer(x[:8]), self.product(name, x[:8])))


class OfProductsWithABias(WithABundle):
    folder = staticmethod(lambda: FOLDERS[1])

    def test_the_kernels_add_the_bias(self):
        dense, sparse = Network(self.bundle, True), Network(self.bundle, True)
        sparse.load_state_dict(dense.state_dict())
        report = esc.replace_linear(sparse, self.folder(), drop_dense=True)
        self.assertEqual(len(report.layers), len(self.bundle.layers))
        for own in report.layers:
            expected = dense.get_submodule(own.name)
            layer = esc.EscLinear(self.bundle, f"{own.name}.weight", expected)
            for x in (self.draw(own.k), self.draw(4, 3, own.k), self.draw(17, own.k), self.draw(0, own.k)):
                if x.numel() > 0:
                    self.assert_close(layer(x), expected(x))
                self.assertEqual(layer(x).shape, expected(x).shape)
            with torch.no_grad():
                self.assert_close(torch.compile(layer, fullgraph=True)(x := self.draw(5, own.k)), expected(x))

    def test_a_layer_without_a_bias_is_kept(self):
        kept = {own.kept for own in esc.replace_linear(Network(self.bundle, False), self.folder()).layers}
        self.assertEqual(kept, {"it has no bias, which the bundle's kernels add"})


class OfBitmaps(WithABundle):
    folder = staticmethod(lambda: FOLDERS[3])

    def test_weights_are_unpacked(self):
        for name, packed in self.packed.items():
            number = self.bundle.number(name)
            self.assertTrue(self.bundle.unpacks(name))
            self.assertTrue(torch.equal(torch.ops.esc.unpack(packed, number), weight_of(self.bundle, name)))
            torch.library.opcheck(torch.ops.esc.unpack.default, (packed, number))
            with self.assertRaisesRegex(RuntimeError, "are not the .* bytes that place"):
                torch.ops.esc.unpack(packed[1:], number)

    @torch.no_grad()
    def test_other_values_in_the_pattern_are_taken(self):
        for name, packed in self.packed.items():
            number = self.bundle.number(name)
            weight = weight_of(self.bundle, name)
            self.assertTrue(self.bundle.takes_values(name))
            torch.library.opcheck(torch.ops.esc.values.default, (weight, packed.clone(), number))
            dense = Network(self.bundle, True).get_submodule(name.removesuffix(".weight"))
            layer = esc.EscLinear(self.bundle, name, dense)
            state = {"weight": weight * self.draw(*weight.shape), "bias": dense.bias}
            layer.load_state_dict(state)
            self.assertTrue(torch.equal(layer.unpacked(), state["weight"]))
            dense.load_state_dict(state)
            for tokens in (1, 17):
                x = self.draw(tokens, dense.in_features)
                self.assert_close(layer(x), dense(x))
            layer.cpu().cuda()
            self.assertTrue(torch.equal(layer.unpacked(), state["weight"]))
            with self.assertRaisesRegex(RuntimeError, "non-zeros where"):
                layer.load_state_dict({**state, "weight": weight + 1})
            self.assertTrue(torch.equal(layer.unpacked(), state["weight"]))
            with self.assertRaisesRegex(RuntimeError, "without gaps"):
                torch.ops.esc.values(weight[:, 1:], packed, number)

    @torch.no_grad()
    def test_no_dense_weight_is_kept(self):
        for name, facts in self.bundle.layers.items():
            dense = Network(self.bundle, True).get_submodule(name.removesuffix(".weight"))
            layer = esc.EscLinear(self.bundle, name, dense, dense_above=16)
            self.assertEqual(sorted(layer.state_dict()), ["bias", "weight"])
            self.assertTrue(torch.equal(layer.state_dict()["weight"], dense.weight))
            for tokens in (1, 16, 17, 300):
                x = self.draw(tokens, facts.k)
                self.assert_close(layer(x), dense(x))
                torch.compiler.reset()
                self.assert_close(torch.compile(layer, fullgraph=True)(x), dense(x))
            x = self.draw(17, facts.k)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = layer(x)
            graph.replay()
            self.assert_close(y, dense(x))

    def test_layers_are_replaced(self):
        network = Network(self.bundle, True)
        report = esc.replace_linear(network, self.folder())
        for own in report.layers:
            self.assertEqual(own.unpacks, own.kept is None)
            self.assertEqual("weight" in dict(network.get_submodule(own.name).named_parameters()), own.kept is not None)


class OfAnyEpilogue(WithABundle):
    folder = staticmethod(lambda: FOLDERS[2])

    def operands(self, facts, tokens):
        scale = torch.tensor(0.5)  # numbers are of float32 where elements have 16 bits
        return [self.draw(facts.m), scale, self.draw(tokens, facts.m)]

    def test_operands_are_read(self):
        for name, facts in self.bundle.layers.items():
            packed, number = self.packed[name], self.bundle.number(name)
            for tokens in (1, 7, 16, 40):
                x = self.draw(tokens, facts.k)
                none = torch.zeros(tokens, facts.m, device="cuda", dtype=self.bundle.dtype)
                one = torch.tensor(1.0)
                # What the product is, without its epilogue's operands, follows from two products that relu leaves.
                plain = torch.ops.esc.linear_with(x, packed, number, [none[0], one, none]) - torch.ops.esc.linear_with(-x, packed, number, [none[0], one, none])
                bias, scale, residual = self.operands(facts, tokens)
                found = torch.ops.esc.linear_with(x, packed, number, [bias, scale, residual])
                expected = torch.relu((plain.double() + bias.double()) * scale.double().item() + residual.double())
                self.assert_close(found, expected)
                torch.library.opcheck(torch.ops.esc.linear_with.default, (x, packed, number, [bias, scale, residual]))

    def test_other_operands_are_refused(self):
        name, facts = next(iter(self.bundle.layers.items()))
        packed, number, x = self.packed[name], self.bundle.number(name), self.draw(3, facts.k)
        bias, scale, residual = self.operands(facts, 3)
        for operands, words in (
            ([bias, scale], "reads 3 tensors, not 2"),
            ([bias.float(), scale, residual], "bias_? of layer .* another type"),
            ([bias.cpu(), scale, residual], "bias_? of layer .* is not on the GPU of x"),
            ([bias, scale.cuda(), residual], "is a number, which is to be on the host"),
            ([bias, scale, residual[:2]], "does not have"),
            ([bias, scale, residual.T.contiguous().T], "without gaps"),
        ):
            with self.assertRaisesRegex(RuntimeError, words):
                torch.ops.esc.linear_with(x, packed, number, operands)
        with self.assertRaisesRegex(RuntimeError, "hand them to esc::linear_with"):
            torch.ops.esc.linear(x, packed, number)

    def test_no_linear_layer_is_replaced_by_it(self):
        with self.assertRaisesRegex(esc.BundleError, "or call torch.ops.esc.linear_with"):
            esc.replace_linear(torch.nn.Linear(4, 4), self.folder())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if sys.argv[1] == "--bundles":
            FOLDERS = sys.argv[2:6]
        else:
            FOLDERS = [str(pathlib.Path(scratch) / name) for name in ("layers", "fused", "any", "bitmaps")]
            for name, more in (("layers", ()), ("fused", ("--epilogue", "bias")), ("any", ("--epilogue", ANY_PARTS)), ("bitmaps", ("--schedule", BITMAP))):
                subprocess.run([sys.argv[1], "generate", sys.argv[2], "--tensor", "*_proj.weight", "--bcol", "1,16", "--layout", "nk", "--dtype", "f16",
                                "-o", scratch, "--name", name, *more], check=True, stdout=subprocess.DEVNULL)
        unittest.main(argv=sys.argv[:1])
