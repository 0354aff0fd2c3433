# SPDX-License-Identifier: Apache-2.0
"""python -m esc build DIR: compiles a model bundle for PyTorch."""

import argparse
import sys

from .bundle import BundleError
from .build import build


def main():
    parser = argparse.ArgumentParser(prog="python -m esc", description="Kernels of pruned layers in PyTorch.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="compile a model bundle and the operator for it")
    command.add_argument("folder", help="the folder that `escgen generate MODEL --layout nk` wrote")
    command.add_argument("--arch", action="append", metavar="sm_90", help="architecture to compile for (repeatable; default: the bundle's)")
    command.add_argument("--jobs", type=int, help="files that are compiled at once (default: as many as there are cores)")
    arguments = parser.parse_args()
    try:
        facts = build(arguments.folder, arguments.arch, arguments.jobs)
    except BundleError as problem:
        print(f"esc: {problem}", file=sys.stderr)
        return 2
    print(f"{len(facts.layers)} layers of {facts.name} in {facts.build_folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
