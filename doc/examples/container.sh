#!/bin/sh
# Measures a program in a container, with the hpcrun-lite that is installed on this machine.
#
# Usage: container.sh IMAGE COMMAND [ARG]...     (ENGINE=podman, or docker, which is the default)
#
# The current directory is the working directory in the container, by the same path, so that the report finds the
# program outside, too; it takes the measurements.  The image needs no hpcrun-lite, but the libraries that it uses: on
# Debian libunwind8, libdwarf1, libelf1, libzstd1, liblzma5, zlib1g, libinih1 and libpfm4.
# --cap-add PERFMON lets the kernel take the samples (perf_event); where the engine's seccomp profile denies that
# nevertheless, timers take them.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 IMAGE COMMAND [ARG]..." >&2; exit 2; }
image=$1
shift
prefix=$(dirname "$(dirname "$(command -v hpcrun-lite)")")
exec "${ENGINE:-docker}" run --rm --cap-add PERFMON -v "$prefix:/opt/hpcrun-lite:ro" -v "$PWD:$PWD" -w "$PWD" "$image" \
  /opt/hpcrun-lite/bin/hpcrun-lite "$@"
