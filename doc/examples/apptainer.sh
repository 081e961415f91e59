#!/bin/sh
# Measures a program in an Apptainer (Singularity) container, with the hpcrun-lite that is installed on this machine.
#
# Usage: apptainer.sh IMAGE.sif COMMAND [ARG]...
#
# Apptainer's default has neither a seccomp filter nor other limits: perf_event is what the machine allows.  The image
# needs the libraries that hpcrun-lite uses: on Debian libunwind8, libdwarf1, libelf1, libzstd1,
# liblzma5, zlib1g, libinih1 and libpfm4.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 IMAGE.sif COMMAND [ARG]..." >&2; exit 2; }
image=$1
shift
prefix=$(dirname "$(dirname "$(command -v hpcrun-lite)")")
exec apptainer exec --bind "$prefix:/opt/hpcrun-lite:ro" --bind "$PWD" --pwd "$PWD" "$image" \
  /opt/hpcrun-lite/bin/hpcrun-lite "$@"
