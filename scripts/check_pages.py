#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages of the documentation: check_pages.py

Links lead to files and headings that exist, pages name files and sources name pages that exist, every page is reached
from the README, and pages that people read from top to bottom stay short.
Exit status: 0 all is well; 1 a line for each fault.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Lines that a page may have; a page that is named here must exist.
MOST_LINES = {"README.md": 120, "docs/performance.md": 150, "docs/tutorial.md": 150}
MOST_LINES_OF_A_GUIDE = 150
MOST_NUMBERS_IN_README = 40
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")


def tracked(*patterns):
    """Files of the project, as paths from its root; in an unpacked archive all files that match."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard",
                             *patterns], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return sorted(Path(name) for name in set(listed.stdout.split("\n")) if name and (ROOT / name).exists())
    skipped = {"build", ".git"}
    return sorted(path.relative_to(ROOT) for pattern in patterns for path in ROOT.rglob(pattern)
                  if path.is_file() and not skipped & set(path.relative_to(ROOT).parts))


def prose_of(text):
    """The lines of a page outside fenced and indented blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchor(heading):
    """The anchor of a heading, as GitHub makes it."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower())
    return words.replace(" ", "-")


def anchors_of(text):
    found = set()
    for _, line in prose_of(text):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            name, count = anchor(heading[1]), 0
            while (name if count == 0 else f"{name}-{count}") in found:
                count += 1
            found.add(name if count == 0 else f"{name}-{count}")
    return found


class Pages:
    def __init__(self):
        self.texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in tracked("*.md")}
        self.anchors = {path: anchors_of(text) for path, text in self.texts.items()}
        self.links = 0
        self.linked = {path: set() for path in self.texts}
        self.faults = []

    def fault(self, path, line, words):
        self.faults.append(f"{path}:{line}: {words}")

    def check_links(self):
        for path, text in self.texts.items():
            for number, line in prose_of(text):
                for _, target in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                    self.check_link(path, number, target)

    def check_link(self, path, number, target):
        if re.match(r"[a-z]+:", target):
            return
        self.links += 1
        name, _, place = target.partition("#")
        full = Path(os.path.normpath(path.parent / name)) if name else path
        if not (ROOT / full).exists():
            self.fault(path, number, f"{target} leads to {full}, which does not exist")
        elif place and place not in self.anchors.get(full, set()):
            self.fault(path, number, f"{target} leads to a heading that {full} does not have")
        elif full in self.texts:
            self.linked[path].add(full)

    def check_reach(self):
        """A reader who begins at the README finds every page of docs/."""
        reached, ahead = set(), [Path("README.md")]
        while ahead:
            path = ahead.pop()
            if path not in reached:
                reached.add(path)
                ahead.extend(self.linked.get(path, ()))
        for path in self.texts:
            if path.parts[0] == "docs" and path not in reached:
                self.fault(path, 1, "no page that is reached from README.md links to this one")

    def check_sizes(self):
        most = dict(MOST_LINES)
        most.update({str(path): MOST_LINES_OF_A_GUIDE for path in self.texts if path.parts[:2] == ("docs", "guide")})
        for name, limit in most.items():
            if Path(name) not in self.texts:
                self.fault(name, 1, "the page is missing")
                continue
            lines = self.texts[Path(name)].count("\n")
            if lines > limit:
                self.fault(name, limit + 1, f"the page has {lines} lines; {limit} are allowed")
        readme = (re.sub(r"`[^`]*`", "", line) for _, line in prose_of(self.texts[Path("README.md")]))
        numbers = [word for line in readme for word in NUMBER.findall(LINK.sub(r"\1", line))]
        if len(numbers) > MOST_NUMBERS_IN_README:
            self.fault("README.md", 1, f"the page has {len(numbers)} numbers outside of commands and their output; "
                                       f"{MOST_NUMBERS_IN_README} are allowed: {' '.join(numbers)}")

    def check_named_files(self):
        """Pages name files of the project that exist, from its root or from a room of the generator or the tuner. Those
        of the journal and of the changes tell of files as they were."""
        tops = ["docs", "generator", "transformer", "tuner", "templates", "tests", "scripts", "cmake", "python",
                "packaging"]
        rooms = [room.name for part in ("generator", "tuner") for room in (ROOT / part).iterdir() if room.is_dir()]
        named = re.compile(r"`((?:" + "|".join(sorted({*tops, *rooms} - {"build"})) + r")/[\w./*-]+)`")
        for path, text in self.texts.items():
            if path.parts[:2] == ("docs", "journal") or path.name == "CHANGELOG.md":
                continue
            for number, line in prose_of(text):
                for name in named.findall(line):
                    places = [Path(part) for part in (".", "generator", "tuner")]
                    patterns = [name.replace("NAME", "*").rstrip("/"), name.replace("NAME", "*") + ".*"]
                    if not any(list((ROOT / place).glob(pattern)) for place in places for pattern in patterns):
                        self.fault(path, number, f"names {name}, which does not exist")

    def check_sources(self):
        """Sources, scripts and tests name pages that exist."""
        named = re.compile(r"docs/[\w/.-]+\.(?:md|svg|c|cpp|py|jsonl)\b")
        for path in tracked("*.h", "*.cpp", "*.cuh", "*.cu", "*.py", "*.sh", "*.cmake", "*.txt", "*.in", "*.template"):
            text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
            for name in set(named.findall(text)):
                if not (ROOT / name).exists():
                    line = text[:text.index(name)].count("\n") + 1
                    self.fault(path, line, f"names {name}, which does not exist")


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    pages = Pages()
    pages.check_links()
    pages.check_reach()
    pages.check_sizes()
    pages.check_named_files()
    pages.check_sources()
    for fault in pages.faults:
        print(fault)
    if pages.links < 100:
        print(f"{ROOT}: only {pages.links} links were found; the pages are missing")
        return 1
    print(f"{len(pages.texts)} pages, {pages.links} links, {len(pages.faults)} faults")
    return 1 if pages.faults else 0


if __name__ == "__main__":
    sys.exit(main())
