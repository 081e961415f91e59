#!/usr/bin/env python3
"""The example scripts for containers and clusters (doc/examples), with stand-ins for docker, apptainer and srun."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import build, tap

EXAMPLES = os.path.join(tap.SOURCE, "doc", "examples")
# Skips the options and the image, and runs the rest on this machine, where the tool is not in /opt.
CONTAINER = """#!/bin/sh
printf '%s\\n' "$0 $*" >arguments
while [ "$1" != image ]; do shift; done
shift
tool=$1
shift
[ "$tool" = /opt/hpcrun-lite/bin/hpcrun-lite ] || exit 99
exec hpcrun-lite "$@"
"""
STEP = """#!/bin/sh
shift
for rank in 0 1; do SLURM_PROCID=$rank SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 "$@" || exit; done
"""


def stand_in(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)


def run(directory, script, *arguments, **settings):
    path = os.pathsep.join((directory, os.path.dirname(tap.LAUNCHER), os.environ["PATH"]))
    return tap.run("sh", os.path.join(EXAMPLES, script), *arguments, cwd=directory, PATH=path, **settings)


def program(directory):
    """A program of this name in the directory, so that it is called as users call theirs."""
    os.symlink(build("../advice/sentences.c", "gcc", name="healthy"), os.path.join(directory, "app"))


def check_container(directory, engine, script, **settings):
    program(directory)
    stand_in(directory, engine, CONTAINER)
    done = run(directory, script, "image", "-o", "out put", "./app", "healthy", **settings)
    assert done.returncode == 0 and "OpenMP attached" in done.stderr, done
    with open(os.path.join(directory, "arguments"), encoding="utf-8") as file:
        said = file.read()
    prefix = os.path.dirname(os.path.dirname(tap.LAUNCHER))
    assert f"{prefix}:/opt/hpcrun-lite:ro" in said and directory in said, said
    assert [name for name in os.listdir(os.path.join(directory, "out put")) if name.endswith(".hpcrun")]
    for arguments in ((), ("image",)):
        refused = run(directory, script, *arguments, **settings)
        assert refused.returncode == 2 and refused.stderr.startswith("usage: "), refused


@tap.case
def images_are_built_with_all_libraries(_):
    """Those that doc/install.md lists for Debian."""
    with open(os.path.join(tap.SOURCE, "doc", "install.md"), encoding="utf-8") as page:
        rows = re.findall(r"^\| libraries(?:, static)? \| `([^`]+)`", page.read(), re.M)
    assert len(rows) == 2, rows
    for name in "Dockerfile", "hpcrun-lite.def":
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as text:
            missing = set(" ".join(rows).split()) - set(text.read().split())
        assert not missing, (name, missing)


@tap.case
def docker(directory):
    check_container(directory, "docker", "container.sh")


@tap.case
def podman(directory):
    check_container(directory, "podman", "container.sh", ENGINE="podman")


@tap.case
def apptainer(directory):
    check_container(directory, "apptainer", "apptainer.sh")


@tap.case
def slurm(directory):
    program(directory)
    stand_in(directory, "srun", STEP)
    done = run(directory, "slurm.sh", "./app", "healthy", SLURM_JOB_ID="4711", SLURM_CPUS_PER_TASK="1")
    assert done.returncode == 0 and " in 2 processes " in done.stdout, done
    files = os.listdir(os.path.join(directory, "hpcrun-lite-job-4711"))
    assert len([name for name in files if name.endswith(".hpcrun")]) == 2, files


tap.main()
