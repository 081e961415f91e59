#!/usr/bin/env python3
"""MPI jobs whose ranks wait for devices of their own (job_devices.c): work, device time and span of the job follow from the
source, also with faster devices and copies; all views have the devices of all ranks, and several readers report the
same."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import jobs
from device_case import waiting_runtime
from measured import line_of, tap
from report import check_spans, rows

COPY, KERNEL, BYTES = 4, 10, 1000
# Work, device time and span of so many ranks; with copies that take no time, and with a device twice as fast.
FORMS = {"chain": lambda n: (5 * n, (COPY + KERNEL) * n, (5 + COPY + KERNEL) * n, (5 + KERNEL) * n, (5 + (COPY + KERNEL) / 2) * n),
         "slowest": lambda n: (3 * n, sum(COPY + KERNEL * (r + 1) for r in range(n)), COPY + KERNEL * n + 3, KERNEL * n + 3,
                               (COPY + KERNEL * n) / 2 + 3)}


def measure(directory, mpi, ranks, form, *options):
    program = jobs.build(directory, "job_devices.c", mpi, *waiting_runtime())
    job = jobs.Job(directory, mpi, ranks, program, form, options=("--work", "user", *options), output=f"{mpi}-{form}{ranks}")
    assert job.done.returncode == 0 and "not followed" not in job.done.stderr, job.done
    return job


def check(job, form, ranks):
    work, device, span, _, _ = FORMS[form](ranks)
    table = rows("parallelism", job.output)
    check_spans(table)
    assert [row["kind"] for row in table[:2]] == ["job", "program"], table[:2]
    found = tuple(float(table[0][name]) for name in ("work", "device_time", "span"))
    assert found == (work, device, span), (form, ranks, found, table)
    assert sum(float(row["critical_path"]) for row in table[1:]) == span, table
    copies, = (row for row in table if row["kind"] == "copy-to-device")
    assert (float(copies["device_time"]), copies["instances"]) == (COPY * ranks, str(ranks)), copies
    devices = [row for row in rows("devices", job.output) if row["kind"] == "device"]
    assert [(row["rank"], row["device"], row["targets"], row["to_copies"], row["to_bytes"]) for row in devices] == \
           [(str(rank), "0", "1", "1", str(BYTES)) for rank in range(ranks)], devices
    whole, = (row for row in rows("regions", job.output) if row["kind"] == "copy-to-device" and row["thread"] == "SUM")
    assert (whole["executions"], whole["bytes"], whole["device"]) == (str(ranks), str(BYTES * ranks), "0"), whole
    threads = rows("threads", job.output)
    assert len(threads) == ranks and all(float(row["device_s"]) > 0 for row in threads), threads


def scenarios(job, form, ranks):
    _, _, _, free, faster = FORMS[form](ranks)
    line = line_of("job_devices.c", f"/* @ {form} */\n")
    for text, span in (("copy-to-device=1e12", free), (f"job_devices.c:{line}=2", faster)):
        found, = rows("whatif", "--what-if", text, job.output)
        assert float(found["span"]) == span, (form, text, found)


@tap.case
def closed_forms_of_jobs(directory):
    for mpi in jobs.LIBRARIES:
        for form in FORMS:
            job = measure(directory, mpi, 2, form, "-p", "log", "-t")
            check(job, form, 2)
            scenarios(job, form, 2)
    uses = tap.must(tap.REPORT, "-q", "--view=timeline", "--lanes=process", job.output)
    assert "\n0.d0 " in uses and "\n1.d0 " in uses, uses


@tap.case
def several_readers_report_the_same(directory):
    job = measure(directory, "openmpi", 3, "slowest", "-p", "log")
    check(job, "slowest", 3)
    for view in ("parallelism", "devices", "regions", "whatif"):
        one = tap.must(tap.REPORT, "-q", "--view", view, "-f", "csv", job.output)
        several = jobs.mpirun("openmpi", 2, tap.REPORT, "-q", "--view", view, "-f", "csv", job.output, cwd=directory)
        assert several.returncode == 0 and several.stdout == one, (view, one, several)


tap.main()
