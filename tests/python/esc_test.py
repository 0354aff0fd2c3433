# SPDX-License-Identifier: Apache-2.0
"""The Python package as far as it needs neither PyTorch nor a GPU: esc_test.py ESCGEN MODEL."""

import ctypes
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
from esc.build import build  # noqa: E402
from esc.bundle import digests_of  # noqa: E402
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


class Reports(unittest.TestCase):
    report = Report((
        LayerReport("up", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0), Measurement(16, 5.0, 4.0)), 2e-4, None),
        LayerReport("gate", 20, 10, 0.5, 400, 380, (Measurement(16, 5.0, 6.0),), 2e-4, "dense is faster"),
        LayerReport("down", 10, 20, 0.7, 400, 240, (), None, "its weight is not on a GPU"),
        LayerReport("both", 20, 10, 0.7, 400, 240, (Measurement(1, 4.0, 2.0), Measurement(16, 5.0, 7.0)), 2e-4, None, 1),
    ))

    def test_totals_are_of_what_the_model_does_now(self):
        self.assertEqual(self.report.totals(), [(1, 8.0, 4.0), (16, 15.0, 14.0)])
        self.assertEqual((self.report.replaced, self.report.dense_bytes, self.report.bytes_in_use), (2, 1600, 1680))

    def test_a_page_is_made_of_what_was_saved(self):
        with tempfile.TemporaryDirectory() as scratch:
            bundle = generate(scratch)
            layers = tuple(LayerReport(name, 20, 10, 0.7, 400, 240, (Measurement(16, 5.0, 4.0),), 2e-4, None) for name in ("up_proj", "gate_proj"))
            times, page = pathlib.Path(scratch) / "times.json", pathlib.Path(scratch) / "page.html"
            Report(layers, "NVIDIA H200").save(times)
            subprocess.run([ESCGEN, "report", bundle, "-o", page, "--measured", times], check=True, stdout=subprocess.DEVNULL)
            for words in ("Times were measured in a network on one NVIDIA H200", ">10.00</td>", ">8.00</td>", "not measured"):
                self.assertIn(words, page.read_text())

    def test_the_table_has_each_layer_and_its_reason(self):
        text = str(self.report)
        for words in ("up", "kept: dense is faster", "kept: its weight is not on a GPU", "dense above 1", "2 of 4 layers replaced; weights take 1680 bytes, before 1600", "16 tokens: 15.0 us dense, 14.0 us now, 1.07 x"):
            self.assertIn(words, text)


if __name__ == "__main__":
    ESCGEN, MODEL = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
