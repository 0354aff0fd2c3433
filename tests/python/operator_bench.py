# SPDX-License-Identifier: Apache-2.0
"""operator_bench.py DIR [LAYER..]: what esc::linear costs beside the bare call of a bundle's function, in a CUDA graph and of the host's time, and beside
nn.Linear. Needs a GPU and PyTorch; compile the bundle before (python -m esc build DIR)."""

import ctypes
import pathlib
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import esc  # noqa: E402
from esc.build import compile_with, find_nvcc  # noqa: E402
from esc.measure import graph_of, microseconds  # noqa: E402

# Calls without Python between them.
REPEAT = """
#include <cstdint>
typedef int (*multiply)(const void*, const void*, const void*, int64_t, void*, int64_t, const void*, int32_t, void*);
extern "C" int repeat(int calls, multiply call, const void* layer, const void* placed, const void* b, int64_t ldb, void* c, int64_t ldc, int32_t n, void* stream) {
  int status = 0;
  for (int at = 0; at < calls && status == 0; ++at) status = call(layer, placed, b, ldb, c, ldc, nullptr, n, stream);
  return status;
}
"""
# Fewer than a stream takes before a launch waits.
CALLS = 300


def load_repeat(folder):
    source, library = pathlib.Path(folder) / "repeat.cpp", pathlib.Path(folder) / "librepeat.so"
    source.write_text(REPEAT)
    compile_with(find_nvcc(), "-shared", source, "-o", library)
    function = ctypes.CDLL(str(library)).repeat
    function.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4 + [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p]
    return function


def host_microseconds(many_calls):
    """What one of the calls takes of the host's time, without waiting for the GPU: the best of several rounds."""
    best = float("inf")
    for _ in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        many_calls()
        best = min(best, time.perf_counter() - begin)
    torch.cuda.synchronize()
    return best / CALLS * 1e6


def times(call):
    def many():
        for _ in range(CALLS):
            call()

    return host_microseconds(many)


@torch.no_grad()
def compare(bundle, repeat, name, tokens):
    facts, number, packed = bundle.layers[name], bundle.number(name), bundle.place(name)
    multiply = ctypes.cast(getattr(ctypes.CDLL(str(bundle.facts.library)), f"{bundle.facts.name}_multiply_placed"), ctypes.c_void_p)
    dense = torch.nn.Linear(facts.k, facts.m, bias=False, device="cuda", dtype=bundle.dtype)
    layer = esc.EscLinear(bundle, name, dense)
    x = torch.randn(tokens, facts.k, device="cuda", dtype=bundle.dtype)
    y = torch.empty(tokens, facts.m, device="cuda", dtype=bundle.dtype)

    def bare(calls=1):
        status = repeat(calls, multiply, bundle._pointers[name], packed.data_ptr(), x.data_ptr(), facts.k, y.data_ptr(), facts.m, tokens,
                        torch.cuda.current_stream().cuda_stream)
        assert status == 0

    def operator():
        return torch.ops.esc.linear.default(x, packed, number)

    graphs = [graph_of(bare), graph_of(operator)]
    in_graph = [min(rounds) for rounds in zip(*([microseconds(graph) for graph in graphs] for _ in range(5)))]
    print(f"{name}, {tokens} tokens: in a graph {in_graph[0]:.2f} us bare, {in_graph[1]:.2f} by the operator; host {host_microseconds(lambda: bare(CALLS)):.1f} us "
          f"bare, {times(operator):.1f} by the operator, {times(lambda: layer(x)):.1f} by EscLinear, {times(lambda: dense(x)):.1f} by nn.Linear")


def main():
    bundle = esc.Model(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        repeat = load_repeat(folder)
        for name in sys.argv[2:] or bundle.layers:
            for tokens in bundle.layers[name].bcols:
                compare(bundle, repeat, name, tokens)


main()
