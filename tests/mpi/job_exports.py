"""Messages, communicators and calls of MPI in the exports of the timeline, by the rules and tools of the formats;
counts and bytes are those of the program itself (message_forms.c)."""
import collections
import glob
import os
import random
import re
import shutil
import sys

sys.path[0:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "html")]
import trace_formats as formats
from browser import Browser, need_browser
from jobs import Job, LIBRARIES, build, change_logs
from measured import tap
from report import rows

MODULE = os.path.join(os.path.dirname(tap.LIBRARY), "hpcprof-lite-otf2.so")


def measure(directory, mpi, ranks, *command, **how):
    return Job(directory, mpi, ranks, *command, options=("-t", "-p", "log"), output=f"{mpi}-{ranks}", **how)


def otf2(directory, measurement, *options, name="archive", damaged=False):
    if not os.path.exists(MODULE):
        raise tap.Skip("built without OTF2")
    archive = os.path.join(directory, name)
    done = tap.run(tap.REPORT, "-q", "-f", "otf2", *options, "-o", archive, measurement)
    assert done.returncode == damaged and bool(done.stderr) == damaged, done
    lines = done.stderr.splitlines()
    assert len(lines) == len(set(lines)), lines
    return os.path.join(archive, "traces.otf2")


def perfetto(directory, measurement, *options, damaged=False):
    path = os.path.join(directory, "trace.json")
    assert tap.run(tap.REPORT, "-q", "-f", "perfetto", *options, "-o", path, measurement).returncode == damaged
    return path


def times(lanes):
    return formats.plain(lanes, "time")


def of_csv(measurement, *options):
    found = [row for row in rows("timeline", *options, measurement) if row["category"]]
    return times(formats.of_rows(found, lambda row: (row["process"], row["thread"])))


def check_forms(directory, mpi, ranks):
    """Every form of communication, against what the ranks print of themselves."""
    job = measure(directory, mpi, ranks, build(directory, "message_forms.c", mpi))
    assert job.done.returncode == 0, job.done
    path = otf2(directory, job.output)
    found = formats.Otf2Messages(path)
    printed = {int(rank): int(sent) for rank, sent in re.findall(r"rank (\d+) sent (\d+)", job.done.stdout)}
    assert {rank: found.bytes[rank] for rank in printed} == printed, (found.bytes, printed)
    assert sorted(found.sent) == sorted(found.received)
    counts = found.operations
    # to itself; between ranks 0 and 1: blocking, six requests, three of a persistent one, two probed, two elsewhere
    assert len(found.sent) == ranks + 6 + 6 + 3 + 2 + 2, (len(found.sent), counts)
    assert counts["MPI_REQUEST_CANCELLED"] == ranks, counts
    assert counts["NON_BLOCKING_COLLECTIVE_COMPLETE"] == ranks, counts
    # nine of data, two barriers, four communicators
    assert counts["MPI_COLLECTIVE_BEGIN"] == counts["MPI_COLLECTIVE_END"] == 16 * ranks, counts
    named = dict(found.names())
    assert named["MPI_COMM_WORLD"] == list(range(ranks)), named
    assert named["even ranks"] == list(range(0, ranks, 2)), named
    assert named["odd ranks, and a long name"] == list(range(1, ranks, 2)), named
    assert times(formats.otf2(path)) == of_csv(job.output)
    return job, found


def calls(lanes):
    """The numbers of calls of each function, of all lanes."""
    return +sum((lane["calls"] for lane in lanes), collections.Counter())


