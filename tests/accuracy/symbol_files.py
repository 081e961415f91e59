"""Names and lines, wherever linkers and compilers put what tells them.

Usage: symbol_files.py [-k CASE]"""
import http.server
import os
import re
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, openmp_flags, source_file, tap, write
from report import report, table

SOURCE = "named_functions.c"
REGION = f"parallel @ {SOURCE}:{line_of(SOURCE, 'omp parallel')}"
SERIAL, PARALLEL = ["main", "outer", "middle", "leaf"], ["main", "team", REGION, "middle", "leaf"]


def paths(run):
    """The call paths of the functions that work, without what leaf() calls."""
    return [[name.split(" [")[0] for name in node.path()] for node in run.tree() if node.name == "leaf"]


def check_chains(run, *, inlined=True):
    assert run.done.returncode == 0 and run.done.stdout == "done\n", run.done
    expected = [[name for name in path if inlined or name != "middle"] for path in (SERIAL, PARALLEL)]
    assert sorted(paths(run)) == expected, paths(run)


@tap.case
def stubs_of_every_linker_leave_no_frame(directory):
    measured = []
    for linker in ("bfd", "gold", "lld", "mold"):
        for flags in ((), ("-Wl,-z,now",), ("-fcf-protection=full",)):
            if linker != "bfd" and tap.run("which", f"ld.{linker}").returncode:
                continue
            run = Measurement(directory, build(SOURCE, "gcc", f"-fuse-ld={linker}", *flags))
            check_chains(run)
            assert not [node.name for node in run.tree() if "$" in node.name or "GOMP" in node.name]
            measured.append(linker)
    if "mold" not in measured:
        raise tap.Skip("no mold: its stubs were not seen")


def loader():
    """The dynamic loader that programs name."""
    shown = tap.must("readelf", "-l", build(SOURCE))
    return re.search(r"interpreter: (\S+)]", shown)[1]


@tap.case
def a_program_that_the_loader_is_told_to_run_has_its_own_names(directory):
    link = os.path.join(directory, "ld.so")
    os.symlink(loader(), link)
    check_chains(Measurement(directory, link, build(SOURCE)))
    program, settings = build(SOURCE), write(os.path.join(directory, "team.ini"), "[filter]\nfunctions = !team\n")
    for prefix, options in (((), ()), ((), ("--argv0", "other", "--library-path", "/nonexistent")),
                            (("/bin/sh", "-c", 'exec "$@"', "sh"), ()), ((), ("--preload", "libm.so.6", "--inhibit-cache"))):
        run = Measurement(directory, *prefix, loader(), *options, program)
        check_chains(run)
        assert {node.module for node in run.tree() if node.name == "leaf"} == {program}
        filtered = Measurement(directory, *prefix, loader(), *options, program, options=("--config", settings))
        assert paths(filtered) == [SERIAL], paths(filtered)


@tap.case
def the_directory_has_the_name_of_the_program_that_the_loader_runs(directory):
    program = build(SOURCE)
    tap.must(tap.LAUNCHER, loader(), program, "0", cwd=directory)
    assert os.listdir(directory) == [f"hpcrun-lite-{os.path.basename(program)}-measurements"], os.listdir(directory)


@tap.case
def a_loader_without_a_program_is_refused(directory):
    for words in ((), ("--list", build(SOURCE)), ("--library-path",)):
        run = Measurement(directory, loader(), *words)
        assert run.done.returncode == 125 and "is the dynamic loader, but no program is named" in run.done.stderr, run.done
        assert not os.path.exists(run.output)


@tap.case
def split_dwarf_is_read_and_missed(directory):
    for compiler in ("gcc", "clang"):
        for version in (4, 5):
            program, part = os.path.join(directory, "program"), os.path.join(directory, "part.o")
            tap.must(compiler, "-O1", f"-gdwarf-{version}", "-gsplit-dwarf", *openmp_flags(compiler), "-c",
                     source_file(SOURCE), "-o", part)
            tap.must(compiler, *openmp_flags(compiler), part, "-o", program, "-lm")
            run = Measurement(directory, program)
            check_chains(run)
            os.remove(os.path.join(directory, "part.dwo"))
            done = report("--view", "topdown", run.output)
            assert "1 of the .dwo files of" in done.stderr and "llvm-dwp" in done.stderr, done
            assert done.stderr.count("\n") == 1, done.stderr


class Server:
    """A debuginfod on the loopback interface: build ID -> file.  It counts what it is asked for."""

    def __init__(self, files, *, silent=False):
        self.asked, self.files, self.silent = [], files, silent
        outer, self.done = self, threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                if outer.silent:
                    outer.done.wait(60)
                    return
                words = self.path.split("/")
                path = outer.files.get(words[2]) if words[1] == "buildid" and words[3] == "debuginfo" else None
                self.send_response(200 if path else 404)
                with open(path or os.devnull, "rb") as file:
                    body = file.read()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        self.server.shutdown()
        self.server.server_close()


