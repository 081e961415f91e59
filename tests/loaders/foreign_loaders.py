"""Programs that a measured program starts and whose dynamic loader cannot load the preloaded library.

Usage: foreign_loaders.py [-k CASE]"""
import os
import re
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import build, tap

WAYS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat", "execveat itself", "fexecve",
        "raw execve", "raw execveat", "posix_spawn", "posix_spawnp", "system", "popen")
WITH_ENVIRONMENT = ("execve", "execvpe", "execle", "execveat", "fexecve", "raw execve", "posix_spawn", "posix_spawnp")
VERSIONS = "GLIBC_2.2.5", "GLIBC_2.34"  # of a loader before _dl_find_object()
NEW_VERSION = "GLIBC_2.35"


def starter():
    return build("starter.c", name="starter", openmp=False)


def loader(directory, name, versions=(), *flags):
    """A loader that defines these versions of symbols, and prints what is preloaded."""
    path, script = os.path.join(directory, name), os.path.join(directory, name + ".map")
    with open(script, "w", encoding="utf-8") as file:
        for number, version in enumerate(versions):
            what = "global: loader_version_marker; local: *;" if number == 0 else ""
            print(f"{version} {{ {what} }};", file=file)
    tap.must("gcc", "-shared", "-fPIC", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-O1", "-e", "_start",
             *(("-Wl,--version-script=" + script,) if versions else ()), *flags,
             os.path.join(tap.SCRIPT, "loader_stub.c"), "-o", path)
    return path


def loaded_by(directory, name, interpreter):
    """A program for that loader."""
    path = os.path.join(directory, name)
    tap.must("gcc", os.path.join(tap.SCRIPT, "loaded_child.c"), "-o", path, "-Wl,--dynamic-linker=" + interpreter)
    return path


def old_program(directory):
    return loaded_by(directory, "old", loader(directory, "ld-linux-x86-64.so.2", VERSIONS))


def musl_program(directory):
    tap.need_program("musl-gcc")
    path = os.path.join(directory, "musl")
    tap.must("musl-gcc", os.path.join(tap.SCRIPT, "loaded_child.c"), "-o", path)
    return path


def script(directory, name, line):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(line)
    os.chmod(path, 0o755)
    return path


def launched(directory, *command, prefix=(), **settings):
    """What the started program has printed, under measurement."""
    settings.setdefault("cwd", directory)
    done = tap.run(*prefix, tap.LAUNCHER, "-q", "--overwrite", "-o", os.path.join(directory, "measured"), *command,
                   **settings)
    assert done.stderr == "", done
    return done.returncode, done.stdout


def same(directory, *command, **settings):
    """The program starts its child as it does alone."""
    prefix, cwd = settings.pop("prefix", ()), settings.pop("cwd", directory)
    alone = tap.run(*prefix, *command, cwd=cwd, **settings)
    assert "loaded" in alone.stdout, alone
    seen = launched(directory, *command, prefix=prefix, cwd=cwd, **settings)
    assert seen == (alone.returncode, alone.stdout), (command, alone, seen)


def processes(way):
    return ("self",) if way in ("system", "popen") or "spawn" in way else ("self", "fork", "vfork", "thread")


def every_way(directory, program):
    for way in WAYS:
        for process in processes(way):
            same(directory, starter(), process, way, "own", program)


@tap.case
def programs_of_musl(directory):
    every_way(directory, musl_program(directory))


@tap.case
def programs_of_an_old_glibc(directory):
    every_way(directory, old_program(directory))


@tap.case
def loaders_without_versions(directory):
    same(directory, starter(), "fork", "execv", "own", loaded_by(directory, "bare", loader(directory, "ld-other.so.1")))


@tap.case
def loaders_of_another_word_size(directory):
    """A loader of glibc would say that the library is of the wrong class."""
    program = os.path.join(directory, "small")
    interpreter = loader(directory, "ld-linux.so.2", (*VERSIONS, NEW_VERSION), "-m32")
    tap.must("gcc", "-m32", "-nostdlib", "-ffreestanding", "-fPIE", "-pie", "-Wl,--dynamic-linker=" + interpreter,
             "-Wl,-e,_start", os.path.join(tap.SCRIPT, "loader_stub.c"), "-o", program)
    for way in ("execv", "posix_spawn"):
        same(directory, starter(), "fork", way, "own", program)


