# SPDX-License-Identifier: Apache-2.0
"""Stubs of the C library as an older version of it has it, for a linker to link with.

They are made from the C library of this machine, which still has each symbol under the version that older programs ask
for. A stub has every symbol with the newest version that is no newer than the one wanted, and nothing behind it. What
is linked with the stubs asks for those versions; a symbol that is newer altogether is an error of the linker.
"""

import re
import subprocess

# In the order that a program loads them in: before 2.34, threads were no part of libc, which had weaker functions of
# the same names.
LIBRARIES = ["libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libc.so.6", "ld-linux-x86-64.so.2"]
# A line of objdump -T: flags, with F for functions and O for data, section, size, version (in brackets where it is not
# the default one) and name.
SYMBOL = re.compile(
    r"^[0-9a-f]+ (?P<flags>.{7}) (?P<section>\S+)\s+(?P<size>[0-9a-f]+) +\(?GLIBC_(?P<version>[0-9.]+)\)?\s+"
    r"(?P<name>\S+)$",
    re.M,
)


def number(version):
    """2.2.5 as (2, 2, 5), which compares as versions do."""
    return tuple(int(part) for part in version.split("."))


def symbols_of(library, newest):
    """The symbols by their names, each with the newest version that is no newer than `newest`."""
    table = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for symbol in SYMBOL.finditer(table):
        version, name = number(symbol["version"]), symbol["name"]
        if (
            symbol["section"] not in ("*UND*", "*ABS*")
            and version <= newest
            and (name not in found or version > number(found[name]["version"]))
        ):
            found[name] = symbol
    return found


def assembly_of(symbols):
    """What defines them; data as large as it is, because a program may copy it into itself."""
    lines = [".data"]
    for index, (name, symbol) in enumerate(sorted(symbols.items())):
        kind = "object" if "O" in symbol["flags"] else "function"
        size = int(symbol["size"], 16) if kind == "object" else 1
        lines += [
            ".balign 32",
            f".globl stub_{index}",
            f".type stub_{index}, @{kind}",
            f"stub_{index}: .zero {max(size, 1)}",
            f".size stub_{index}, {size}",
            f".symver stub_{index}, {name}@@GLIBC_{symbol['version']}, remove",
        ]
    return "\n".join(lines) + "\n"


def make_stubs(compiler, newest, folder):
    """Writes the stubs of version `newest` into the folder; gives their paths, in the order that they are linked in."""
    folder.mkdir(parents=True, exist_ok=True)
    stubs = []
    for name in LIBRARIES:
        library = subprocess.run(
            [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        symbols = symbols_of(library, number(newest))
        assembly, script, stub = folder / f"{name}.s", folder / f"{name}.map", folder / name
        assembly.write_text(assembly_of(symbols))
        versions = sorted({symbol["version"] for symbol in symbols.values()}, key=number)
        script.write_text("".join(f"GLIBC_{version} {{}};\n" for version in versions))
        subprocess.run(
            [
                compiler,
                "-shared",
                "-nostdlib",
                "-fuse-ld=lld",
                f"-Wl,-soname,{name}",
                f"-Wl,--version-script={script}",
                str(assembly),
                "-o",
                str(stub),
            ],
            check=True,
        )
        stubs.append(stub)
    return stubs
