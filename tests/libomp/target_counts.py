#!/usr/bin/env python3
"""Target constructs in the forms of the public validation suites (target_forms.c): the same output as alone, and counts
and bytes that equal an independent tool's (target_counter.c) and what follows from the source."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from device_case import (CHOSEN, FOUND, RELEASE, device_program, executions, executions_and_bytes, measure_program,
                         old_device_program, old_libraries)
from measured import build, clocks, combinations, source_file, tap

# Executions of target, target-enter-data, target-exit-data (those of target data included) and target-update.
FORMS = {"maps": (3, 3, 4, 1), "globals": (3, 0, 0, 2), "pointers": (3, 2, 2, 0), "teams": (4, 0, 0, 0),
         "reductions": (3, 0, 0, 0), "chains": (5, 1, 1, 1), "copies": (1, 0, 0, 0), "devices": (4, 2, 2, 0),
         "sections": (3, 0, 0, 0), "host": (0, 0, 0, 0), "tasks": (12, 0, 0, 0)}
CONSTRUCTS = ("target", "target-enter-data", "target-exit-data", "target-update")
OPERATIONS = ("device-alloc", "device-free", "copy-to-device", "copy-from-device", "target-submit")
MODES = (("-p", "online"), ("-p", "log"), ("-p", "online", "-t"))


def counted(directory, program, *arguments):
    """What the independent tool counts: kind → number and bytes.  And the program's output."""
    tool = build("target_counter.c", f"clang-{RELEASE}", "-shared", "-fPIC", name="target_counter.so")
    path = os.path.join(directory, "counts")
    done = tap.run(program, *arguments, timeout=60, OMP_TOOL_LIBRARIES=tool, TARGET_COUNTS=path, **FOUND)
    assert (done.returncode, done.stderr) == (0, ""), done
    with open(path, encoding="ascii") as file:
        return {kind: (int(count), int(size)) for kind, count, size in map(str.split, file)}, done.stdout


def equal(directory, program, form, options):
    """Compares a measured run with one under the independent tool, which is also what the program prints alone."""
    expected, output = counted(directory, program, form)
    run = measure_program(directory, program, form, options=options)
    assert run.done.stdout == output, (form, run.done, output)
    found = executions_and_bytes(run)
    for kind in CONSTRUCTS + OPERATIONS:
        count, size = expected[kind]
        wanted = count, 0 if kind == "device-free" else size  # whose bytes the runtime does not report
        assert found.get(kind, (0, 0)) == wanted, (form, options, kind, found, expected)
    assert all(row["file"] == source_file(os.path.basename(row["file"])) and row["line"] for row in run.view("regions")
               if row["kind"] in CONSTRUCTS), run.view("regions")
    return run, expected


@tap.case
def counts_equal_an_independent_tool(directory):
    program = device_program("target_forms.c")
    for form, options in combinations(list(FORMS), list(MODES)):
        alone = tap.run(program, form, timeout=60, **FOUND)
        run, expected = equal(directory, program, form, options)
        assert alone.stdout == run.done.stdout and alone.returncode == 0, (alone, run.done)
        constructs = tuple(expected[kind][0] for kind in CONSTRUCTS)
        assert constructs == FORMS[form], (form, constructs)


@tap.case
def counts_of_many(directory):
    """All forms in one run, and 10,000 target regions."""
    program = device_program("target_forms.c")
    expected, output = counted(directory, program, *FORMS)
    run = measure_program(directory, program, *FORMS)
    assert run.done.stdout == output, (run.done, output)
    found = executions_and_bytes(run)
    assert all(found[kind][0] == expected[kind][0] for kind in CONSTRUCTS + OPERATIONS), (found, expected)
    assert all(found[kind][1] == expected[kind][1] for kind in OPERATIONS if kind != "device-free"), (found, expected)
    _, expected = equal(directory, device_program("device_targets.c"), "loop", MODES[0])
    assert expected["target"] == (10000, 0), expected


