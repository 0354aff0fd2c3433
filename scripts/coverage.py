#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of the libraries have run: reads the counters that programs built by the preset coverage have left."""

import argparse
import collections
import glob
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")
LIBRARIES = ("generator", "transformer", "tuner")
# What only a GPU can run counts where there is one.
GPU_ROOMS = ("tuner/gpu", "tuner/worker")


def has_gpu():
    return bool(glob.glob("/dev/nvidia[0-9]*"))


def run_tool(name, *arguments):
    try:
        ended = subprocess.run([TOOLS / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit(f"error: there is no {TOOLS / name} here; scripts/setup.sh --tests installs it")
    for line in ended.stderr.splitlines():
        # Inline functions that a file has seen and not called: the files that call them have their counts.
        if not line.endswith("functions have mismatched data"):
            print(line, file=sys.stderr)
    if ended.returncode != 0:
        sys.exit(f"error: {name} ended with status {ended.returncode}; its reason is above")
    return ended.stdout


def executables(folder):
    with_counters = [path for path in sorted(folder.iterdir()) if path.is_file() and os.access(path, os.X_OK)]
    return with_counters or sys.exit(f"error: there are no programs in {folder}; run scripts/test.sh --coverage")


def counted_lines(build):
    """{file from the project's root: {line: how often it ran}} of the libraries."""
    counters = sorted((build / "profile").glob("*.profraw"))
    if not counters:
        sys.exit(f"error: no program has left counters in {build / 'profile'}; run scripts/test.sh --coverage")
    merged = build / "profile" / "all.profdata"
    run_tool("llvm-profdata", "merge", "--sparse", "-o", merged, *counters)
    programs = executables(build / "bin")
    objects = [argument for program in programs[1:] for argument in ("-object", program)]
    report = run_tool("llvm-cov", "export", "--format=lcov", f"--instr-profile={merged}", programs[0], *objects,
                      *(SOURCE / library for library in LIBRARIES))
    lines = collections.defaultdict(dict)
    for entry in report.splitlines():
        key, _, value = entry.partition(":")
        if key == "SF":
            file = os.path.relpath(value, SOURCE)
        elif key == "DA":
            line, count = value.split(",")[:2]
            lines[file][int(line)] = max(int(count), lines[file].get(int(line), 0))
    return lines


def room_of(file):
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def ranges(numbers):
    """[3, 4, 5, 9] as "3-5 9"."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def percentage(ran, all_lines):
    return 100 * ran / all_lines if all_lines else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the build tree of the preset coverage")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="fail where fewer of all lines ran")
    arguments = parser.parse_args()

    lines = counted_lines(arguments.build)
    rooms = collections.defaultdict(lambda: [0, 0])
    missing = arguments.build / "uncovered.txt"
    with open(missing, "w") as out:
        for file, counts in sorted(lines.items()):
            idle = sorted(line for line, count in counts.items() if count == 0)
            rooms[room_of(file)][0] += len(counts) - len(idle)
            rooms[room_of(file)][1] += len(counts)
            if idle:
                print(f"{file}: {ranges(idle)}", file=out)

    left_out = [] if has_gpu() else [room for room in GPU_ROOMS if room in rooms]
    counted = [room for room in sorted(rooms) if room not in left_out]
    total = [sum(rooms[room][at] for room in counted) for at in (0, 1)]
    print(f"{'room':<24}{'lines':>8}{'ran':>8}{'%':>8}")
    for name, (ran, all_lines) in [(room, rooms[room]) for room in counted] + [("all", total)]:
        print(f"{name:<24}{all_lines:>8}{ran:>8}{percentage(ran, all_lines):>8.1f}")
    for room in left_out:
        print(f"{room:<24}{rooms[room][1]:>8}{rooms[room][0]:>8}{'':>8}  not in the sum: there is no GPU here")
    print(f"What did not run, line by line, is in {missing}", file=sys.stderr)
    if percentage(*total) < arguments.at_least:
        sys.exit(f"error: {percentage(*total):.1f} % of the lines of the libraries ran; "
                 f"{arguments.at_least:g} % are asked for: test what {missing} names")


if __name__ == "__main__":
    main()
