# SPDX-License-Identifier: Apache-2.0
"""The scripts that hold the pages find what is wrong with them: each case spoils a copy of the pages in one way."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES, FIGURES = "docs/guide", "docs/figures"


class PagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for entry in ROOT.iterdir():
            if entry.name in ("docs", "scripts"):
                shutil.copytree(entry, self.root / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
            elif entry.suffix == ".md":
                shutil.copy(entry, self.root)
            elif entry.name not in ("build", ".git"):
                (self.root / entry.name).symlink_to(entry)

    def run_script(self, *command):
        done = subprocess.run([sys.executable, self.root / "scripts" / command[0], *command[1:]], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def change(self, name, old, new):
        file = self.root / name
        text = file.read_text(encoding="utf-8")
        self.assertIn(old, text, name)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def assert_fault(self, script, words):
        status, said = self.run_script(*script)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_pages_as_they_are_pass(self):
        status, said = self.run_script("check_pages.py")
        self.assertEqual(status, 0, said)

    def test_a_link_to_no_file_or_heading_is_found(self):
        self.change("docs/guide/models.md", "# Models", "# Models [a](nowhere.md) [b](nests.md#nowhere)")
        self.assert_fault(["check_pages.py"], f"nowhere.md leads to {GUIDES}/nowhere.md, which does not exist")
        self.assert_fault(["check_pages.py"], "nests.md#nowhere leads to a heading")

    def test_a_link_in_a_command_is_none(self):
        self.change("docs/guide/serving.md", "# Serving", "    [a](nowhere.md)\n\n`[b](nowhere.md)`\n\n# Serving")
        self.assertEqual(self.run_script("check_pages.py")[0], 0)

    def test_a_file_that_is_named_and_does_not_exist_is_found(self):
        self.change("docs/guide/models.md", "# Models", "`emit/bundle` `scripts/*.py` `emit/nothing`\n\n# Models")
        self.assert_fault(["check_pages.py"], "docs/guide/models.md:1: names emit/nothing, which does not exist")

    def test_a_page_that_nothing_links_to_is_found(self):
        (self.root / GUIDES / "alone.md").write_text("# Alone\n", encoding="utf-8")
        self.assert_fault(["check_pages.py"], f"{GUIDES}/alone.md:1: no page that is reached from README.md")

    def test_a_page_that_is_too_long_is_found(self):
        for name, limit in (("README.md", 120), ("docs/performance.md", 150), ("docs/guide/builds.md", 150)):
            text = (self.root / name).read_text(encoding="utf-8")
            (self.root / name).write_text(text + "\n" * (limit + 1 - text.count("\n")), encoding="utf-8")
            self.assert_fault(["check_pages.py"], f"{name}:{limit + 1}: the page has {limit + 1} lines")

    def test_too_many_numbers_in_the_readme_are_found(self):
        self.change("README.md", "\n## ", "\n" + "1.5 and 2 % " * 21 + "\n\n## ")
        self.assert_fault(["check_pages.py"], "numbers outside of commands and their output; 40 are allowed")

    def test_numbers_of_commands_and_names_do_not_count(self):
        names, command = "`1 2 3` float16 H200 sm_90 " * 20, "    " + "7 " * 50
        self.change("README.md", "\n## ", f"\n{names}\n\n{command}\n\n## ")
        self.assertEqual(self.run_script("check_pages.py")[0], 0)

    def test_a_picture_or_a_table_that_is_not_its_records_is_found_and_written_anew(self):
        self.change("docs/figures/tokens.svg", "2.25", "2.26")
        self.change("docs/performance.md", "| 1.98 |", "| 2.01 |")
        stray = self.root / FIGURES / "old.svg"
        stray.write_text("<svg/>\n", encoding="utf-8")
        status, said = self.run_script("figures.py", "--check")
        self.assertEqual(status, 1)
        for name in ("docs/figures/tokens.svg", "docs/performance.md", f"{FIGURES}/old.svg"):
            self.assertIn(f"{name} is not what its records give", said)
        stray.unlink()
        self.assertEqual(self.run_script("figures.py")[0], 0)
        for name in ("docs/figures/tokens.svg", "docs/performance.md"):
            self.assertEqual((self.root / name).read_bytes(), (ROOT / name).read_bytes())

    def test_a_record_that_has_changed_is_found(self):
        records = self.root / "tests/data/times/sm90-132sm-60mib_bitmap_products.txt"
        text = records.read_text(encoding="utf-8")
        (self.root / "tests").unlink()
        records.parent.mkdir(parents=True)
        (self.root / "tests/bench").symlink_to(ROOT / "tests/bench")
        records.write_text(re.sub(r"(?m)^(4096 4096 50 uniform f16 nk 8) \S+", r"\1 1.00", text), encoding="utf-8")
        self.assert_fault(["figures.py", "--check"], "docs/figures/tokens.svg is not what its records give")


if __name__ == "__main__":
    unittest.main()
