# SPDX-License-Identifier: Apache-2.0
"""llama.py DIR: a Llama of Hugging Face with the pruned weights of a bundle (make_llama.py), dense and with the bundle's kernels: logits beside
each other, and tokens per second, generated one after another and in CUDA graphs. Needs a GPU, PyTorch and transformers; compile the bundle
before (python -m esc build DIR). Ends with status 1 where logits differ by more than rounding, with 77 where something is not there."""

import pathlib
import sys
import time

try:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import esc  # noqa: E402
from esc.measure import graph_of, microseconds  # noqa: E402

VOCABULARY = 32000
LARGEST_DIFFERENCE = 1e-2  # of logits, after some tens of products of 16 bits
NEW_TOKENS = 64


def llama_of(bundle):
    """A model with the bundle's weights, which are its products of the identity, and random ones elsewhere."""
    layers = 1 + max(int(name.split(".")[2]) for name in bundle.layers)
    config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=layers, num_attention_heads=32, num_key_value_heads=4,
                         vocab_size=VOCABULARY)
    torch.manual_seed(1)
    model = LlamaForCausalLM(config).to(bundle.dtype).cuda().eval()
    parameters = dict(model.named_parameters())
    for name, facts in bundle.layers.items():
        identity = torch.eye(facts.k, device="cuda", dtype=bundle.dtype)
        parameters[name].data.copy_(torch.ops.esc.linear(identity, bundle.place(name), bundle.number(name)).T)
    return model


def difference(found, expected):
    return ((found.float() - expected.float()).norm() / expected.float().norm()).item()


def logits_of(model, tokens):
    return model(input_ids=tokens, use_cache=False).logits


def generate(model, prompt):
    """(tokens, seconds) of a continuation of the prompt, with a cache of keys and values, without a graph: the best of several runs, of which
    the first ones load the libraries' kernels."""
    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, pad_token_id=0, max_new_tokens=NEW_TOKENS,
                                min_new_tokens=NEW_TOKENS)
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return tokens, best


def run(model, inputs, prompts):
    """What is compared: logits and microseconds of a step in a graph by the inputs, and (tokens, seconds) by the prompts."""
    steps = {size: (logits_of(model, tokens).clone(), microseconds(graph_of(lambda: logits_of(model, tokens)))) for size, tokens in inputs.items()}
    return steps, {size: generate(model, prompt) for size, prompt in prompts.items()}


@torch.no_grad()
def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 77
    model = llama_of(esc.Model(sys.argv[1]))
    inputs = {size: torch.randint(VOCABULARY, size, device="cuda") for size in ((1, 1), (16, 1), (1, 256))}
    prompts = {count: torch.randint(VOCABULARY, (count, 8), device="cuda") for count in (1, 16)}
    dense_steps, dense_texts = run(model, inputs, prompts)
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    print(esc.replace_linear(model, sys.argv[1]))
    steps, texts = run(model, inputs, prompts)

    worst = 0.0
    for size, (found, now) in steps.items():
        expected, before = dense_steps[size]
        worst = max(worst, difference(found, expected))
        count = size[0] * size[1]
        print(f"in a graph, {size[0]} x {size[1]} tokens: {count * 1e6 / before:.0f} tokens a second dense, {count * 1e6 / now:.0f} with the bundle's kernels "
              f"({before / now:.2f} x); logits differ by {difference(found, expected):.1e}, "
              f"{100 * (found.argmax(-1) == expected.argmax(-1)).float().mean().item():.1f} % have the same maximum")
    for count, (found, now) in texts.items():
        expected, before = dense_texts[count]
        print(f"generated, {count} sequences of {NEW_TOKENS} tokens: {count * NEW_TOKENS / before:.0f} tokens a second dense, {count * NEW_TOKENS / now:.0f} with the "
              f"bundle's kernels ({before / now:.2f} x); {100 * (found == expected)[:, 8:].float().mean().item():.1f} % of the tokens are the same")
    compiled = torch.compile(lambda tokens: logits_of(model, tokens), fullgraph=True)(inputs[16, 1])
    worst = max(worst, difference(compiled, dense_steps[16, 1][0]))
    print(f"compiled: logits differ by {difference(compiled, dense_steps[16, 1][0]):.1e}")
    return 0 if worst <= LARGEST_DIFFERENCE else 1


sys.exit(main())