@tap.case
def other_programs_keep_what_is_preloaded(directory):
    """A newer glibc's, static ones, and those whose loader cannot be read."""
    new = loaded_by(directory, "new", loader(directory, "ld-new.so.2", (*VERSIONS, NEW_VERSION)))
    static = os.path.join(directory, "static")
    tap.must("gcc", "-static", os.path.join(tap.SCRIPT, "loaded_child.c"), "-o", static)
    position_independent = os.path.join(directory, "static-pie")
    tap.must("gcc", "-static-pie", os.path.join(tap.SCRIPT, "loaded_child.c"), "-o", position_independent)
    for program in (new, static, position_independent, loaded_by(directory, "real", "/lib64/ld-linux-x86-64.so.2")):
        for way in ("execv", "posix_spawnp", "fexecve"):
            assert launched(directory, starter(), "fork", way, "own", program) == (
                0, f"{tap.LIBRARY}\nloaded\nstatus {7 << 8}\n"), (program, way)


@tap.case
def loaders_that_cannot_be_read(directory):
    tap.need_root()
    old = old_program(directory)
    output = os.path.join(directory, "as-nobody")
    os.chmod(directory, 0o755)
    os.mkdir(output)
    os.chown(output, 65534, 65534)
    program = shutil.copy(starter(), directory)
    launcher = tap.other_users_launcher()

    def run():
        done = tap.run(*tap.OTHER_USER, launcher, "-q", "--overwrite", "-o", os.path.join(output, "measured"), program, "fork",
                       "execv", "own", old, cwd=output)
        return done.returncode, done.stdout

    assert run() == (0, f"loaded\nstatus {7 << 8}\n")
    os.chmod(os.path.join(directory, "ld-linux-x86-64.so.2"), stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    status, output_text = run()
    assert status == 0 and re.fullmatch(rf"\S+/libhpcrun-lite\.so\nloaded\nstatus {7 << 8}\n", output_text), output_text


@tap.case
def loaders_that_are_run_as_commands(directory):
    musl = next((path for path in ("/lib/ld-musl-x86_64.so.1",) if os.path.exists(path)), None)
    if not musl:
        raise tap.Skip("no musl")
    linked = os.path.join(directory, "loader")
    os.symlink(musl, linked)
    child = musl_program(directory)
    for command in (musl, linked):
        same(directory, "/bin/sh", "-c", f"{command} {child}")
    old = loader(directory, "ld-old.so.2", VERSIONS)
    same(directory, starter(), "fork", "execv", "own", old)


@tap.case
def scripts(directory):
    """Also scripts of scripts, interpreters by env, by a relative path, and without a first line that names one."""
    for program in (musl_program(directory), old_program(directory)):
        path = script(directory, "level1", f"#!{program}\n")
        script(directory, "level2", "#! \t./level1 with argument\n")
        script(directory, "level3", f"#!{directory}/level2")
        script(directory, "level4", f"#!{directory}/level3\n")
        for name in ("level1", "level2", "level3", "level4"):
            for way in ("execv", "execvp", "posix_spawn", "posix_spawnp", "system", "raw execve", "fexecve"):
                if way != "fexecve" or name != "level2":  # O_CLOEXEC
                    run_same_or_fail(directory, starter(), "fork", way, "own", "./" + name)
        by_env = script(directory, "by-env", f"#!/usr/bin/env {os.path.basename(program)}\n")
        plain = script(directory, "plain", f"exec {program}\n")
        PATH = directory + ":" + os.environ["PATH"]
        for file in (by_env, plain):
            for way in ("execvp", "execlp", "system", "popen"):
                same(directory, starter(), "fork", way, "own", file, PATH=PATH)
        same(directory, "/bin/sh", "-c", f"env {os.path.basename(program)}; {path}; ({program})", PATH=PATH)


def run_same_or_fail(directory, *command, **settings):
    """As same(); the child need not start."""
    alone = tap.run(*command, cwd=directory, **settings)
    assert launched(directory, *command, **settings) == (alone.returncode, alone.stdout), (command, alone)


@tap.case
def searched_programs(directory):
    """In PATH: past directories, and files that must not be executed; also in the current directory."""
    old = old_program(directory)
    first, second = (os.path.join(directory, name) for name in ("first", "second"))
    os.mkdir(first)
    os.mkdir(second)
    os.mkdir(os.path.join(first, "command"))
    with open(os.path.join(first, "other"), "w", encoding="utf-8"):
        pass
    for name in ("command", "other"):
        shutil.copy(old, os.path.join(second, name))
    for PATH in (f"/nowhere:{first}:{second}:/bin", f"{first}::/bin"):
        for name in ("command", "other"):
            for way in ("execvp", "execvpe", "execlp", "posix_spawnp"):
                same(directory, starter(), "fork", way, "own", name, PATH=PATH, cwd=second)


@tap.case
def environments(directory):
    old = old_program(directory)
    for way in WITH_ENVIRONMENT:
        for process in processes(way):
            for environment in ("twice", "large"):
                same(directory, starter(), process, way, environment, old)


@tap.case
def an_environment_that_another_thread_changes(directory):
    """The child may start with the tool's items, and fail; the process that starts it goes on."""
    old = old_program(directory)
    done, _ = launched(directory, starter(), "self", "posix_spawn", "grows", old)
    assert done == 0


@tap.case
def a_variable_without_an_end(directory):
    """The kernel refuses it (EFAULT)."""
    old = old_program(directory)
    for way in ("execve", "posix_spawn"):
        run_same_or_fail(directory, starter(), "fork", way, "cut", old)


@tap.case
def sandboxes(directory):
    """A child that a call of the tool would end."""
    for process in ("fork", "vfork", "clone"):
        for way in ("execvp", "execvpe"):
            for traced in ({}, {"TRACED": "1"}):  # then measuring has ended, also for forked children
                assert launched(directory, starter(), process, way, "own", "true", SANDBOX="1", **traced) == (
                    0, "status 0\n"), (process, way, traced)


@tap.case
def what_the_user_has_preloaded_stays(directory):
    own = [build("static_storage.c", "gcc", "-shared", "-fPIC", f"-DSTORAGE={size}", name=f"preloaded-{size}.so",
                 openmp=False) for size in (8, 16)]
    for program in (old_program(directory), musl_program(directory)):
        for separator in (":", " "):
            for way in ("execv", "posix_spawn", "execvp"):
                for environment in ("own", "twice"):
                    measured = launched(directory, starter(), "fork", way, environment, program,
                                        LD_PRELOAD=separator.join(own))
                    times = 2 if environment == "twice" and way == "posix_spawn" else 1
                    assert measured == (0, (":".join(own) + "\n") * times + f"loaded\nstatus {7 << 8}\n"), measured
        # the user's items before and after the tool's, with other separators
        changed = f'LD_PRELOAD=" {own[0]} :$LD_PRELOAD {own[1]}:" exec {program}'
        assert launched(directory, "/bin/sh", "-c", changed) == (7, f"{own[0]} {own[1]}\nloaded\n")


@tap.case
def an_exchanged_runtime_is_not_preloaded_either(directory):
    program = build("starter.c", "gcc", name="starter-openmp")
    for child in (old_program(directory), musl_program(directory)):
        done = tap.run(tap.LAUNCHER, "-q", "--overwrite", "-o", os.path.join(directory, "measured"), "--omp-runtime",
                       "exchange", "--", program, "fork", "execv", "own", child)
        assert (done.returncode, done.stdout) == (0, f"loaded\nstatus {7 << 8}\n"), done


@tap.case
def addresses_that_the_kernel_refuses(directory):
    alone = tap.run(starter(), "fork", "invalid", "own", "/bin/true")
    assert "3 of 3" in alone.stdout, alone
    assert launched(directory, starter(), "fork", "invalid", "own", "/bin/true") == (0, alone.stdout)


@tap.case
def the_launcher_refuses_an_old_glibc(directory):
    old = old_program(directory)
    refused = tap.run(tap.LAUNCHER, "-o", os.path.join(directory, "refused"), old)
    assert refused.returncode == 125 and "glibc 2.35" in refused.stderr, refused
    diagnosed = tap.run(tap.LAUNCHER, "--diagnose", old)
    assert diagnosed.returncode == 1 and "will not be measured" in diagnosed.stdout, diagnosed


tap.main()
