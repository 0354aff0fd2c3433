# SPDX-License-Identifier: Apache-2.0
"""Static libraries that Debian has only as shared ones, or in a package that the build does not need.

oneTBB and fmt are compiled from the sources of the installed packages, and Zstandard is taken out of its package. All
of it stands in one folder and needs no rights: apt-get keeps its lists there, too. What is there already is not made
again.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

# Debian's own repositories, as this machine reaches them.
TARGETS = [
    "apt-get",
    "indextargets",
    "--format",
    "$(REPO_URI) $(RELEASE) $(COMPONENT)",
    "Created-By: Packages",
    "Origin: Debian",
]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FLAGS = ["-c", "-O2", "-DNDEBUG", "-std=c++17", "-fPIC", "-w"]


class Archive:
    """A static library that is compiled: Debian's source, the headers that it must agree with, files and options."""

    def __init__(self, source, headers, files, *options):
        self.source, self.headers, self.files, self.options = source, headers, files, options


COMPILED = {
    # The options of its own build for a static library. Extensions of the processor are asked for before they are used.
    "libtbb.a": Archive(
        "onetbb",
        "libtbb-dev",
        ["src/tbb/*.cpp"],
        "-Iinclude",
        "-Isrc",
        "-mrtm",
        "-mwaitpkg",
        "-D__TBB_BUILD",
        "-D__TBB_DYNAMIC_LOAD_ENABLED=0",
    ),
    "libfmt.a": Archive("fmtlib", "libfmt-dev", ["src/format.cc", "src/os.cc"], "-Iinclude"),
}
# The archive is taken out of the package of the same version as the library here.
UNPACKED = {"libzstd.a": ("libzstd-dev", "libzstd1")}


class Unreachable(Exception):
    """Debian's sources cannot be had."""


def owner_of(name):
    """The Debian package whose licence an archive has; None where it is not made here."""
    if name in COMPILED:
        return COMPILED[name].headers
    return UNPACKED[name][1] if name in UNPACKED else None


def run(*command, folder=None):
    """Runs it; what it wrote to standard output."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Unreachable(f"{' '.join(map(str, command[:4]))} ... has failed:\n{result.stderr.strip()}")
    return result.stdout


def field(package, name):
    return run("dpkg-query", "--show", f"--showformat=${{{name}}}", package)


class Sources:
    """Debian's sources, through lists of their own."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        targets = sorted(set(run(*TARGETS).splitlines()))
        (folder / "sources.list").write_text("".join(f"deb-src [signed-by={KEYRING}] {target}\n" for target in targets))
        options = {
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": folder / "lists",
            "Dir::Cache": folder / "cache",
            "APT::Sandbox::User": "root",
        }
        self.apt = ["apt-get", "-qq", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]
        run(*self.apt, "update")
        if not any((folder / "lists").glob("*_Sources*")):
            raise Unreachable("apt-get update fetches no list of sources")

    def unpack(self, archive):
        """The folder of a package's sources, in the version that is installed here."""
        wanted = f"{archive.source}={field(archive.headers, 'source:Version')}"
        place = self.folder / archive.source
        place.mkdir()
        run(*self.apt, "source", "--download-only", wanted, folder=place)
        (description,) = place.glob("*.dsc")
        run("dpkg-source", "--no-check", "-x", description.name, "sources", folder=place)
        return place / "sources"


def compile_archive(compiler, archive, sources, target):
    """Compiles the files, as many at once as there are processors, and puts them into the target."""
    files = sorted(str(path.relative_to(sources)) for pattern in archive.files for path in sources.glob(pattern))

    def compile_file(numbered):
        number, file = numbered
        subprocess.run([compiler, *FLAGS, *archive.options, file, "-o", f"{number}.o"], cwd=sources, check=True)
        return f"{number}.o"

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        objects = list(threads.map(compile_file, enumerate(files)))
    run("ar", "rcsD", "made.a", *objects, folder=sources)
    os.replace(sources / "made.a", target)


def unpack_archive(package, library, target, folder):
    """Takes the archive out of a package."""
    run("apt-get", "download", "-o", "APT::Sandbox::User=root", f"{package}={field(library, 'Version')}", folder=folder)
    (downloaded,) = folder.glob("*.deb")
    run("dpkg-deb", "-x", str(downloaded), str(folder / "unpacked"))
    (found,) = (folder / "unpacked").rglob(target.name)
    shutil.move(found, target)


def make_archives(compiler, folder):
    """Makes the archives that are not in the folder yet. Raises Unreachable where Debian's sources cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = {name: archive for name, archive in COMPILED.items() if not (folder / name).is_file()}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if missing:
            sources = Sources(pathlib.Path(scratch) / "apt")
        for name, archive in missing.items():
            compile_archive(compiler, archive, sources.unpack(archive), folder / name)
        for name, (package, library) in UNPACKED.items():
            if not (folder / name).is_file():
                unpack_archive(package, library, folder / name, pathlib.Path(scratch))
