# SPDX-License-Identifier: Apache-2.0
"""The wheel of a build tree: wheel_test.py BUILD.

It needs no newer C library than its name says, and its programs and its CMake package work wherever it is unpacked.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
BUILD = pathlib.Path(sys.argv.pop())
# The libraries that every machine has which the wheel is for, and those of CUDA, which esctune-worker finds elsewhere.
PROMISED = {"libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
CUDA = {"libnvrtc.so.13", "libcublasLt.so.13", "libcusparse.so.12"}
PROJECT = """cmake_minimum_required(VERSION 3.19)
project(app LANGUAGES NONE)
find_package(esc 0.1 REQUIRED)
get_target_property(escgen esc::escgen IMPORTED_LOCATION)
execute_process(COMMAND ${escgen} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
if(NOT COMMAND esc_add_kernels)
  message(FATAL_ERROR "there is no esc_add_kernels")
endif()
message(STATUS "found ${version}")
"""


def run(*command, **options):
    """Runs it, which must succeed; what it printed."""
    result = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if result.returncode != 0:
        raise AssertionError(f"{command} ends with status {result.returncode}:\n{result.stdout}")
    return result.stdout


def unpack(wheel, folder):
    """As pip does: programs may be run."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            os.chmod(archive.extract(entry, folder), entry.external_attr >> 16)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        made = subprocess.run(
            [sys.executable, ROOT / "packaging" / "make_wheel.py", BUILD, "-o", cls.folder / "dist"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if made.returncode == 3:
            print(f"skipped: {made.stdout}")
            sys.exit(SKIPPED)
        if made.returncode != 0:
            raise AssertionError(made.stdout)
        (cls.wheel,) = (cls.folder / "dist").glob("*.whl")
        unpack(cls.wheel, cls.folder / "unpacked")
        cls.programs = cls.folder / "unpacked" / "esc_programs" / "bin"
        # Without what the build has in the environment.
        cls.environment = {
            "PATH": f"{cls.programs}:/usr/bin:/bin",
            "PYTHONPATH": str(cls.folder / "unpacked"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_there(self, *command):
        return run(*command, cwd=self.folder, env=self.environment)

    def test_programs_need_no_newer_c_library_than_the_name_says(self):
        promised = re.search(r"-manylinux_(\d+)_(\d+)_x86_64\.whl$", self.wheel.name)
        newest = (int(promised[1]), int(promised[2]))
        for program in sorted(self.programs.iterdir()):
            asked = {
                tuple(map(int, version.split(".")))
                for version in re.findall(r"GLIBC_([\d.]+)", run("objdump", "-T", program))
            }
            self.assertLessEqual(max(version[:2] for version in asked), newest, program.name)
            needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", program)))
            self.assertLessEqual(needed, PROMISED | (CUDA if program.name == "esctune-worker" else set()), program.name)

    def test_a_kernel_is_generated_and_verified(self):
        self.run_there("escgen", "sample", "-o", "layer.mtx", "--rows", "24", "--cols", "40")
        said = self.run_there("escgen", "generate", "layer.mtx", "--bcol", "16", "-o", "bundles")
        self.assertIn("verified   by emulation", said)
        self.assertIn("passed by emulation", self.run_there("escgen", "verify", "bundles/layer"))

    def test_a_bad_matrix_is_refused_with_a_reason(self):
        (self.folder / "bad.mtx").write_text("no matrix\n")
        result = subprocess.run(
            ["escgen", "generate", "bad.mtx", "--bcol", "16", "-o", "bundles"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("bad.mtx", result.stderr)

    def test_esctune_runs(self):
        self.assertTrue(self.run_there("esctune", "--version").startswith("esctune "))

    def test_examples_stand_where_the_pages_look_for_them_and_nothing_is_overwritten(self):
        command = [sys.executable, "-m", "esc", "examples", "pages"]
        self.run_there(*command)
        for name in ("docs/examples/prune.py", "docs/examples/mlp/CMakeLists.txt", "tests/data/digits/hidden.mtx"):
            self.assertEqual((self.folder / "pages" / name).read_bytes(), (ROOT / name).read_bytes(), name)
        again = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False)
        self.assertEqual(again.returncode, 2)

    def test_cmake_finds_it_where_python_says(self):
        folder = self.run_there(sys.executable, "-m", "esc", "--cmake-dir").strip()
        (self.folder / "app").mkdir()
        (self.folder / "app" / "CMakeLists.txt").write_text(PROJECT)
        self.assertIn("found escgen ", self.run_there("cmake", "-S", "app", "-B", "app/build", f"-Desc_DIR={folder}"))


if __name__ == "__main__":
    unittest.main()