def check_flows(directory, job, found):
    path = perfetto(directory, job.output)
    lanes = formats.perfetto(path)[0]
    assert times(lanes) == of_csv(job.output)
    ranks = sum(lane["calls"]["MPI_Init"] for lane in lanes)
    assert calls(lanes)["MPI_Barrier"] == 2 * ranks and calls(lanes)["MPI_Ssend"] == 1, calls(lanes)
    assert calls(lanes) == calls(formats.otf2(os.path.join(directory, "archive", "traces.otf2")))
    firefox = os.path.join(directory, "profile.json")
    tap.must(tap.REPORT, "-q", "-f", "firefox", "-o", firefox, job.output)
    assert calls(formats.firefox(firefox)) == calls(lanes)
    with formats.FirefoxProfiler(firefox) as profiler:
        shown = {entry["markerName"]: entry["count"] for entry in profiler.ask("thread", "markers")["byType"]}
        assert shown["MPI_Barrier"] == 2 and shown["MPI_Init"] == 1, shown
    messages = formats.perfetto_messages(path)
    assert len(messages) == len(found.received), (len(messages), len(found.received))
    ends = collections.Counter((send, receive) for send, receive, _ in messages)
    assert ends["MPI_Sendrecv", "MPI_Sendrecv"] == 2 and ends["MPI_Start", "MPI_Wait"] == 3, ends
    assert all(receive.startswith(("MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Test", "MPI_Mprobe", "MPI_Mrecv"))
               for _, receive in ends), ends
    assert min(length for *_, length in messages) > -10**6, messages  # the clocks are those of the processes


def both_formats(mpi, ranks):
    def case(directory):
        check_flows(directory, *check_forms(directory, mpi, ranks))
    return case


@tap.case
def on_open_mpi(directory):
    both_formats("openmpi", 2)(directory)


@tap.case
def on_mpich(directory):
    both_formats("mpich", 4)(directory)


@tap.case
def parts_of_runs_and_missing_ranks_leave_an_archive_that_is_right(directory):
    mpi = "openmpi"
    job = measure(directory, mpi, 3, build(directory, "message_forms.c", mpi))
    whole = formats.Otf2Messages(otf2(directory, job.output))
    inside = [whole.times[kind][len(whole.times[kind]) // 2] + 1 for kind in (
        "MPI_COLLECTIVE_BEGIN", "MPI_ISEND", "MPI_IRECV_REQUEST", "NON_BLOCKING_COLLECTIVE_REQUEST", "MPI_SEND")]
    end = max(whole.times["MPI_COLLECTIVE_END"])
    parts = [(0, time) for time in inside] + [(time, end) for time in inside]
    for number, part in enumerate(parts):
        part = "--from", f"{part[0] / 1e9:.9f}", "--to", f"{part[1] / 1e9:.9f}"
        path = otf2(directory, job.output, *part, name=f"part-{number}")
        found = formats.Otf2Messages(path, partial=True)
        assert len(found.sent) < len(whole.sent) and times(formats.otf2(path)) == of_csv(job.output, *part)
    missing, = [path for path in glob.glob(os.path.join(job.output, "*.hpcrun")) if row_rank(job, path) == "2"]
    for path in glob.glob(missing.replace(".hpcrun", ".*")):
        os.remove(path)
    found = formats.Otf2Messages(otf2(directory, job.output, name="less"), partial=True)
    assert dict(found.names())["MPI_COMM_WORLD"] == [0, 1, 2]
    assert len(found.sent) == len(whole.sent) - 1 and found.operations["MPI_COLLECTIVE_END"] == 2 * 16


@tap.case
def killed_ranks_have_what_they_had_done(directory):
    for mpi in LIBRARIES:
        job = measure(directory, mpi, 3, build(directory, "killed_rank.c", mpi))
        assert job.done.returncode, job.done
        path = otf2(directory, job.output, name=mpi)
        found = formats.Otf2Messages(path, partial=True)
        assert sorted(found.sent) == sorted(found.received) == [(0, 1, 4), (1, 0, 4)], (mpi, found.sent, found.received)
        ended = found.operations["MPI_COLLECTIVE_END"]  # of the first barrier: rank 2 may have been killed before
        assert ended in (2, 3) and found.operations["MPI_COLLECTIVE_BEGIN"] == ended, (mpi, found.operations)
        assert times(formats.otf2(path)) == of_csv(job.output), mpi


def row_rank(job, path):
    process = os.path.basename(path).split("-")[-2]
    return {row["process"]: row["rank"] for row in rows("threads", job.output)}[process]


