#!/usr/bin/env python3
"""Both programs and the preloaded library compile for aarch64, without warnings and without what only a compiler of
x86-64 knows; some unit tests run there in an emulator.  tests/packages/aarch64 builds and runs all, and measures.  The
build is in the directory `aarch64` of the build."""
import json
import os
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap

# Debian's packages of that machine, which scripts/setup --full unpacks.
PLACE, ROOT = os.path.join(tap.BUILD, "aarch64"), os.path.join(tap.DEPS, "aarch64")
MESON = os.environ.get("MESON", "meson")
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
SETTINGS = f"""
[binaries]
c = ['{COMPILER}', '--sysroot={ROOT}']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['{EMULATOR}', '-L', '{ROOT}']

[properties]
sys_root = '{ROOT}'
pkg_config_libdir = '{ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""
MACHINES = {62: "x86-64", 183: "aarch64"}  # in ELF files
UNITS = ("blame", "cct", "escape", "format", "hash_map", "instruction", "lock_events", "span", "waiting")
ONLY_HERE = {"hpcprof-lite-mpi.so", "hpcprof-lite-otf2.so", "libhpcrun-lite-decode-mpich.so",
             "libhpcrun-lite-decode-openmpi.so", "libomp.so.5"}  # whose libraries are not unpacked


def build():
    if not all(map(shutil.which, (COMPILER, EMULATOR))) or not os.path.exists(ROOT):
        raise tap.Skip("no compiler, libraries and emulator for aarch64 (scripts/setup --full)")
    library_dir = os.path.relpath(os.path.dirname(os.path.dirname(tap.LIBRARY)), os.path.dirname(tap.BIN))
    # Without optimization it takes a third of the time, but GCC knows less about the lengths of texts.
    options = ("--werror", "-Doptimization=0", "-Ddebug=false", f"-Dlibdir={library_dir}", "-Domp_runtime=",
               "-Dc_args=-Wno-format-truncation")
    settings, ini = f"# {' '.join(options)}\n{SETTINGS}", PLACE + ".ini"
    if not os.path.exists(os.path.join(PLACE, "build.ninja")) or Path(ini).read_text(encoding="utf-8") != settings:
        shutil.rmtree(PLACE, ignore_errors=True)
        with open(ini, "w", encoding="utf-8") as file:
            file.write(settings)
        tap.must(MESON, "setup", PLACE, "--cross-file", ini, *options, cwd=tap.SOURCE, timeout=300)
    targets = json.loads(tap.must(MESON, "introspect", "--targets", PLACE))
    chosen = [os.path.relpath(name, PLACE) for target in targets for name in target["filename"]
              if target["installed"] or target["name"] in {f"test_{unit}" for unit in UNITS}]
    tap.must("ninja", "-C", PLACE, *chosen, timeout=550)


def installed(prefix):
    """The files below it: the machine of those for machines, the content of others."""
    found = {}
    for folder, _, names in os.walk(prefix):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            is_code = content.startswith(b"\x7fELF")
            found[os.path.relpath(os.path.join(folder, name), prefix)] = (
                MACHINES[struct.unpack("<H", content[18:20])[0]] if is_code else content)
    return found


def exported(library, nm):
    return {line.split()[-1] for line in tap.must(nm, "--dynamic", "--defined-only", library).splitlines()}


@tap.case
def everything_compiles_without_warnings(_):
    build()


@tap.case
def the_same_files_are_installed(directory):
    build()
    tap.must(MESON, "install", "-C", PLACE, "--no-rebuild", "--quiet", "--destdir", directory)
    there, here = (installed(prefix) for prefix in (os.path.join(directory, "usr/local"), os.path.dirname(tap.BIN)))
    here = {name: content for name, content in here.items() if os.path.basename(name) not in ONLY_HERE}
    assert there.keys() == here.keys(), there.keys() ^ here.keys()
    for name, content in here.items():
        assert there[name] == ("aarch64" if content == "x86-64" else content), name


@tap.case
def the_library_replaces_the_same_functions(_):
    build()
    there = exported(os.path.join(PLACE, "hpcrun-lite", "libhpcrun-lite.so"), "aarch64-linux-gnu-nm")
    assert there == exported(tap.LIBRARY, "nm"), there ^ exported(tap.LIBRARY, "nm")


def add(name):
    def run(_):
        build()
        return tap.relay(EMULATOR, "-L", ROOT, os.path.join(PLACE, "tests", f"test_{name}"), timeout=300,
                         HPCRUN_LITE_TEST_BUILD=tap.BUILD, HPCRUN_LITE_TEST_SOURCE=tap.SOURCE)
    run.__name__ = f"unit_test_{name}"
    tap.group(run)


for unit in UNITS:
    add(unit)

tap.main()
