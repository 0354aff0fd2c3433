#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of a build: the programs for any Linux with glibc 2.28 or newer, and the package `esc` for PyTorch.

A build with a CUDA toolkit has esctune-worker, too, which measures; it takes CUDA's libraries from a toolkit or from
NVIDIA's wheels.

    packaging/make_wheel.py build/release -o dist

`scripts/package.sh wheel` makes the build as well. The programs are linked once more: with static libraries, and with
stubs of glibc 2.28 (packaging/portable). For that, Debian's sources of oneTBB and fmt are compiled once for a build
tree. Beside the programs the wheel has Clang's headers, the CMake package, the shipped nests, the examples of the
pages, and what Debian says of the licences of what is linked. Nests that include <math.h>, as epilogues do, need the
headers of the C library on the machine that they are read on.
Exit status: 0 done; 2 bad usage; 3 something is missing on this machine.
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

from portable import link_program, made_archives, stub_libraries

PACKAGE = "esc_programs"
# The oldest C library that the programs run with.
GLIBC = "2.28"
TAG = f"py3-none-manylinux_{GLIBC.replace('.', '_')}_x86_64"
# What the wheel is made with, and the Debian package of it.
TOOLS = {"cmake": "cmake", "ninja": "ninja-build", "ld.lld": "lld", "objdump": "binutils", "dpkg-source": "dpkg-dev"}
PROGRAMS = ["escgen", "esctune"]
# What esctune measures with; it stands beside that one, and is no command.
WORKER = "esctune-worker"
ROOT = pathlib.Path(__file__).resolve().parent.parent
# The package `esc`, which needs PyTorch and nvcc where it is used.
FOR_PYTORCH = ROOT / "python" / "esc"
# What the README and the tutorial name.
EXAMPLES = ["docs/examples", "tests/data/digits/hidden.mtx"]
CUDA_WHEELS = ["nvidia-cublas ==13.*", "nvidia-cusparse ==12.*", "nvidia-cuda-nvrtc ==13.*", "nvidia-nvjitlink ==13.*"]
# Debian's packages of headers that the programs have code of, and of those that the wheel has itself.
HEADERS = ["nlohmann-json3-dev", "libcli11-dev", "libdtl-dev", "libclang-common-22-dev"]

MODULE = '''# SPDX-License-Identifier: Apache-2.0
"""The programs of ESC: escgen generates CUDA kernels for pruned matrices, esctune tunes them."""

import os
import sys


FOLDER = os.path.dirname(os.path.abspath(__file__))
# The CMake package: find_package(esc) finds it with -D esc_DIR=FOLDER.
CMAKE_FOLDER = os.path.join(FOLDER, "lib", "cmake", "esc")
# The files that the README and the tutorial name, below the paths that they have there.
EXAMPLES_FOLDER = os.path.join(FOLDER, "share", "esc", "examples")


def escgen():
    os.execv(os.path.join(FOLDER, "bin", "escgen"), ["escgen"] + sys.argv[1:])


def esctune():
    os.execv(os.path.join(FOLDER, "bin", "esctune"), ["esctune"] + sys.argv[1:])
'''


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def copy_licences(archives, folder):
    """What Debian says of the licences of what is linked, and of the headers."""
    folder.mkdir()
    owners = {made_archives.owner_of(archive.name) for archive in archives} | set(HEADERS)
    for archive in archives:
        if made_archives.owner_of(archive.name) is None:
            owners.add(owner_of(archive))
    for owner in sorted(owners - {None}):
        shutil.copyfile(f"/usr/share/doc/{owner}/copyright", folder / owner)


def owner_of(file):
    """The Debian package of a file, which may be known by its path from before /lib became a link."""
    for path in (file.resolve(), pathlib.Path("/") / file.resolve().relative_to("/usr")):
        found = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True, check=False).stdout
        if found:
            return found.split(":")[0]
    sys.exit(f"make_wheel: nothing is known of the licence of {file}")


def copy_clang_headers(llvm, folder):
    """Those that a loop nest may include; CUDA, OpenCL and the intrinsics of processors are no part of one."""
    folder.mkdir(parents=True)
    headers = sorted((llvm / "lib" / "clang").glob("*/include"))[-1]
    for header in headers.glob("*.h"):
        if re.match(r"(__)?std|float|limits|tgmath|iso646", header.name):
            shutil.copy2(header, folder / header.name)