def unannounced(directory, program, libraries, form, options=MODES[0]):
    """Where the library for devices announces nothing: executions and output are the same, and no operation is known."""
    alone = tap.run(program, form, timeout=60, LD_LIBRARY_PATH=libraries)
    run = measure_program(directory, program, form, options=options, LD_LIBRARY_PATH=libraries)
    assert (alone.returncode, alone.stdout) == (0, run.done.stdout), (alone, run.done)
    found = executions(run)
    assert tuple(found.get(kind, 0) for kind in CONSTRUCTS) == FORMS[form], (form, libraries, found)
    assert not any(kind in found for kind in OPERATIONS), found
    rows = [row for row in run.view("regions") if row["kind"] in CONSTRUCTS and row["thread"] == "SUM"]
    assert all(not row["bytes"] and "does not report what constructs copy" in row["note"] for row in rows), rows
    assert all(row["line"] and float(row["exec_s"]) > 0 for row in rows), rows
    if form == "devices":
        assert {row["device"] for row in rows} == {"0", "1"}, rows
    elif form not in ("copies", "host"):
        assert {row["device"] for row in rows} == {"0"}, rows
    return run


@tap.case
def libraries_without_callbacks(directory):
    """Releases before 17: functions of the library are wrapped; clang 14 calls others than clang 16."""
    for compiler, version in ((RELEASE, RELEASE),) if CHOSEN and RELEASE < 17 else ((14, 14), (14, 15), (16, 16)):
        program, libraries = old_device_program("target_forms.c", compiler), old_libraries(version)
        for form, options in combinations(list(FORMS), list(MODES)):
            run = unannounced(directory, program, libraries, form, options)
            assert "Devices: " not in run.done.stderr, run.done


@tap.case
def many_without_callbacks(directory):
    """Target regions in a loop, and one beside work of the host."""
    program = old_device_program("device_targets.c", 14)
    run = measure_program(directory, program, "loop", LD_LIBRARY_PATH=old_libraries(14))
    assert executions(run)["target"] == 10000, executions(run)
    run = measure_program(directory, program, "beside", LD_LIBRARY_PATH=old_libraries(14))
    own = clocks(run.done.stdout)
    assert executions(run)["target"] == 1 and len(run.threads()) == 2, (executions(run), run.threads())
    assert all(row["overlap_s"] == "" for row in run.view("devices")), run.view("devices")  # it may be the host
    unknown = ("to_copies", "to_bytes", "to_s", "from_bytes", "from_s", "allocations", "free_s", "submit_s")
    assert all(row[name] == "" for row in run.view("devices") for name in unknown), run.view("devices")
    row = run.view("parallelism")[0]
    tap.timed(abs(float(row["work"]) - sum(own.values())) < 0.06, row, own)
    tap.timed(abs(float(row["span"]) - max(own.values())) < 0.06, row, own)


@tap.case
def library_that_does_not_find_libomp(directory):
    """Release 19 with libomp.so.5 alone: constructs are there, and the line at the end says what is missing, and why."""
    program = device_program("target_forms.c")
    for form in FORMS:
        run = unannounced(directory, program, "", form)
        said = "did not find libomp.so: add a folder" in run.done.stderr
        assert said == (form != "host"), run.done


@tap.case
def devices_that_are_off(directory):
    """Regions run on the host as a part of the code around them, in the rows of no construct; nothing is missing."""
    for program, libraries in ((old_device_program("target_forms.c", 14), old_libraries(14)),
                               (device_program("target_forms.c"), "")):
        run = measure_program(directory, program, "maps", "teams", LD_LIBRARY_PATH=libraries,
                              OMP_TARGET_OFFLOAD="DISABLED")
        assert "to, from, alloc: 2016 4480" in run.done.stdout and "Devices: " not in run.done.stderr, run.done
        assert not set(executions(run)) & set(CONSTRUCTS + OPERATIONS), executions(run)