def stripped_run(directory):
    """A measurement of a stripped program, the program's build ID, and its debug file."""
    program, debug = os.path.join(directory, "program"), os.path.join(directory, "kept")
    shutil.copy(build(SOURCE, "gcc", "-Wl,--build-id"), program)
    tap.must("objcopy", "--only-keep-debug", program, debug)
    build_id = re.search(r"Build ID: (\w+)", tap.must("readelf", "-n", program))[1]
    tap.must("strip", program)
    return Measurement(directory, program), build_id, debug


def names(run, *options, **settings):
    settings = {"XDG_CACHE_HOME": "", "DEBUGINFOD_CACHE_PATH": "", "DEBUGINFOD_URLS": "", **settings}
    done = report("--view", "topdown", "-f", "csv", *options, run.output, **settings)
    assert done.returncode == 0, done
    return {row["name"] for row in table(done.stdout)}, done.stderr


@tap.case
def debug_files_in_the_cache_of_debuginfod_are_found(directory):
    run, build_id, debug = stripped_run(directory)
    assert "leaf" not in names(run, HOME=directory)[0]
    for variable, folder in (("DEBUGINFOD_CACHE_PATH", "own"), ("XDG_CACHE_HOME", "caches/debuginfod_client"),
                             ("HOME", ".cache/debuginfod_client")):
        place = os.path.join(directory, folder, build_id)
        os.makedirs(place)
        shutil.copy(debug, os.path.join(place, "debuginfo"))
        value = directory if variable == "HOME" else os.path.join(directory, folder.split("/")[0])
        found, _ = names(run, **{"HOME": directory, variable: value})
        assert {"leaf", "middle", "outer"} <= found, (variable, found)
        shutil.rmtree(os.path.join(directory, folder.split("/")[0]))


@tap.case
def servers_of_debuginfod_are_asked_with_the_option_only(directory):
    run, build_id, debug = stripped_run(directory)
    with Server({build_id: debug}) as server:
        settings = {"HOME": directory, "DEBUGINFOD_URLS": server.url}
        assert "leaf" not in names(run, **settings)[0]
        assert server.asked == [], server.asked
        found, said = names(run, "--debuginfod", **settings)
        if "libdebuginfod.so.1 cannot be loaded" in said:
            raise tap.Skip("no libdebuginfod")
        assert {"leaf", "middle", "outer"} <= found and "debuginfod" not in said, (found, said)
        assert f"/buildid/{build_id}/debuginfo" in server.asked, server.asked
        before = len(server.asked)
        assert "leaf" in names(run, **settings)[0]  # it is in the cache now
        assert len(server.asked) == before, server.asked


@tap.case
def parts_that_debug_files_share_are_found_like_these(directory):
    tap.need_program("dwz")
    run, build_id, debug = stripped_run(directory)
    other, shared = shutil.copy(debug, os.path.join(directory, "other")), os.path.join(directory, "shared")
    tap.must("dwz", "-m", shared, debug, other)
    shared_id = re.search(r"Build ID: (\w+)", tap.must("readelf", "-n", shared))[1]
    for name, file in (build_id, debug), (shared_id, shared):
        os.makedirs(os.path.join(directory, "cache", name))
        shutil.move(file, os.path.join(directory, "cache", name, "debuginfo"))
    found, said = names(run, DEBUGINFOD_CACHE_PATH=os.path.join(directory, "cache"))
    assert {"leaf", "middle", "outer"} <= found and not said, (found, said)
    shutil.rmtree(os.path.join(directory, "cache", shared_id))
    found, said = names(run, DEBUGINFOD_CACHE_PATH=os.path.join(directory, "cache"))
    assert not [name for name in found if "DW_FORM" in name] and "--debuginfod" in said, (found, said)


@tap.case
def failures_of_debuginfod_are_reported_once(directory):
    run, _, _ = stripped_run(directory)
    done = report("--view", "topdown", "--debuginfod", run.output, HOME=directory, DEBUGINFOD_URLS="")
    assert done.returncode == 2 and "needs the addresses of servers in DEBUGINFOD_URLS" in done.stderr, done
    with Server({}, silent=True) as server:
        _, said = names(run, "--debuginfod", HOME=directory, DEBUGINFOD_URLS=server.url, DEBUGINFOD_TIMEOUT="1")
        if "libdebuginfod.so.1 cannot be loaded" in said:
            raise tap.Skip("no libdebuginfod")
        assert said.count("--debuginfod: ") == 1 and "cannot be fetched" in said, said
        assert len({path for path in server.asked}) <= 3, server.asked


tap.main()
