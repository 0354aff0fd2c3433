# SPDX-License-Identifier: Apache-2.0
"""python -m esc build DIR compiles a model bundle for PyTorch; python -m esc --cmake-dir says where CMake finds ESC."""

import argparse
import sys
import time

from .bundle import BundleError
from .build import build


class Progress:
    """How many files are compiled, on standard error: one line that changes on a terminal, elsewhere a line at the beginning and at the end."""

    def __init__(self, stream):
        self.stream = stream
        self.begin = time.monotonic()
        self.is_open = False

    def __call__(self, done, files):
        line = f"esc: {done} of {files} files compiled, {time.monotonic() - self.begin:.0f} s"
        if self.stream.isatty():
            self.stream.write(f"\r{line}")
            self.is_open = True
        elif done in (0, files):
            self.stream.write(f"{line}\n")
        self.stream.flush()

    def end(self):
        """Ends the line, so that others may write."""
        if self.is_open:
            self.stream.write("\n")
            self.is_open = False


class CMakeFolder(argparse.Action):
    """Prints the folder of the CMake package, as --help prints its page."""

    def __call__(self, parser, namespace, values, option_string=None):
        try:
            from esc_programs import cmake_dir
        except ImportError:
            parser.exit(2, "esc: the CMake package is not in this environment; install the wheel esc_programs, "
                           "or `cmake --install` a build and name its prefix in CMAKE_PREFIX_PATH\n")
        print(cmake_dir())
        parser.exit()


def main():
    parser = argparse.ArgumentParser(prog="python -m esc", description="Kernels of pruned layers in PyTorch.")
    parser.add_argument("--cmake-dir", action=CMakeFolder, nargs=0,
                        help="print the folder of the CMake package: cmake -D esc_DIR=$(python -m esc --cmake-dir)")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="compile a model bundle and the operator for it")
    command.add_argument("folder", help="the folder that `escgen generate MODEL --layout nk` wrote")
    command.add_argument("--arch", action="append", metavar="sm_90", help="architecture to compile for (repeatable; default: the bundle's)")
    command.add_argument("--jobs", type=int, help="files that are compiled at once (default: as many as there are cores)")
    arguments = parser.parse_args()
    progress = Progress(sys.stderr)
    try:
        facts = build(arguments.folder, arguments.arch, arguments.jobs, progress=progress)
        progress.end()
    except BundleError as problem:
        progress.end()
        print(f"esc: {problem}", file=sys.stderr)
        return 2
    print(f"{len(facts.layers)} layers of {facts.name} in {facts.build_folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
