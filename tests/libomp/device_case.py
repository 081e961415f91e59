"""What the tests on devices share: programs of clang 19, or of the release in HPCRUN_LITE_TEST_LLVM, on the devices that
LLVM's plug-in for x86-64 makes of the host, and what their reports count."""
import glob
import os
import shutil

from measured import Measurement, build, tap

CHOSEN = os.environ.get("HPCRUN_LITE_TEST_LLVM")
RELEASE = int(CHOSEN or 19)
LIBRARIES = f"/usr/lib/llvm-{RELEASE}/lib" if CHOSEN else os.path.join(tap.DEPS, "libomp-19")
FOUND = {"LD_LIBRARY_PATH": LIBRARIES}  # libomptarget looks for libomp.so by that name


def device_program(source, *flags):
    wanted = os.path.join(LIBRARIES, "libomptarget.so"), shutil.which(f"clang-linker-wrapper-{RELEASE}") or ""
    if not all(map(os.path.exists, wanted)) or RELEASE < 17:
        raise tap.Skip(f"no clang {RELEASE} for devices that announces them (scripts/setup --full)")
    return build(source, f"clang-{RELEASE}", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib", "-Wno-unknown-assumption",
                 *flags)


def old_device_program(source, version):
    """Likewise of clang 14 to 16, linked to the library for devices of that release."""
    linker = "clang-offload-wrapper-14" if version == 14 else f"clang-linker-wrapper-{version}"
    folder = old_libraries(version)
    headers = glob.glob(os.path.join(tap.DEPS, "libomp-*", "include", "omp.h")) or glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp.h")
    if not shutil.which(linker) or not shutil.which(f"clang-{version}") or not headers:
        raise tap.Skip(f"no clang {version} for devices (scripts/setup --full)")
    return build(source, f"clang-{version}", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib",
                 "-idirafter", os.path.dirname(headers[0]), f"-L{folder}", name=f"{os.path.splitext(source)[0]}-{version}",
                 openmp=False)


def old_libraries(version):
    """The folder of the libraries of that release: that of 14 has them from its package, as the chosen one."""
    folder = os.path.join(tap.DEPS, f"libomp-{version}")
    if version == 14 or CHOSEN:
        folder = f"/usr/lib/llvm-{version}/lib"
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
