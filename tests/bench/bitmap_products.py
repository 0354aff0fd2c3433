#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the products of family bitmap that tests/data/times/sm90-132sm-60mib_bitmap_products.txt has, anew.

    bitmap_products.py make build/release/bin/escgen OUT [--least COLUMNS]   # where escgen is
    bitmap_products.py measure OUT COLD_PRODUCTS > measured.txt              # on an H200 with nvcc

`make` writes a bundle into OUT for each product of uniform zeros with at least so many columns of B (1), with the
schedule that escgen takes, and the jobs of tests/bench/cold_products.cu. `measure` compiles them and prints the lines
of the file with today's times of ours, and with the dense ones that it has.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parents[2] / "tests/data/times/sm90-132sm-60mib_bitmap_products.txt"
COMPILE = "nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -cudart shared -shared -Xcompiler -fPIC"


def products(least):
    """The words of each line that is measured anew: rows columns zeros mask type layout bcol ours dense plain."""
    lines = (line.split() for line in RECORD.read_text().splitlines() if not line.startswith("#"))
    return [words for words in lines if words[3] == "uniform" and int(words[6]) >= least]


def name_of(words):
    return "b_" + "_".join(words[:3] + words[4:7])


def quietly(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make(arguments):
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True)
    jobs = []
    with tempfile.TemporaryDirectory() as folder:
        for words in products(arguments.least):
            rows, columns, zeros, _, dtype, layout, bcol = words[:7]
            matrix = pathlib.Path(folder) / f"{rows}x{columns}_{zeros}.npy"
            if not matrix.exists():
                quietly(arguments.escgen, "sample", "--rows", rows, "--cols", columns, "--sparsity",
                        str(int(zeros) / 100), "-o", matrix)
            name = name_of(words)
            made = pathlib.Path(folder) / name
            quietly(arguments.escgen, "generate", matrix, "--name", name, "--dtype", dtype, "--layout", layout,
                    "--bcol", bcol, "--schedule", "bitmap", "--gpu", "h200", "--no-verify", "-o", made)
            for file in (f"{name}.cu", f"{name}.h", f"{name}_transformer.cpp"):
                shutil.copy(made / name / file, out)
            shutil.rmtree(made)
            jobs.append(f"{name} ./{name}.so uniform:{zeros} {name} {rows} {columns} {dtype} {layout} {bcol}")
    # Of one matrix one after the other: it is drawn once.
    (out / "jobs").write_text("\n".join(sorted(jobs)) + "\n")


def measure(arguments):
    def compiled(job):
        name = job.split()[0]
        command = COMPILE.split() + ["-o", f"{name}.so", f"{name}.cu", f"{name}_transformer.cpp"]
        subprocess.run(command, cwd=arguments.out, check=True, stderr=subprocess.DEVNULL)

    jobs = (pathlib.Path(arguments.out) / "jobs").read_text().splitlines()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, jobs))
    program = str(pathlib.Path(arguments.program).resolve())
    text = subprocess.run([program, "--alone", "jobs"], cwd=arguments.out, check=True, capture_output=True, text=True)
    times = {line.split()[0]: line.split() for line in text.stdout.splitlines()}
    for words in products(1):
        measured = times.get(name_of(words))
        if measured is not None:
            ours, plain = (measured[measured.index(which) + 1] for which in ("ours", "plain"))
            print(*words[:7], ours, words[8], plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("escgen")
    making.add_argument("out")
    making.add_argument("--least", type=int, default=1)
    making.set_defaults(run=make)
    measuring = commands.add_parser("measure")
    measuring.add_argument("out")
    measuring.add_argument("program")
    measuring.set_defaults(run=measure)
    arguments = parser.parse_args()
    arguments.run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
