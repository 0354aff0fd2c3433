# SPDX-License-Identifier: Apache-2.0
"""llama_bench.py DIR: a Llama of Hugging Face with the weights of a bundle (make_llama.py), dense and with its kernels: logits beside each other, tokens per
second in a CUDA graph, and what the operator costs beside the bare call. Needs a GPU, PyTorch and transformers; compile the bundle before
(python -m esc build DIR)."""

import ctypes
import pathlib
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import esc  # noqa: E402
from esc.measure import _graph_of, _microseconds  # noqa: E402


def llama_of(bundle):
    """A model with the bundle's weights, which are its products of the identity, and random ones elsewhere."""
    layers = 1 + max(int(name.split(".")[2]) for name in bundle.layers)
    config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=layers, num_attention_heads=32, num_key_value_heads=4,
                         vocab_size=32000)
    torch.manual_seed(1)
    model = LlamaForCausalLM(config).to(bundle.dtype).cuda().eval()
    parameters = dict(model.named_parameters())
    for name, facts in bundle.layers.items():
        bundle.prepare(name)
        identity = torch.eye(facts.k, device="cuda", dtype=bundle.dtype)
        with torch.no_grad():
            parameters[name].copy_(torch.ops.esc.linear(identity, bundle.number(name)).T)
    return model


def difference(found, expected):
    return ((found.float() - expected.float()).norm() / expected.float().norm()).item()


def host_microseconds(call, calls=2000):
    """What a call takes of the host's time, without waiting for the GPU."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    spent = time.perf_counter() - begin
    torch.cuda.synchronize()
    return spent / calls * 1e6


def print_operator_costs(bundle, name, tokens):
    facts, number, layer = bundle.layers[name], bundle.number(name), bundle._pointers[name]
    multiply = getattr(ctypes.CDLL(str(bundle.facts.library)), f"{bundle.facts.name}_multiply")
    multiply.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p]
    x = torch.randn(tokens, facts.k, device="cuda", dtype=bundle.dtype)
    y = torch.empty(tokens, facts.m, device="cuda", dtype=bundle.dtype)
    dense = torch.nn.Linear(facts.k, facts.m, bias=False, device="cuda", dtype=bundle.dtype)

    def bare():
        stream = torch.cuda.current_stream().cuda_stream
        assert multiply(bundle._opened, layer, x.data_ptr(), facts.k, y.data_ptr(), facts.m, tokens, stream) == 0

    def operator():
        torch.ops.esc.linear(x, number)

    graphs = [_graph_of(bare), _graph_of(operator)]
    in_graph = [min(times) for times in zip(*([_microseconds(graph) for graph in graphs] for _ in range(5)))]
    print(f"{name}, {tokens} tokens: in a graph {in_graph[0]:.2f} us bare, {in_graph[1]:.2f} by the operator; host {host_microseconds(operator):.1f} us, "
          f"nn.Linear {host_microseconds(lambda: dense(x)):.1f}")


@torch.no_grad()
def main():
    bundle = esc.Model(sys.argv[1])
    model = llama_of(bundle)

    def logits(tokens):
        return model(input_ids=tokens, use_cache=False).logits

    inputs = {size: torch.randint(0, 32000, size, device="cuda") for size in ((1, 1), (16, 1), (1, 256))}
    dense = {size: logits(tokens).clone() for size, tokens in inputs.items()}
    dense_times = {size: _microseconds(_graph_of(lambda: logits(tokens))) for size, tokens in inputs.items()}
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    print(esc.replace_linear(model, sys.argv[1]))
    for size, tokens in inputs.items():
        found, microseconds = logits(tokens), _microseconds(_graph_of(lambda: logits(tokens)))
        count = size[0] * size[1]
        print(f"{size[0]} sequences of {size[1]} tokens: {count * 1e6 / dense_times[size]:.0f} tokens a second dense, {count * 1e6 / microseconds:.0f} "
              f"with the bundle's kernels ({dense_times[size] / microseconds:.2f} x); logits differ by {difference(found, dense[size]):.1e}, "
              f"{100 * (found.argmax(-1) == dense[size].argmax(-1)).float().mean().item():.1f} % have the same maximum")
    compiled = torch.compile(logits, fullgraph=True)(inputs[16, 1])
    print(f"compiled: logits differ by {difference(compiled, dense[16, 1]):.1e}")
    for name in ("model.layers.0.mlp.up_proj.weight", "model.layers.0.self_attn.k_proj.weight"):
        for tokens in (1, 16):
            print_operator_costs(bundle, name, tokens)


main()
