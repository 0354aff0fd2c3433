#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated parts of docs/reference from what the programs print and from the shipped C headers.

reference.py BIN            writes what has changed; BIN is the folder of escgen and esctune, build/release/bin
reference.py --check BIN    changes nothing; exit status 1 where a page is older than the programs, or where
                            docs/reference/schedules.md lacks a directive, or has one too many
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference"
PROGRAMS = {"escgen": "generates and verifies kernels; needs no GPU", "esctune": "measures schedules on a GPU"}


class Programs:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()

    def run(self, *command, fails=False):
        """What the command prints; of one that is to fail, what it says on standard error."""
        done = subprocess.run([str(self.folder / command[0]), *command[1:]], capture_output=True,
                              text=True, check=False, env=os.environ | {"COLUMNS": "80"})
        if (done.returncode == 0) == fails:
            sys.exit(f"{' '.join(command)} ended with status {done.returncode}: {done.stderr}")
        return done.stderr if fails else done.stdout


def fenced(text, language="text"):
    return f"```{language}\n{text.strip()}\n```"


def command_line(programs):
    """The help of each program and of each of its commands."""
    parts = []
    for program, purpose in PROGRAMS.items():
        overview = programs.run(program, "--help")
        commands = re.findall(r"^  ([a-z]+)  +\S", overview[overview.index("Commands:"):], re.M)
        parts.append(f"## {program}\n\n`{program}` {purpose}.\n\n{fenced(overview)}")
        parts.extend(f"### {program} {command}\n\n{fenced(programs.run(program, command, '--help'))}"
                     for command in commands)
    return "\n\n".join(parts)


def layer_header(_):
    """What the header of the shipped bundle declares, from the first function on."""
    text = (ROOT / "generated/digits_hidden/digits_hidden.h").read_text(encoding="utf-8")
    begin, end = text.index("/* Bytes of the packed matrix"), text.rindex("#ifdef __cplusplus")
    return fenced(text[begin:end], "c")


def model_header(_):
    """What the header of a model's bundle declares, for a bundle named layers whose epilogue reads nothing."""
    text = (ROOT / "templates/model.h.in").read_text(encoding="utf-8")
    text = text[text.index("/* The same for all models. */"):text.rindex("#ifdef __cplusplus")]
    text = text.replace("@@NAME@@", "layers")
    for hole in ("EPILOGUE", "OPERANDS", "EPILOGUE_NOTES"):
        text = text.replace(f"@@{hole}@@", "")
    lines = [line for line in text.split("\n") if not re.fullmatch(r" \* @@\w+@@", line)]
    return fenced("\n".join(lines).replace("@@WRITABLE@@", "b"), "c")


def spec_keys(programs):
    """The keys of specs, of layers and of models, with what the schema says of each."""
    schema = json.loads(programs.run("escgen", "spec", "--schema"))
    rows = {}

    def collect(node, place):
        for key, value in node.get("properties", {}).items():
            rows.setdefault((key, value.get("description", "")), []).append(place)
            if "items" in value:
                collect(value["items"], f"an element of `{key}`")

    for alternative in schema["oneOf"]:
        collect(alternative, "a spec of layers" if "layers" in alternative["properties"] else "a spec of a model")
    cells = [f"| `{key}` | {', '.join(dict.fromkeys(places))} | {words} |" for (key, words), places in rows.items()]
    return "\n".join(["| key | of | meaning |", "| --- | --- | --- |", *cells])


def schedule_families(programs):
    """A section of each family: what it is for, and its keys."""
    words = programs.run("escgen", "lower", "--help")
    families = re.findall(r"^(\w+): (.*)\n((?:  .*\n)+)", words[words.index("\npanel:"):words.index("\nExamples:")] + "\n", re.M)
    if not families:
        sys.exit("escgen lower --help has no families of schedules")
    return "\n\n".join(f"### Family `{name}`\n\n{purpose[0].upper()}{purpose[1:]}.\n\n{fenced(keys)}"
                       for name, purpose, keys in families)


GENERATED = {"cli.md": {"command line": command_line},
             "c-api.md": {"layer header": layer_header, "model header": model_header},
             "schedules.md": {"families": schedule_families},
             "formats.md": {"spec keys": spec_keys}}


def refreshed(page, parts, programs, name):
    for mark, make in parts.items():
        begin, end = f"<!-- generated: {mark} -->", "<!-- end -->"
        at = page.find(begin)
        if at < 0:
            sys.exit(f"docs/reference/{name} has no line {begin}")
        page = page[:at] + f"{begin}\n\n{make(programs)}\n\n" + page[page.index(end, at):]
    return page


def schedule_faults(programs):
    """Directives that the program and the page do not have in common."""
    page = (PAGES / "schedules.md").read_text(encoding="utf-8")

    def differences(what, known, described):
        lacking = [f"{what} {word} is not described" for word in sorted(known - described)]
        invented = [f"there is no {what} {word}" for word in sorted(described - known)]
        return [f"docs/reference/schedules.md: {words}" for words in lacking + invented]

    def listed(schedule, begin):
        words = programs.run("escgen", "lower", "--schedule", schedule, fails=True)
        found = re.search(re.escape(begin) + r" ([\w, ]+)", words)
        if not found:
            sys.exit(f"escgen lower --schedule '{schedule}' does not say what there is: {words}")
        return set(found[1].replace("\n", "").split(", "))

    forms = set()
    for directive in listed("no_directive(i)", "the directives are"):
        words = programs.run("escgen", "lower", "--schedule", f"{directive}(,)", fails=True)
        forms |= set(words[words.index("; write ") + len("; write "):].strip().split(" or "))
    today = page[page.index("## Directives"):page.index("### Old words")]
    described = set(re.findall(r"^\| `(\w+\([^`]*\))` \|", today, re.M))
    return differences("directive", forms, described)


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    if len(arguments) != (2 if check else 1) or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    programs = Programs(arguments[-1])
    faults = schedule_faults(programs)
    for name, parts in GENERATED.items():
        file = PAGES / name
        page = file.read_text(encoding="utf-8")
        wanted = refreshed(page, parts, programs, name)
        if page != wanted and check:
            faults.append(f"docs/reference/{name} is older than the programs; run scripts/refresh_pages.sh")
        elif page != wanted:
            file.write_text(wanted, encoding="utf-8")
            print(f"docs/reference/{name} is new")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
