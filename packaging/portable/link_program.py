# SPDX-License-Identifier: Apache-2.0
"""Links a program of a build tree once more, for older C libraries.

Static libraries take the place of the shared ones, and stubs that of the C library.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Too large to bring along, and on every machine that something is measured on: in NVIDIA's wheels, which PyTorch's ask
# for, or in a toolkit.
CUDA = re.compile(r"^lib(cuda|cublas|cublasLt|cusparse|nvrtc|nvJitLink)\.so")
CUDA_FOLDERS = ["$ORIGIN/../../nvidia/cu13/lib", "/usr/local/cuda/lib64"]
SHARED = re.compile(r"^(?P<name>lib.+?)\.so[.0-9]*$")
# Debian's shared libraries that stand for many archives each. The linker takes what is needed out of them.
MANY = {"libclang-cpp": "libclang*.a", "libLLVM": "libLLVM*.a"}
# What LLVM's archives need, which the shared library loads by itself.
OF_LLVM = ["libz", "libzstd"]


class Linker:
    """How programs of a build tree are linked: the C library's stubs, what it lacks, and the archives made for this."""

    def __init__(self, build, archives, stubs):
        self.build, self.archives, self.stubs = build, archives, stubs
        self.compiler = self.command_of("escgen")[0]
        self.lacking = archives / "older_glibc.o"
        self.taken = set()
        subprocess.run(
            [
                self.compiler,
                "-x",
                "c",
                "-c",
                "-O2",
                "-fPIC",
                "-Wno-deprecated-declarations",
                HERE / "older_glibc.c",
                "-o",
                self.lacking,
            ],
            check=True,
        )

    def command_of(self, program):
        """The command that Ninja links the program with."""
        lines = subprocess.run(
            ["ninja", "-C", self.build, "-t", "commands", f"bin/{program}"], check=True, capture_output=True, text=True
        )
        command = shlex.split(lines.stdout.splitlines()[-1])
        return command[command.index("&&") + 1 : -2] if command[0] == ":" else command

    def path_of(self, library):
        """Where the compiler finds a library."""
        found = subprocess.run(
            [self.compiler, f"-print-file-name={library}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        return pathlib.Path(found) if os.path.isabs(found) else None

    def archive(self, name):
        """The archive of a library: one made for this, or one that the machine has."""
        made = self.archives / f"{name}.a"
        found = made if made.is_file() else self.path_of(f"{name}.a")
        if found is None:
            sys.exit(
                f"make_wheel: there is no static {name}.a; install the Debian package that has it (apt-file tells)"
            )
        self.taken.add(found)
        return str(found)

    def in_place_of(self, argument):
        """What stands for an argument of the command of the build tree."""
        if argument.startswith("-Wl,-rpath"):
            return []
        if argument.startswith("-l"):
            return [self.archive(f"lib{argument[2:]}")]
        path = pathlib.Path(argument)
        shared = SHARED.match(path.name)
        if shared is None or CUDA.match(path.name):
            return [argument]
        if shared["name"] in MANY:
            many = sorted(path.parent.glob(MANY[shared["name"]]))
            self.taken.add(many[0])
            return [*map(str, many), *(map(self.archive, OF_LLVM) if shared["name"] == "libLLVM" else [])]
        return [self.archive(shared["name"])]

    def link(self, program, target):
        """Writes the program, without symbols; what it asks of the C library is what the stubs have."""
        command = self.command_of(program)
        command[command.index("-o") + 1] = str(target.resolve())
        linked = [part for argument in command for part in self.in_place_of(argument)]
        if any(CUDA.match(pathlib.Path(part).name) for part in linked):
            # What CUDA's own libraries ask for is theirs to find.
            linked += ["-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{':'.join(CUDA_FOLDERS)}"]
        *stubs, loader = map(str, self.stubs)
        subprocess.run(
            [
                *linked,
                str(self.lacking),
                "-fuse-ld=lld",
                "-Wl,--wrap=__libc_start_main,--gc-sections,--strip-all",
                "-nodefaultlibs",
                *map(self.archive, ("libstdc++", "libgcc_eh", "libgcc", "libc_nonshared")),
                "-Wl,--no-as-needed",
                *stubs,
                "-Wl,--as-needed",
                loader,
            ],
            cwd=self.build,
            check=True,
        )
