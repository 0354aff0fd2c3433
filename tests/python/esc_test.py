# SPDX-License-Identifier: Apache-2.0
"""The Python package as far as it needs neither PyTorch nor a GPU: esc_test.py ESCGEN MODEL."""

import ctypes
import importlib
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from esc import BundleError, read_bundle  # noqa: E402
from esc.__main__ import Progress  # noqa: E402
from esc.build import build  # noqa: E402
from esc.bundle import digests_of  # noqa: E402
from esc.names import Prefix, find_prefix, unmatched_hint  # noqa: E402
from esc.report import LayerReport, Measurement, Report  # noqa: E402

ESCGEN, MODEL = None, None


def generate(folder, layout="nk", tensors="*_proj.weight", bcol="1,16", more=()):
    """The folder of a bundle of some layers of the model."""
    command = [ESCGEN, "generate", MODEL, "--tensor", tensors, "--bcol", bcol, "--layout", layout, "--dtype", "f16", "--gpu", "h200", "--no-verify",
               "-o", folder, "--name", "layers", *more]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder) / "layers"


def dense_tensor(name):
    """(shape, bytes of float32) of a tensor of the model."""
    data = pathlib.Path(MODEL).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    tensor = json.loads(data[8 : 8 + length])[name]
    begin, end = tensor["data_offsets"]
    assert tensor["dtype"] == "F32"
    return tensor["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[8 + length + begin : 8 + length + end])


class Bundles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = generate(cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def refusal(self, folder):
        with self.assertRaises(BundleError) as refused:
            read_bundle(folder)
        return str(refused.exception)

    def test_facts_are_those_of_the_manifest(self):
        facts = read_bundle(self.folder)
        self.assertEqual((facts.name, facts.dtype, facts.architectures), ("layers", "f16", ("sm_90",)))
        self.assertEqual([layer.name for layer in facts.layers], ["down_proj.weight", "gate_proj.weight", "up_proj.weight"])
        up = facts.layers[2]
        self.assertEqual((up.m, up.k, up.nonzeros, up.bcols), (24, 40, 186, (1, 16)))
        self.assertEqual(facts.build_folder.parent, self.folder.parent)

    def test_digests_are_those_of_the_weights(self):
        (rows, columns), values = dense_tensor("up_proj.weight")
        kept = [(row, column) for row in range(rows) for column in range(columns) if values[row * columns + column] != 0]
        offsets = [sum(row < end for row, _ in kept) for end in range(rows + 1)]
        found = digests_of(
            (rows, columns),
            struct.pack(f"<{rows + 1}q", *offsets),
            struct.pack(f"<{len(kept)}i", *(column for _, column in kept)),
            struct.pack(f"<{len(kept)}e", *(values[row * columns + column] for row, column in kept)),
        )
        up = read_bundle(self.folder).layers[2]
        self.assertEqual(found, (up.pattern_sha256, up.values_sha256))

    def test_what_is_no_model_bundle_is_refused(self):
        self.assertIn("cannot be read", self.refusal(self.folder / "nothing"))
        with tempfile.TemporaryDirectory() as folder:
            manifest = pathlib.Path(folder) / "manifest.json"
            for text, words in (("{", "is no JSON"), ("[]", "is not of a model bundle"), ('{"kind": "layer"}', "is not of a model bundle")):
                manifest.write_text(text)
                self.assertIn(words, self.refusal(folder))

    def test_the_other_layout_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("generate the bundle with --layout nk", self.refusal(generate(folder, layout="kn")))

    def test_an_epilogue_is_known_by_its_parts(self):
        self.assertEqual(read_bundle(self.folder).epilogue, "")
        with tempfile.TemporaryDirectory() as folder:
            bundle = generate(folder, more=("--epilogue", "bias+relu"))
            self.assertEqual(read_bundle(bundle).epilogue, "bias+relu")
            manifest = json.loads((bundle / "manifest.json").read_text())
            del manifest["epilogue_parts"]  # as early bundles were
            (bundle / "manifest.json").write_text(json.dumps(manifest))
            self.assertIn("does not say which; generate the bundle again", self.refusal(bundle))

    def test_without_a_compiler_nothing_is_built(self):
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "CUDA_HOME": "/nowhere"}), self.assertRaises(BundleError) as refused:
            build(self.folder)
        self.assertIn("install the CUDA toolkit", str(refused.exception))
        self.assertFalse(read_bundle(self.folder).build_folder.exists())

    def test_the_program_says_what_is_wrong(self):
        run = subprocess.run([sys.executable, "-m", "esc", "build", str(self.folder / "nothing")], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertTrue(run.stderr.startswith("esc: "), run.stderr)

    def test_without_the_wheel_the_program_names_it(self):
        for arguments in (["--cmake-dir"], ["examples", "nowhere"]):
            run = subprocess.run([sys.executable, "-S", "-m", "esc", *arguments], cwd=ROOT / "python",
                                 capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
            self.assertIn("the wheel esc_programs is not in this environment", run.stderr)

    def test_a_build_says_how_far_it_is(self):
        with tempfile.TemporaryDirectory() as scratch:
            tools = pathlib.Path(scratch) / "tools"
            utilities = tools / "torch/utils"
            utilities.mkdir(parents=True)
            (tools / "torch/__init__.py").write_text('__version__ = "2.10.0"\n')
            (utilities / "__init__.py").write_text("")
            (utilities / "cpp_extension.py").write_text("def include_paths():\n    return []\n\n\ndef library_paths():\n    return []\n")
            compiler = tools / "nvcc"
            compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: >"$2"\n')  # makes the file that is asked for
            compiler.chmod(0o755)
            bundle = generate(scratch)
            run = subprocess.run([sys.executable, "-m", "esc", "build", str(bundle)], cwd=ROOT / "python", capture_output=True, text=True,
                                 env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(tools)})
            files = len([*bundle.glob("*.cu"), *bundle.glob("*.cpp")]) + 1  # and the operator
            self.assertEqual((run.returncode, run.stdout), (0, f"3 layers of layers in {read_bundle(bundle).build_folder}\n"))
            first, last = run.stderr.splitlines()
            self.assertTrue(first.startswith(f"esc: 0 of {files} files compiled, "), run.stderr)
            self.assertTrue(last.startswith(f"esc: {files} of {files} files compiled, "), run.stderr)

    def test_a_terminal_has_one_line_that_changes(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        progress = Progress(terminal)
        for done in range(3):
            progress(done, 2)
        progress.end()
        progress.end()
        lines = terminal.getvalue().split("\r")
        self.assertEqual([line[:23] for line in lines], ["", "esc: 0 of 2 files compi", "esc: 1 of 2 files compi", "esc: 2 of 2 files compi"])
        self.assertEqual(terminal.getvalue().count("\n"), 1)

    @unittest.skipUnless(shutil.which("nvcc") or pathlib.Path("/usr/local/cuda/bin/nvcc").exists(), "no nvcc")
    def test_the_library_has_the_layers(self):
        with tempfile.TemporaryDirectory() as folder:
            facts = build(generate(folder, tensors="[gu]*_proj.weight", bcol="16"), with_operator=False)
            self.assertEqual([path.name for path in facts.build_folder.iterdir()], ["liblayers.so"])
            library = ctypes.CDLL(str(facts.library))
            self.assertEqual(library.layers_layer_count(), len(facts.layers))

    @unittest.skipUnless(shutil.which("nvcc") or pathlib.Path("/usr/local/cuda/bin/nvcc").exists(), "no nvcc")
    def test_a_failed_build_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle = generate(folder, tensors="[gu]*_proj.weight", bcol="16")
            with self.assertRaises(BundleError) as refused:
                build(bundle, architectures=["sm_1"], with_operator=False)
            self.assertIn("nvcc: failed", str(refused.exception))
            self.assertEqual(list(read_bundle(bundle).build_folder.iterdir()), [])


class Names(unittest.TestCase):
    layers = [f"model.layers.{layer}.{name}.weight" for layer in range(12) for name in ("mlp.up_proj", "self_attn.q_proj")]
    own = [name.removesuffix(".weight") for name in layers]

    def test_a_prefix_says_what_stands_in_place_of_what(self):
        self.assertEqual(Prefix.of("").layer("up"), "up.weight")
        self.assertEqual(Prefix.of("model.").layer("up"), "model.up.weight")
        self.assertEqual(Prefix.of(("module.", "model.")).layer("module.up"), "model.up.weight")
        self.assertIsNone(Prefix.of(("module.", "model.")).layer("up"))

    def test_the_prefix_by_which_most_names_agree_is_found(self):
        for front, bundle in (("", "model."), ("module.", ""), ("base_model.model.", ""), ("module.", "model."), ("_orig_mod.", "")):
            modules = [front + name.removeprefix(bundle) for name in self.own]
            prefix, count = find_prefix([*modules, "lm_head"], self.layers)
            self.assertEqual((prefix, count), (Prefix(front, bundle), len(self.layers)), (front, bundle))
            self.assertEqual(eval(f"dict({prefix})", {})["prefix"], bundle if not front else (front, bundle))
        self.assertEqual(find_prefix(["a.b"], ["c.d.weight"]), (None, 0))

    def test_a_hint_says_what_is_missing(self):
        hint = unmatched_hint([name.removeprefix("model.") for name in self.own], self.layers, Prefix())
        for words in ("model.layers.0.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight", 'the bundle has before it is "model."', 'replace_linear(model, folder, prefix="model.") finds 24 of 24'):
            self.assertIn(words, hint)
        self.assertIn('prefix=("module.", "model.")', unmatched_hint(["module" + name.removeprefix("model") for name in self.own], self.layers, Prefix.of("model.")))
        self.assertEqual(unmatched_hint([*self.own, "lm_head"], self.layers, Prefix()), "")
        self.assertIn("1 of 24 layers of the bundle have no module here: model.layers.0.mlp.up_proj.weight", unmatched_hint(self.own[1:], self.layers, Prefix()))
        self.assertIn("generate the bundle from this network's checkpoint", unmatched_hint(["a.b"], self.layers, Prefix()))
        self.assertIn("the network has no nn.Linear", unmatched_hint([], self.layers, Prefix()))


class Replacement(unittest.TestCase):
    """replace_linear beside a stand-in for PyTorch on a machine without a driver."""

    class Module:
        def __init__(self, **children):
            self.children = children
            self.weight = mock.Mock(is_cuda=False)
            self.weight.numel.return_value = 200
            self.weight.element_size.return_value = 2

        def parameters(self, recurse=True):
            return [self.weight]

        def named_modules(self):
            yield "", self
            for name, child in self.children.items():
                yield from ((f"{name}.{below}".rstrip("."), module) for below, module in child.named_modules())

    def setUp(self):
        torch = mock.MagicMock()
        torch.nn.Module = self.Module
        torch.nn.Linear = type("Linear", (self.Module,), {"bias": None})
        torch.nn.Conv2d = type("Conv2d", (self.Module,), {"bias": None})
        torch.no_grad = lambda: lambda function: function
        torch.cuda.is_available.return_value = False
        torch.cuda.get_device_name.side_effect = RuntimeError("Found no NVIDIA driver on your system")
        self.torch = torch
        names = [name for name in sys.modules if name.startswith("esc.")]
        patches = mock.patch.dict(sys.modules, {"torch": torch})
        patches.start()
        self.addCleanup(patches.stop)  # takes the modules that were imported beside it away, too
        for name in names:
            if name in ("esc.linear", "esc.model", "esc.measure"):
                del sys.modules[name]
        self.linear = importlib.import_module("esc.linear")
        layer = mock.Mock(m=20, k=10, nonzeros=60, packed_bytes=240)
        bundle = mock.Mock(layers={"model.up.weight": layer, "model.down.weight": layer})
        bundle.facts.epilogue = ""
        self.linear.Model = lambda folder: bundle

    def network(self):
        return self.Module(up=self.torch.nn.Linear(), down=self.torch.nn.Linear(), norm=self.Module())

    def test_without_a_driver_there_is_a_report(self):
        report = self.linear.replace_linear(self.Module(model=self.network()), "bundle")
        self.assertEqual(([layer.name for layer in report.layers], report.gpu, report.hint), (["model.up", "model.down"], "no GPU", ""))
        self.assertIn("kept: its weight is not on a GPU", str(report))

    def test_other_names_are_taken_by_a_prefix(self):
        report = self.linear.replace_linear(self.network(), "bundle")
        self.assertIn("0 of 0 layers replaced", str(report))
        self.assertIn('replace_linear(model, folder, prefix="model.") finds 2 of 2 layers', str(report))
        report = self.linear.replace_linear(self.network(), "bundle", prefix="model.")
        self.assertEqual([(layer.name, layer.bundle_name) for layer in report.layers], [("up", "model.up.weight"), ("down", "model.down.weight")])

    def test_how_often_tokens_occur_decides(self):
        measurements = (Measurement(1, 4.0, 2.0), Measurement(16, 5.0, 9.0))
        for weights, is_worth_it in ((None, False), ({1: 3, 16: 1}, True), ({1: 1, 16: 0.25}, True), ({1: 2, 16: 1}, False)):
            self.assertEqual(self.linear._is_worth_it(measurements, weights, None, False, True), is_worth_it, weights)
        report = self.linear.replace_linear(self.Module(model=self.network()), "bundle", tokens={1: 10, 16: 1})
        self.assertEqual(report.weights, {1: 10, 16: 1})
        for weight in (0, -1, float("nan"), float("inf"), "2"):
            with self.assertRaisesRegex(ValueError, "tokens: has the weight .* for 1, which is no finite number above 0; write it as in {1: 10, 16: 1}"):
                self.linear.replace_linear(self.network(), "bundle", tokens={1: weight})

    def test_what_fails_later_does_not_lose_the_report(self):
        network = self.Module(model=self.network())
        network.children["model"].children["down"].weight.numel.side_effect = RuntimeError("CUDA error")
        with self.assertRaises(RuntimeError) as problem:
            self.linear.replace_linear(network, "bundle")
        self.assertEqual([layer.name for layer in problem.exception.report.layers], ["model.up"])


class Reports(unittest.TestCase):
    report = Report((
        LayerReport("up", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0), Measurement(16, 5.0, 4.0)), 2e-4, None),
        LayerReport("gate", 20, 10, 0.5, 400, 380, (Measurement(16, 5.0, 6.0),), 2e-4, "dense is faster"),
        LayerReport("down", 10, 20, 0.7, 400, 240, (), None, "its weight is not on a GPU"),
        LayerReport("both", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0), Measurement(16, 5.0, 7.0)), 2e-4, None, 1),
    ))
    unpacking = Report((
        LayerReport("up", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0, 9.0), Measurement(16, 5.0, 9.0, 8.0)), 2e-4, None, 1, unpacks=True),
        LayerReport("head", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0, 9.0), Measurement(16, 5.0, 4.0, 8.0)), 2e-4, None, 64, unpacks=True, tied=True),
    ))

    def test_what_is_unpacked_keeps_no_dense_weight(self):
        self.assertEqual(self.unpacking.totals(), [(1, 8.0, 4.0), (16, 10.0, 12.0)])
        self.assertEqual([layer.bytes_in_use for layer in self.unpacking.layers], [240, 640])
        for words in ("unpacked above 1", "unpacked above 64  tied"):
            self.assertIn(words, str(self.unpacking))

    def test_a_report_leads_with_bytes_and_times(self):
        self.assertEqual(str(self.unpacking).splitlines()[:4],
                         ["weights take 8.8e-07 GB, before 8e-07 GB; 2 of 2 layers replaced", "1 tokens: 8.0 us dense, 4.0 us now, 2.00 x",
                          "16 tokens: 10.0 us dense, 12.0 us now, 0.83 x", ""])

    def test_totals_count_the_weights_of_the_tokens(self):
        weighted = Report(self.unpacking.layers, weights={1: 10, 16: 0.5})
        self.assertEqual(weighted.weighted_total(), (85.0, 46.0))
        self.assertIn("weighted (10 x 1, 0.5 x 16 tokens): 85.0 us dense, 46.0 us now, 1.85 x\n", str(weighted))
        self.assertIsNone(self.unpacking.weighted_total())
        self.assertNotIn("weighted", str(self.unpacking))

    def test_totals_are_of_what_the_model_does_now(self):
        self.assertEqual(self.report.totals(), [(1, 8.0, 4.0), (16, 15.0, 14.0)])
        self.assertEqual((self.report.replaced, self.report.dense_bytes, self.report.bytes_in_use), (2, 1600, 1680))

    def test_a_page_is_made_of_what_was_saved(self):
        with tempfile.TemporaryDirectory() as scratch:
            bundle = generate(scratch)
            layers = tuple(LayerReport(name, 20, 10, 0.7, 400, 240, (Measurement(16, 5.0, 4.0),), 2e-4, None) for name in ("up_proj", "gate_proj"))
            times, page = pathlib.Path(scratch) / "times.json", pathlib.Path(scratch) / "page.html"
            Report(layers, "NVIDIA H200").save(times)
            saved = json.loads(times.read_text())
            self.assertEqual((saved["format_version"], saved["kind"], saved["status"]), (1, "measured layers", "done"))
            up = saved["layers_by_name"]["up_proj.weight"]
            self.assertEqual((up["rows"], up["columns"], up["packed_bytes"]), (20, 10, 240))
            self.assertEqual(up["products"], [{"bcol": 16, "dense_microseconds": 5.0, "esc_microseconds": 4.0}])
            self.assertEqual(saved["layers"]["up_proj.weight"], {"kept": None, "dense_above": None, "products": [{"columns": 16, "dense_us": 5.0, "esc_us": 4.0}]})
            subprocess.run([ESCGEN, "report", bundle, "-o", page, "--measured", times], check=True, stdout=subprocess.DEVNULL)
            for words in ("Times were measured in a network on one NVIDIA H200", ">10.00</td>", ">8.00</td>", "not measured"):
                self.assertIn(words, page.read_text())

    def test_the_table_has_each_layer_and_its_reason(self):
        text = str(self.report)
        for words in ("up", "kept: dense is faster", "kept: its weight is not on a GPU", "dense above 1", "weights take 1.68e-06 GB, before 1.6e-06 GB; 2 of 4 layers replaced", "16 tokens: 15.0 us dense, 14.0 us now, 1.07 x"):
            self.assertIn(words, text)


if __name__ == "__main__":
    ESCGEN, MODEL = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
