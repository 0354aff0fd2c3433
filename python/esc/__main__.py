# SPDX-License-Identifier: Apache-2.0
"""python -m esc build DIR compiles a model bundle for PyTorch; python -m esc --cmake-dir says where CMake finds ESC."""

import argparse
import pathlib
import shutil
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


def programs():
    """The module of the wheel that has the programs. Raises BundleError where it is not there."""
    try:
        import esc_programs
    except ImportError:
        raise BundleError("the wheel esc_programs is not in this environment; pip install it, or take the source tree "
                          "and what `cmake --install` writes") from None
    return esc_programs


class CMakeFolder(argparse.Action):
    """Prints the folder of the CMake package, as --help prints its page."""

    def __call__(self, parser, namespace, values, option_string=None):
        try:
            print(programs().CMAKE_FOLDER)
        except BundleError as problem:
            parser.exit(2, f"esc: {problem}\n")
        parser.exit()


def copy_examples(target):
    """Copies the files that the README and the tutorial name below `target`; the names of those that are written."""
    source = pathlib.Path(programs().EXAMPLES_FOLDER)
    # What pip compiles where it installs is no example.
    files = sorted(path.relative_to(source) for path in source.rglob("*")
                   if path.is_file() and path.parent.name != "__pycache__")
    for name in files:
        if (target / name).exists():
            raise BundleError(f"{target / name}: is there already; name another folder, or take it away")
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
    return files


def build_bundle(arguments):
    """Compiles a bundle, with a bar; the line that says so."""
    progress = Progress(sys.stderr)
    try:
        facts = build(arguments.folder, arguments.arch, arguments.jobs, progress=progress)
    finally:
        progress.end()
    return f"{len(facts.layers)} layers of {facts.name} in {facts.build_folder}"


def main():
    parser = argparse.ArgumentParser(prog="python -m esc", description="Kernels of pruned layers in PyTorch.")
    parser.add_argument("--cmake-dir", action=CMakeFolder, nargs=0,
                        help="print the folder of the CMake package: cmake -D esc_DIR=$(python -m esc --cmake-dir)")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="compile a model bundle and the operator for it")
    command.add_argument("folder", help="the folder that `escgen generate MODEL --layout nk` wrote")
    command.add_argument("--arch", action="append", metavar="sm_90", help="architecture to compile for (repeatable; default: the bundle's)")
    command.add_argument("--jobs", type=int, help="files that are compiled at once (default: as many as there are cores)")
    command = commands.add_parser("examples", help="write the files that the README and the tutorial name")
    command.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(),
                         help="folder to write below, where the pages look for them (default: this one)")
    arguments = parser.parse_args()
    try:
        if arguments.command == "examples":
            line = "\n".join(str(arguments.folder / name) for name in copy_examples(arguments.folder))
        else:
            line = build_bundle(arguments)
    except BundleError as problem:
        print(f"esc: {problem}", file=sys.stderr)
        return 2
    print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
