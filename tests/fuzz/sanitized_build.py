"""The build with the address and undefined-behaviour sanitizers and with assertions, in the directory `sanitized` of the
build: by clang, with the fuzz targets, if clang has the library of its fuzzer; otherwise by another compiler, without
them."""
import fcntl
import os
import tempfile

import tap

PLACE = os.path.join(tap.BUILD, "sanitized")
FLAGS = "-g1 -fsanitize=float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow"
SETTINGS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=4096",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
# Child processes often crash in libdwarf; without symbols their traces take much less time.
TERSE = {**SETTINGS, "ASAN_OPTIONS": SETTINGS["ASAN_OPTIONS"] + ":symbolize=0"}


def links(*command):
    """Whether a compiler makes a program with these options."""
    with tempfile.TemporaryDirectory(prefix="hpcrun-lite-test-") as directory:
        source = os.path.join(directory, "a.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n)\n"
                       "{ return n > 1 && d[0] == d[1]; }\n")
        try:
            return tap.run(*command, source, "-o", os.path.join(directory, "a.so")).returncode == 0
        except FileNotFoundError:
            return False


def need_fuzzer():
    """Skip unless clang has all that the fuzz targets need."""
    if not links("clang", "-fsanitize=fuzzer,address,undefined"):
        raise tap.Skip("the libraries of clang for -fsanitize=fuzzer,address,undefined are missing (libclang-rt)")


def compiler():
    """The compiler, and the options of the build; Skip where no compiler has the sanitizers."""
    if links("clang", "-fsanitize=fuzzer,address,undefined"):
        return "clang", ["-Dfuzz=true", f"-Dc_args=-fsanitize=fuzzer-no-link {FLAGS}"]
    for name in (os.environ.get("CC", "cc"), "clang"):
        if links(name, "-shared", "-fPIC", "-fsanitize=address,undefined"):
            return name, [f"-Dc_args={FLAGS}"]
    raise tap.Skip("no compiler here has the address and undefined-behaviour sanitizers")


def build(*targets):
    """Builds targets, named by their paths below the build directory.  Other tests that build wait meanwhile."""
    with open(PLACE + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(PLACE, "build.ninja")):
            name, options = compiler()
            linker = {"CC_LD": "mold"} if links(name, "-shared", "-fPIC", "-fuse-ld=mold") else {}  # 40 links
            tap.must(os.environ.get("MESON", "meson"), "setup", PLACE, "-Db_sanitize=address,undefined",
                     "-Db_lundef=false", "-Doptimization=0", "-Ddebug=false", "-Dassertions=true", *options,
                     cwd=tap.SOURCE, timeout=300, CC=name, **linker)  # compiling with -O1 takes longer than all tests do
        tap.must("ninja", "-C", PLACE, *targets, timeout=500)


def program(target):
    """The path of a target that was built."""
    return os.path.join(PLACE, target)
