"""Programs with auditors (LD_AUDIT), which leave the preloaded library little thread-local storage.

Usage: auditors.py [--long] [-k CASE]     (--long: every case in all settings, ten times)"""
import os
import re
import sys

for folder in ("support", "transparency"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
from alone_and_measured import built, check
from measured import build, tap, work_of

nested = {compiler: built("nested_regions.c", compiler, "-DPART=0.25") for compiler in ("gcc", "clang")}


def auditor(storage, *flags):
    return build("auditor.c", "gcc", "-shared", "-fPIC", f"-DSTORAGE={storage}", *flags,
                 name=f"auditor{len(flags)}-{storage}.so", openmp=False)


def storage_library(size):
    return build("static_storage.c", "gcc", "-shared", "-fPIC", f"-DSTORAGE={size}", name=f"storage-{size}.so",
                 openmp=False)


def with_storage(size, compiler, *flags):
    """The program with a library that takes so much static thread-local storage."""
    return build("nested_regions.c", compiler, "-DPART=0.25", "-Wl,--no-as-needed", storage_library(size), *flags,
                 name=f"storage{len(flags)}-{size}-{compiler}")


def audited(directory, number, program, *auditors):
    """The program behaves as alone, with the same auditors, and its regions are measured."""
    run = check(directory, number, program, LD_AUDIT=":".join(auditors), said="OpenMP attached")
    nodes = run.tree()
    seen, placed = work_of(nodes, "leaf_work"), work_of(nodes, "leaf_work", below="outer_caller")
    assert 0 < seen == placed, (seen, placed)


@tap.case
def an_auditor(directory):
    for number, program in enumerate(nested.values()):
        audited(directory, number, program(), auditor(0))


@tap.case
def several_auditors_with_storage_of_their_own(directory):
    for number, program in enumerate(nested.values()):
        audited(directory, number, program(), auditor(0), auditor(100), auditor(200))


@tap.case
def an_auditor_that_sees_every_call(directory):
    for number, program in enumerate(nested.values()):
        audited(directory, number, program(), auditor(100, "-DBINDINGS"))


@tap.case
def an_auditor_that_the_program_names(directory):
    program = build("nested_regions.c", "gcc", "-DPART=0.25", "-Wl,--audit=" + auditor(0), name="names-auditor")
    audited(directory, 0, program)


@tap.case
def a_library_with_static_storage_beside_an_auditor(directory):
    for number, compiler in enumerate(nested):
        audited(directory, number, with_storage(1400, compiler), auditor(0))


@tap.case
def a_program_that_an_auditor_leaves_no_room(directory):
    """The largest storage with which the program starts alone: it is refused, with a remedy that helps."""
    def starts(size):
        return tap.run(with_storage(size, "gcc"), LD_AUDIT=auditor(0)).returncode == 0

    size = next(size for size in range(1720, 1400, -16) if starts(size))
    for flags, settings in (((), {"LD_AUDIT": auditor(0)}), (("-Wl,--audit=" + auditor(0),), {})):
        program = with_storage(size, "gcc", *flags)
        output = os.path.join(directory, "refused")
        refused = tap.run(tap.LAUNCHER, "-o", output, program, **settings)
        assert refused.returncode == 125 and refused.stdout == "" and not os.path.exists(output), refused
        remedy = {name: value for value, name in re.findall(r"add (\S+) to (GLIBC_TUNABLES)$", refused.stderr.strip())}
        assert remedy and len(refused.stderr.splitlines()) == 1, refused
        diagnosed = tap.run(tap.LAUNCHER, "--diagnose", program, **settings)
        assert diagnosed.returncode == 1 and "will not be measured" in diagnosed.stdout, diagnosed
        assert "!! auditors" in diagnosed.stdout and remedy["GLIBC_TUNABLES"] in diagnosed.stdout, diagnosed
        check(directory, 0, program, said="OpenMP attached", **remedy, **settings)
        remedied = tap.run(tap.LAUNCHER, "--diagnose", program, **remedy, **settings)
        assert remedied.returncode == 0 and "ok auditors" in remedied.stdout, remedied


@tap.case
def a_program_that_does_not_start_beside_an_auditor_anyway(directory):
    program = with_storage(4096, "gcc")
    check(directory, 0, program, LD_AUDIT=auditor(0))
    assert tap.run(program, LD_AUDIT=auditor(0)).returncode == 127


@tap.case
def diagnose_is_right_about_auditors(directory):
    for program in nested.values():
        diagnosed = tap.run(tap.LAUNCHER, "--diagnose", program(), LD_AUDIT=auditor(0))
        shown = [line.split()[:2] for line in diagnosed.stdout.splitlines()]
        assert diagnosed.returncode == 0 and ["ok", "auditors"] in shown and ["ok", "attach"] in shown, diagnosed
        assert "auditors" not in tap.run(tap.LAUNCHER, "--diagnose", program()).stdout


@tap.case
def memory_of_threads_that_come_and_go(directory):
    for number, compiler in enumerate(("gcc", "clang")):
        check(directory, number, build("thread_churn.c", compiler), "600", OMP_WAIT_POLICY="passive")


tap.main()
