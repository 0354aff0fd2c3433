#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a pruned model for docs/tutorial.md: two layers, of whose weights the smallest are zero.

    prune.py MODEL.npz [--zeros 0.7] [--scale 1]

Beside MODEL.npz stand x.bin, an input of 16 columns, and y.bin, what the network makes of it: relu(down * relu(up * x)),
both float32, row by row. --scale multiplies the weights and leaves the zeros where they are.
"""

import argparse
import pathlib

import numpy

COLUMNS = 16


def pruned(weights, zeros):
    """The weights without the share of them that is smallest in magnitude."""
    least = numpy.quantile(numpy.abs(weights), zeros)
    return numpy.where(numpy.abs(weights) < least, 0, weights).astype(numpy.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--zeros", type=float, default=0.7)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()

    random = numpy.random.default_rng(0)
    hidden, width = 512, 256
    up = arguments.scale * pruned(random.standard_normal((hidden, width)) / width**0.5, arguments.zeros)
    down = arguments.scale * pruned(random.standard_normal((width, hidden)) / hidden**0.5, arguments.zeros)
    numpy.savez(arguments.model, **{"up.weight": up.astype(numpy.float32), "down.weight": down.astype(numpy.float32)})

    x = random.standard_normal((width, COLUMNS)).astype(numpy.float32)
    y = numpy.maximum(down.astype(float) @ numpy.maximum(up.astype(float) @ x, 0), 0)
    x.tofile(arguments.model.with_name("x.bin"))
    y.astype(numpy.float32).tofile(arguments.model.with_name("y.bin"))


main()
