"""What the tests on devices share: programs of clang 19 on the devices that LLVM's plug-in for x86-64 makes of the host,
and what their reports count."""
import glob
import os
import shutil

from measured import Measurement, build, tap

LIBRARIES = os.path.join(tap.DEPS, "libomp-19")
FOUND = {"LD_LIBRARY_PATH": LIBRARIES}  # libomptarget looks for libomp.so by that name


def device_program(source, *flags):
    if not os.path.exists(os.path.join(LIBRARIES, "libomptarget.so")) or not shutil.which("clang-linker-wrapper-19"):
        raise tap.Skip("no clang 19 for devices (scripts/setup --full)")
    return build(source, "clang-19", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib", "-Wno-unknown-assumption",
                 *flags)


def old_device_program(source, version):
    """Likewise of clang 14 or 16, linked to the library for devices of that release."""
    linker = {14: "clang-offload-wrapper-14", 16: "clang-linker-wrapper-16"}[version]
    folder = old_libraries(version)
    headers = glob.glob(os.path.join(tap.DEPS, "libomp-*", "include", "omp.h")) or glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp.h")
    if not shutil.which(linker) or not shutil.which(f"clang-{version}") or not headers:
        raise tap.Skip(f"no clang {version} for devices (scripts/setup --full)")
    return build(source, f"clang-{version}", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib",
                 "-idirafter", os.path.dirname(headers[0]), f"-L{folder}", name=f"{os.path.splitext(source)[0]}-{version}",
                 openmp=False)


def old_libraries(version):
    """The folder of the libraries of that release: that of 14 has them from its package."""
    folder = "/usr/lib/llvm-14/lib" if version == 14 else os.path.join(tap.DEPS, f"libomp-{version}")
    if not os.path.exists(os.path.join(folder, "libomptarget.rtl.x86_64.so")):
        raise tap.Skip(f"no library for devices of LLVM {version} (scripts/setup --full)")
    return folder


def waiting_runtime():
    """Flags for the linker, of waiting_runtime.c: a stand-in for a runtime with a device that is not the host."""
    library = build("waiting_runtime.c", "gcc", "-shared", "-fPIC", "-I", tap.SOURCE, name="libwaiting.so", openmp=False)
    return f"-Wl,-rpath,{os.path.dirname(library)}", "-Wl,--no-as-needed", library


def waiting_targets():
    return build("waiting_targets.c", "gcc", *waiting_runtime(), openmp=False)


def measure_program(directory, program, *arguments, options=(), status=0, timeout=60, **settings):
    """Measures the program, which must end with that status."""
    run = Measurement(directory, program, *arguments, options=("-e", "task-clock@f1000", *options), timeout=timeout,
                      **{**FOUND, **settings})
    assert run.done.returncode == status and "wrong" not in run.done.stdout, (arguments, run.done)
    return run


def executions(run):
    """Kind → executions."""
    return {kind: count for kind, (count, _) in executions_and_bytes(run).items()}


def executions_and_bytes(run):
    """Kind → executions, and bytes that were moved or allocated."""
    found = {}
    for row in run.view("regions"):
        if row["thread"] == "SUM":
            count, size = found.get(row["kind"], (0, 0))
            found[row["kind"]] = count + int(row["executions"]), size + int(row["bytes"] or 0)
    return found
