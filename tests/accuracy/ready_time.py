"""Records of switches: time without a processor is what the kernel says, sleeps are counted, waits contain their part.

Busy processes that the test starts have the same processors as the program, so that its threads miss one whatever else
the machine does.  Threads that spin are hardly ever woken, so the records contain most of the time that the kernel's
account has, and never more.
"""
import glob
import os
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
from busy import TWO, UNLOCKED, busy_processes, need_two_processors
from measured import Measurement, build, clocks, no_losses, tap

REGIONS, SLEEPS = "300", 200
REGION_END, BARRIER = 1, 2  # kinds of waits
SLACK = 0.02  # seconds: a thread also misses its processor between its last reading and its end
FIELDS = ("switched_seen", "switched_preempted", "switched_wakes", "call_preempted", "call_wakes")


class Recorded:
    """A measurement: what the kernel says to each thread, and the records of its threads and waits."""

    def __init__(self, directory, *mode, compiler="gcc", prefix=(), options=("-e", "task-clock@f1000"), busy=4,
                 ended=0):
        with busy_processes(busy):
            run = Measurement(directory, build("ready_time.c", compiler), *mode, options=options,
                              prefix=(*TWO, *prefix), OMP_NUM_THREADS="2", OMP_WAIT_POLICY="active")
        assert run.done.returncode == ended, run.done
        if not ended:
            no_losses(run)
        own = clocks(run.done.stdout)
        self.ready = [own[name] for name in sorted(own) if name.startswith("ready_")]
        path, = glob.glob(os.path.join(run.output, "*.live" if ended else "*.hpcrun"))
        extents = list(form.extents(path))
        waits = form.LAYOUTS["tables"]["waits"][0]
        self.tick = next(extent for extent in extents if extent.table == form.PROCESS).parsed()[0].tick_scale / 2 ** 32
        found = {extent.owner: extent.parsed()[0] for extent in extents if extent.table == form.THREAD}
        self.threads = [found[owner] for owner in sorted(found)]
        self.waits = {owner: [wait for extent in extents if (extent.table, extent.owner) == (waits, owner)
                              for wait in extent.parsed()] for owner in found}

    def preempted_as_the_kernel_says(self):
        assert len(self.threads) == len(self.ready), self.ready
        for thread, ready in zip(self.threads, self.ready):
            value = thread.switched_preempted * self.tick / 1e9
            tap.timed(value < 1.03 * thread.run_delay_ns / 1e9 + SLACK, f"{value}, all of it {thread.run_delay_ns / 1e9}")
            tap.timed(value > 0.8 * ready - SLACK, f"preempted {value}, the kernel says {ready}")
            tap.timed(thread.switched_seen * self.tick > 0.95 * thread.wall_ns, thread.switched_seen)

    def parts_are_no_more_than_the_whole(self):
        for thread in self.threads:
            waits = self.waits[thread.index]
            parts = sum(wait.preempted + wait.preempted_in_runtime for wait in waits) + thread.call_preempted
            assert parts <= thread.switched_preempted <= thread.switched_seen, (parts, thread.switched_preempted)
            assert sum(wait.wakes for wait in waits) + thread.call_wakes <= thread.switched_wakes


def check_spinning(directory, **settings):
    need_two_processors()
    run = Recorded(directory, "barriers", REGIONS, **settings)
    run.preempted_as_the_kernel_says()
    run.parts_are_no_more_than_the_whole()
    for kind in REGION_END, BARRIER:
        assert any(wait.preempted for waits in run.waits.values() for wait in waits if wait.kind == kind), kind


@tap.case
def threads_that_spin_are_preempted(directory):
    for compiler in ("gcc", "clang"):
        check_spinning(directory, compiler=compiler)


@tap.case
def without_a_graph(directory):
    check_spinning(directory, options=("-p", "off"))


@tap.case
def a_killed_process_keeps_what_was_recorded(directory):
    need_two_processors()
    run = Recorded(directory, "killed", REGIONS, ended=-signal.SIGKILL)
    assert len(run.threads) == 2, len(run.threads)
    for thread in run.threads:
        assert 0 < thread.switched_preempted <= thread.switched_seen, (thread.switched_preempted, thread.switched_seen)
    assert any(wait.preempted for waits in run.waits.values() for wait in waits)


@tap.case
def each_sleep_is_a_wake_in_a_call(directory):
    run = Recorded(directory, "sleeps", str(SLEEPS))
    run.parts_are_no_more_than_the_whole()
    assert run.threads[0].call_wakes >= SLEEPS, run.threads[0].call_wakes


@tap.case
def without_locked_memory_nothing_is_recorded(directory):
    run = Recorded(directory, "barriers", "20", prefix=UNLOCKED, busy=0)
    assert not any(getattr(thread, field) for thread in run.threads for field in FIELDS)


@tap.case
def without_perf_event_only_the_kernels_sum_is_recorded(directory):
    deny = build("deny_perf_event.c", openmp=False)
    run = Recorded(directory, "barriers", REGIONS, prefix=(deny,), options=())
    assert not any(getattr(thread, field) for thread in run.threads for field in FIELDS)
    assert all(thread.run_delay_ns for thread in run.threads), [thread.run_delay_ns for thread in run.threads]


@tap.case
def what_was_before_an_exec_does_not_count(directory):
    """The process that becomes the program has waited for a processor as a script."""
    need_two_processors()
    script = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exec "$@"'
    run = Recorded(directory, "sleeps", "1", prefix=("sh", "-c", script, "sh"))
    thread, = run.threads
    tap.timed(run.ready[0] > 2 * thread.wall_ns / 1e9, (run.ready, thread.wall_ns))
    assert thread.run_delay_ns <= thread.wall_ns + SLACK * 1e9, (thread.run_delay_ns, thread.wall_ns, run.ready)


@tap.case
def one_thread_has_no_more_cpu_time_than_elapsed_time(directory):
    """The time in which the tool writes its files is in neither."""
    for _ in range(5):
        run = Measurement(directory, build("ready_time.c", "gcc"), "sleeps", "0")
        facts = {row["item"]: row["value"] for row in run.view("summary") if row["section"] == "run"}
        assert facts["threads"] == "1" and float(facts["cpu"]) <= float(facts["elapsed"]), facts


tap.main()
