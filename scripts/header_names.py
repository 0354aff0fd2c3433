#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the headers of a kernel and of a data-transformer call macros, and what they declare in the global namespace.

    scripts/header_names.py > generator/verify/header_names.txt

asks g++, nvcc and clang++ (ESC_CLANG), for the host and for devices, and adds what is in the list already and what other
systems define. Of the names only those are printed that a text could have of its own (generator/verify/own_names.h).
"""

import os
import re
import subprocess
import sys

CLANG = os.environ.get("ESC_CLANG", "/usr/lib/llvm-22/bin/clang++")
LIST = os.path.join(os.path.dirname(__file__), "../generator/verify/header_names.txt")

KERNEL = ["cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cudaTypedefs.h", "cuda_pipeline_primitives.h", "stdint.h"]
TRANSFORMER = ["stddef.h", "stdint.h", "stdio.h", "string.h"]

# A text's own names: own_names.cpp says the same.
OWN_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_?|[A-Z]([a-zA-Z0-9]*[a-z][a-zA-Z0-9]*)?")

# Macros of compilers for other machines and of other C libraries; words of C++ that no text needs, of later C++ and of C.
ELSEWHERE = """arm complex far hpux huge i386 imaginary interface linux m68k major makedev mips minor near noreturn pascal
pixel pyr restrict sgi small sparc sun typeof ultrix unix vax vector
and and_eq asm bitand bitor catch char8_t co_await co_return co_yield compl concept const_cast consteval constinit delete
dynamic_cast export extern friend import module mutable namespace new not not_eq or or_eq register requires
thread_local throw try typeid virtual xor xor_eq
isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered fpclassify signbit
I max min errno environ setjmp sigsetjmp va_arg va_copy va_end va_start""".split()

# Declarations whose name matters, and what a dump of clang++ has beside it.
NAMING = ("FunctionDecl", "VarDecl", "TypedefDecl", "TypeAliasDecl", "CXXRecordDecl", "RecordDecl", "EnumDecl", "EnumConstantDecl",
          "NamespaceDecl", "UsingDecl", "VarTemplateDecl", "FunctionTemplateDecl", "ClassTemplateDecl")
NO_NAMES = ("implicit", "used", "referenced", "constexpr", "definition", "struct", "class", "union", "enum", "invalid", "inline",
            "explicit_specialization", "nested", "col", "line", "prev", "parent", "instantiated_from", "implicit_instantiation")


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def preprocessed(headers, options, arguments):
    text = "".join(f"#include <{header}>\n" for header in headers)
    return run(["g++", "-x", "c++", *options, *arguments, "-E", "-"], text)


def macros(headers, options):
    lines = preprocessed(headers, options, ["-dM"]).splitlines()
    return {re.match(r"#define (\w+)", line).group(1) for line in lines}


def declared(headers, options):
    """What clang++ finds at the top level, and in extern "C" there. Its errors do not matter: the texts are for others."""
    text = preprocessed(headers, options, [])
    command = [CLANG, "-x", "c++", "-std=c++17", "-w", "-ferror-limit=0", "-fsyntax-only", "-fno-color-diagnostics",
               "-Xclang", "-ast-dump", "-"]
    found = set()
    parents = []
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out, _ = process.communicate(text)
    for line in out.splitlines():
        node = re.match(r"([ |]*)[|`]-(\w+) ", line)
        if not node:
            continue
        depth = len(node.group(1)) // 2
        kind = node.group(2)
        parents[depth:] = [kind]
        around = [parent for parent in parents[:depth] if parent not in ("LinkageSpecDecl", "EnumDecl")]
        templated = around and around[-1] in ("FunctionTemplateDecl", "ClassTemplateDecl")
        if kind not in NAMING or around and not (templated and len(around) == 1):
            continue
        words = re.sub(r"<[^<>]*(<[^<>]*>[^<>]*)*>", " ", line[node.end():]).split("'")[0].split()
        words = [word for word in words if word not in NO_NAMES and not re.search(r"[:]\d|^0x", word)]
        found.update(word.split("::")[-1] for word in words[-1:])
    return found


def cuda_options(toolkit, standard, architecture):
    include = os.path.join(toolkit, "include")
    options = [f"-std={standard}", "-D__CUDACC__", "-D__NVCC__", "-I", include, "-isystem", os.path.join(include, "cccl"),
               "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=88", "-include", "cuda_runtime.h"]
    return options + ([f"-D__CUDA_ARCH__={architecture}", "-DCUDA_DOUBLE_MATH_FUNCTIONS"] if architecture else [])


def main():
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    names = set(ELSEWHERE)
    if os.path.exists(LIST):
        with open(LIST, encoding="ascii") as known:
            names.update(line.strip() for line in known)
    for standard in ("c++17", "gnu++17", "gnu++20"):
        names |= macros(TRANSFORMER, [f"-std={standard}"])
        for architecture in (None, 700, 800, 900, 1000):
            names |= macros(KERNEL, cuda_options(toolkit, standard, architecture))
    names |= declared(TRANSFORMER, ["-std=gnu++17"])
    for architecture in (None, 900):
        names |= declared(KERNEL, cuda_options(toolkit, "gnu++17", architecture))
    sys.stdout.write("".join(name + "\n" for name in sorted(names) if OWN_NAME.fullmatch(name) and "__" not in name))


if __name__ == "__main__":
    main()