def copy_installed(build, package, scratch):
    """The CMake package and the nests, where the installed tree has them."""
    subprocess.run(
        ["cmake", "--install", str(build), "--component", "programs", "--prefix", str(scratch)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    shutil.copytree(scratch / "lib" / "cmake", package / "lib" / "cmake")
    shutil.copytree(scratch / "share" / "esc", package / "share" / "esc")


def copy_examples(folder):
    for name in EXAMPLES:
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, copy)


def cached(build, variable):
    """What a variable of CMake's cache is in the build tree."""
    return re.search(rf"^{variable}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]


def gather(build, folder):
    """The programs below bin, and what they and CMake find below lib and share."""
    package = folder / PACKAGE
    (package / "bin").mkdir(parents=True)
    copy_installed(build, package, folder / "installed")
    copy_examples(package / "share" / "esc" / "examples")
    archives = build / "portable"
    compiler = cached(build, "CMAKE_CXX_COMPILER")
    made_archives.make_archives(compiler, archives)
    linker = link_program.Linker(build, archives, stub_libraries.make_stubs(compiler, GLIBC, archives / "stubs"))
    for program in PROGRAMS + [WORKER] * (build / "bin" / WORKER).is_file():
        linker.link(program, package / "bin" / program)
    copy_clang_headers(pathlib.Path(cached(build, "ESC_LLVM_DIR")), package / "lib" / "esc" / "clang" / "include")
    copy_licences(linker.taken, package / "licences")
    (package / "__init__.py").write_text(MODULE)
    return package


def write_wheel(package, version, licence, target):
    """A zip of the package and its description; the same content gives the same bytes."""
    name = f"{PACKAGE}-{version}"
    about = f"{name}.dist-info"
    files = {
        str(path.relative_to(package.parent)): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file()
    }
    for path in sorted(FOR_PYTORCH.iterdir()):
        if path.is_file():
            files[f"{FOR_PYTORCH.name}/{path.name}"] = path.read_bytes()
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {PACKAGE.replace('_', '-')}\nVersion: {version}\n"
        "Summary: CUDA kernels made for pruned weight matrices: the programs escgen and esctune\n"
        "License: Apache-2.0, and those of the libraries that it brings along\nRequires-Python: >=3.8\n"
        "Provides-Extra: torch\nRequires-Dist: torch >=2.10 ; extra == 'torch'\n"
        "Provides-Extra: tune\n" + "".join(f"Requires-Dist: {wheel} ; extra == 'tune'\n" for wheel in CUDA_WHEELS)
    ).encode()
    files[f"{about}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    )
    files[f"{about}/entry_points.txt"] = (
        "[console_scripts]\n"
        + "".join(f"{p} = {PACKAGE}:{p}\n" for p in PROGRAMS)
        + f"\n[vllm.general_plugins]\nesc = {FOR_PYTORCH.name}.vllm:register\n"
    ).encode()
    files[f"{about}/LICENSE"] = licence.read_bytes()
    record = f"{about}/RECORD"
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    wheel = target / f"{name}-{TAG}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if "/bin/" in path else 0o644)) << 16
            archive.writestr(entry, content)
    return wheel


def missing_tools():
    """A line for each tool that this machine lacks."""
    lines = [
        f"{tool} is not on this machine; install it: apt-get install {package}"
        for tool, package in TOOLS.items()
        if shutil.which(tool) is None
    ]
    if os.uname().machine != "x86_64":
        lines.append(f"the wheel is for x86-64, and this machine is {os.uname().machine}; make it on an x86-64 machine")
    return lines


def unfit(build):
    """Why no wheel can be made of the build tree; empty where one can."""
    for program in PROGRAMS:
        if not (build / "bin" / program).is_file():
            return f"{build}/bin has no {program}; build it first: cmake --build {build} --target {program}"
    if not (build / "build.ninja").is_file():
        return f"{build} is not built by Ninja; configure it with a preset: cmake --preset release"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build tree, as in build/release")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("dist"), help="folder of the wheel")
    line = parser.parse_args()
    missing = missing_tools()
    if missing:
        print("\n".join(f"make_wheel: {problem}" for problem in missing), file=sys.stderr)
        return 3
    problem = unfit(line.build)
    if problem:
        print(f"make_wheel: {problem}", file=sys.stderr)
        return 2
    line.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            package = gather(line.build.resolve(), pathlib.Path(scratch))
        except made_archives.Unreachable as reason:
            print(
                f"make_wheel: Debian's sources of oneTBB and fmt are needed once for a build tree: {reason}; let "
                "apt-get reach Debian's repositories (apt-get update), or take the folder `portable` of another tree",
                file=sys.stderr,
            )
            return 3
        version = output_of(str(line.build / "bin" / "escgen"), "--version").split()[1]
        wheel = write_wheel(package, version, ROOT / "LICENSE", line.output)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