@tap.case
def without_a_trace_or_a_log_there_is_what_the_other_tells(directory):
    mpi = "openmpi"
    job = Job(directory, mpi, 2, build(directory, "message_forms.c", mpi), options=("-t",), output="traced")
    found = formats.Otf2Messages(otf2(directory, job.output))
    assert not found.operations and not found.names()
    assert formats.perfetto_messages(perfetto(directory, job.output)) == []


@tap.case
def messages_are_lines_in_the_page(directory):
    """Those of the job, the longest waits first; one that is pointed at is described."""
    need_browser()
    mpi = "openmpi"
    job = measure(directory, mpi, 3, build(directory, "late_ranks.c", mpi), "chain", "4")
    page = os.path.join(directory, "page.html")
    tap.must(tap.REPORT, "-q", "-f", "html", "-o", page, job.output)
    sent = {(row["from"], row["to"]): (int(row["messages"]), int(row["bytes"])) for row in rows("messages", job.output)}
    late = sum(float(row["wait_s"]) for row in rows("wait-states", job.output) if row["state"] == "late sender")
    with Browser() as browser:
        browser.open(page, "#tab=timeline")
        lines = browser.evaluate("""loadTrace().then(loadMessages).then((all) => Array.from({ length: all.count },
            (_, i) => all.message(i)).map(({ from, to, bytes, waited, sent, received }) =>
              [from.rank, to.rank, bytes, waited, sent, received]))""")
        found = {pair: (sum(line[:2] == list(pair) for line in lines), sum(line[2] for line in lines
                                                                          if line[:2] == list(pair))) for pair in sent}
        assert found == sent and len(lines) == sum(count for count, _ in sent.values()), (found, sent)
        waits = [line[3] for line in lines]
        assert waits == sorted(waits, reverse=True) and abs(sum(waits) / 1e9 - late) < 1e-5 * len(waits), (waits, late)
        note = browser.evaluate("document.querySelector('.lanes-messages').textContent")
        assert note == f"Lines: {len(lines)} messages in sight, each from its send to the end of its receive.", note
        first, last = browser.evaluate("loadTrace().then((trace) => [trace.from, trace.until])")
        left, top, width = browser.evaluate("(() => { const box = document.querySelector('.lanes-canvas')"
                                            ".getBoundingClientRect(); return [box.left, box.top, box.width]; })()")
        line = lines[0]
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        time = ((line[4] + line[5]) / 2 - first) / (last - first)
        # each rank has a row of its own, and below it one of its thread
        browser.move(left + width * time, top + 24 * (int(line[0]) + int(line[1]) + 1.5))
        details = browser.evaluate("document.querySelector('.lane-details').textContent")
        assert f"from thread {line[0]}.1 to thread {line[1]}.1" in details and f"Bytes{line[2]}" in details, details
        job = measure(directory, mpi, 2, build(directory, "late_ranks.c", mpi), "ring", "150")
        tap.must(tap.REPORT, "-q", "-f", "html", "-o", page, job.output)
        browser.open(page, "#tab=timeline")
        note = browser.evaluate("document.querySelector('.lanes-messages').textContent")
        assert note == "Lines: the 200 messages in sight for which receivers waited longest; 100 more in sight.", note


@tap.case
def damaged_logs_do_no_harm(directory):
    """Bytes that were changed: a report or a message, and an archive that can be read."""
    mpi = "openmpi"
    job = measure(directory, mpi, 2, build(directory, "message_forms.c", mpi))
    generator = random.Random(7)
    for number in range(8):
        copy = os.path.join(directory, f"copy-{number}")
        shutil.copytree(job.output, copy)
        change_logs(copy, 1 + number, generator)
        path = otf2(directory, copy, name=f"archive-{number}", damaged=True)
        formats.Otf2Messages(path, partial=True)
        formats.otf2(path)
        formats.perfetto_messages(perfetto(directory, copy, damaged=True))


tap.main()
