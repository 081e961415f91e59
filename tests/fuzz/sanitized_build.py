"""The build with the address and undefined-behaviour sanitizers, in the directory `sanitized` of the build: by clang,
with the fuzz targets, where clang has its fuzzer's library; else by the compiler that there is, without them."""
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("HPCRUN_LITE_TEST_BUILD", os.path.join(SOURCE, "build"))
PLACE = os.path.join(BUILD, "sanitized")
FLAGS = "-fsanitize=float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow"
SETTINGS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=4096",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
# Where children die of libdwarf as a matter of course, naming the functions of each takes most of the time.
TERSE = ":symbolize=0"


def links(*command):
    """Whether a compiler makes a program with these options."""
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        source = os.path.join(directory, "a.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n)\n"
                       "{ return n > 1 && d[0] == d[1]; }\n")
        try:
            return subprocess.run([*command, source, "-o", os.path.join(directory, "a.so")], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except FileNotFoundError:
            return False


def fuzzer():
    """Whether clang has all that the fuzz targets need."""
    return links("clang", "-fsanitize=fuzzer,address,undefined")


def compiler():
    """What to build with, and the options; None where nothing has the sanitizers."""
    if fuzzer():
        return "clang", ["-Dfuzz=true", f"-Dc_args=-fsanitize=fuzzer-no-link {FLAGS}"]
    for name in (os.environ.get("CC", "cc"), "clang"):
        if links(name, "-shared", "-fPIC", "-fsanitize=address,undefined"):
            return name, [f"-Dc_args={FLAGS}"]
    return None


def checked(*command, **settings):
    """Runs a step of the build; what it says is shown where it fails."""
    done = subprocess.run(command, cwd=SOURCE, env={**os.environ, **settings}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise RuntimeError(f"{command[0]} failed")


def build(*targets):
    """Builds targets, named by their paths below the build directory."""
    found = compiler()
    if not found:
        raise RuntimeError("no compiler here has the address and undefined-behaviour sanitizers")
    if not os.path.exists(os.path.join(PLACE, "build.ninja")):
        checked(os.environ.get("MESON", "meson"), "setup", PLACE, "-Db_sanitize=address,undefined", "-Db_lundef=false",
                "-Doptimization=1", "-Ddebug=true", *found[1], CC=found[0])
    checked("ninja", "-C", PLACE, *targets)
    return PLACE