@tap.case
def plugin_with_targets(directory):
    """Of a program without OpenMP: the runtime and the library for devices are in no global scope."""
    host = tap.compile_c(directory, "plugin_host", """
        #include <dlfcn.h>
        int main(int count, char **arguments)
        {
          void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
          int (*run)(int, char **) = (int (*)(int, char **))(plugin ? dlsym(plugin, "main") : 0);
          return run ? run(count - 1, arguments + 1) : 9;
        }""", "-ldl")
    plugin = device_program("target_forms.c", "-shared", "-fPIC")
    for libraries in (FOUND["LD_LIBRARY_PATH"], ""):
        alone = tap.run(host, plugin, "maps", LD_LIBRARY_PATH=libraries)
        run = measure_program(directory, host, plugin, "maps", LD_LIBRARY_PATH=libraries)
        assert (alone.returncode, alone.stdout) == (0, run.done.stdout), (alone, run.done)
        assert tuple(executions(run)[kind] for kind in CONSTRUCTS) == FORMS["maps"], executions(run)
        assert ("device-alloc" in executions(run)) == bool(libraries), (libraries, executions(run))


@tap.case
def plugins_with_libraries_of_their_own(directory):
    """A call leads to the library for devices that its plugin was loaded with, whatever others do.  LLVM's enters the global
    scope when it is used first."""
    host = tap.compile_c(directory, "two_plugins", """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        int main(int count, char **arguments)
        {
          void (*update)(void *, long, int, void *, void *, void *, void *, void *, void *);
          int (*run[2])(int, char **);
          for (int i = 0; i < 2 && count > 2; i++)
            *(void **)&run[i] = dlsym(dlopen(arguments[i + 1], RTLD_NOW | RTLD_LOCAL), i ? "ask" : "main");
          int status = 0;
          for (int i = 0; i < 4; i++) {
            status |= run[1](0, 0) != 42 || run[0](2, (char *[]){arguments[1], "maps", 0});
            *(void **)&update = dlsym(RTLD_DEFAULT, "__tgt_target_data_update_mapper");
            if (i == 1)
              update(0, 0, 0, 0, 0, 0, 0, 0, 0);
            dlclose(dlopen(arguments[3], RTLD_NOW));
          }
          return status;
        }""", "-ldl")
    other = tap.compile_c(directory, "libother.so", "int __tgt_target_kernel(void) { return 42; }", "-shared", "-fPIC")
    asks = tap.compile_c(directory, "asks.so", "int __tgt_target_kernel(); int ask(void) { return __tgt_target_kernel("
                         "(void *)0, -1L, 1, 1, (void *)0, (void *)0); }", "-shared", "-fPIC", other,
                         f"-Wl,-rpath,{directory}")
    unloaded = tap.compile_c(directory, "unloaded.so", "int unloaded;", "-shared", "-fPIC")
    plugin = device_program("target_forms.c", "-shared", "-fPIC")
    alone = tap.run(host, plugin, asks, unloaded, **FOUND)
    run = measure_program(directory, host, plugin, asks, unloaded)
    assert (alone.returncode, alone.stdout) == (0, run.done.stdout), (alone, run.done)
    wanted = [4 * count for count in FORMS["maps"]]
    wanted[CONSTRUCTS.index("target-update")] += 1
    assert [executions(run)[kind] for kind in CONSTRUCTS] == wanted, executions(run)


@tap.case
def forms_of_gcc_on_the_host(directory):
    """libgomp without devices: target data is a construct of its own, and regions that the host must run count, too."""
    program = build("target_forms.c", "gcc")
    for form, options in combinations(list(FORMS), list(MODES)):
        alone = tap.run(program, form, timeout=60)
        run = measure_program(directory, program, form, options=options)
        assert (alone.returncode, alone.stdout) == (0, run.done.stdout), (form, alone, run.done)
        found = executions(run)
        targets, entered, left, updates = FORMS[form]
        data = found.get("target-data", 0)
        assert found.get("target", 0) == (2 if form == "host" else targets), (form, found)
        assert data == {"maps": 1, "pointers": 2, "devices": 2}.get(form, 0), (form, found)
        counts = tuple(found.get(kind, 0) for kind in CONSTRUCTS[1:])
        assert counts == (entered - data, left - data, updates), (form, found)


tap.main()
