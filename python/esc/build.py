# SPDX-License-Identifier: Apache-2.0
"""Compiles a model bundle and the operator of PyTorch for it."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile

from .bundle import BundleError, read_bundle

OPERATOR = pathlib.Path(__file__).with_name("operator.cpp")
# The oldest PyTorch whose interface the operator uses: 2.10.
TORCH_TARGET = "0x020a000000000000"


def find_nvcc():
    """The path of nvcc. Raises BundleError where there is none."""
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc") or shutil.which("nvcc", path=str(pathlib.Path(cuda) / "bin"))
    if found is None:
        raise BundleError("nvcc: is neither in PATH nor in CUDA_HOME; install the CUDA toolkit, or name its folder by CUDA_HOME")
    return found


def torch_flags():
    """What compiling and linking against the installed PyTorch needs. Raises BundleError where there is none."""
    try:
        import torch
        from torch.utils import cpp_extension
    except ImportError as problem:
        raise BundleError(f"torch: cannot be imported: {problem}; install PyTorch 2.10 or newer") from None
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 10):
        raise BundleError(f"torch: is {torch.__version__}; the operator needs PyTorch 2.10 or newer")
    libraries = cpp_extension.library_paths()
    return (
        [f"-I{path}" for path in cpp_extension.include_paths()]
        + [f"-DTORCH_TARGET_VERSION={TORCH_TARGET}", "-DUSE_CUDA"]
        + [f"-L{path}" for path in libraries]
        + [flag for path in libraries for flag in ("-Xlinker", "-rpath", "-Xlinker", path)]
        + ["-ltorch", "-ltorch_cpu", "-ltorch_cuda", "-lc10"]
    )


def compile_with(nvcc, *arguments):
    command = [nvcc, "-O3", "-std=c++17", "-Xcompiler", "-fPIC", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise BundleError(f"nvcc: failed with status {run.returncode}:\n{run.stderr.strip()}\ncommand: {' '.join(command)}")


def build(folder, architectures=None, jobs=None, with_operator=True, progress=lambda done, files: None):
    """Compiles the bundle in `folder`, for `architectures` such as sm_90 (its own where none is named), and the operator. They are in the
    folder FOLDER.build when all is done, and not before. `progress` gets how many of how many files are compiled, first none. Returns the facts of the
    bundle. Raises BundleError."""
    facts = read_bundle(folder)
    nvcc = find_nvcc()
    flags = torch_flags() if with_operator else None
    # With the features that a compute capability alone has, where kernels use such.
    compiled = ["sm_90a" if name == "sm_90" else name for name in architectures or facts.architectures]
    targets = [f"-gencode=arch=compute_{name.removeprefix('sm_')},code={name}" for name in compiled]
    facts.build_folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".esc-", dir=facts.build_folder) as scratch:
        scratch = pathlib.Path(scratch)
        sources = sorted([*facts.folder.glob("*.cu"), *facts.folder.glob("*.cpp")])
        objects = [scratch / (source.name + ".o") for source in sources]
        with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            work = [pool.submit(compile_with, nvcc, *targets, "-c", source, "-o", made) for source, made in zip(sources, objects)]
            if with_operator:
                header = facts.folder / f"{facts.name}.h"
                work.append(pool.submit(compile_with, nvcc, f'-DESC_BUNDLE_HEADER="{header}"', "-shared", OPERATOR, "-o",
                                        scratch / facts.operator.name, *flags))
            progress(0, len(work))
            for done, job in enumerate(concurrent.futures.as_completed(work), start=1):
                job.result()
                progress(done, len(work))
        compile_with(nvcc, *targets, "-shared", *objects, "-o", scratch / facts.library.name)
        for path in (facts.library, facts.operator) if with_operator else (facts.library,):
            os.replace(scratch / path.name, path)
    return facts
