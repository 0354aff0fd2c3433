# SPDX-License-Identifier: Apache-2.0
"""The example of docs/guide/pytorch.md with a Llama of one layer: llama_test.py ESCGEN. Ends with status 77, skipped, where PyTorch, transformers, numpy or a GPU are
not there."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"


def main():
    for package in ("torch", "transformers", "numpy"):
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {package} is not installed")
            return 77
    import torch

    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for command in (
            [sys.executable, EXAMPLES / "make_llama.py", "llama.safetensors", "1", "0.7"],
            [sys.argv[1], "generate", "llama.safetensors", "--layout", "nk", "--dtype", "f16", "--bcol", "1,16", "--gpu", "h200", "-o", "kernels"],
            [sys.executable, "-m", "esc", "build", "kernels/llama"],
            [sys.executable, EXAMPLES / "llama.py", "kernels/llama"],
        ):
            subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    return 0


sys.exit(main())
