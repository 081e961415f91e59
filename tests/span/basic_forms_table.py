"""The work and span of the programs in basic_forms.c."""
from measured import build

# Form: work, span.
FORMS = {
    "fib": (465, 14), "taskgroup": (82, 75), "nested_groups": (48, 47), "undeferred": (25, 21), "final": (8, 8),
    "final_beside": (21, 16), "untied": (51, 6), "taskloop": (41, 6), "taskloop_nogroup": (41, 5),
    "region_in_task": (19, 9), "inout": (120, 102), "readers": (39, 21), "mutexinoutset": (21, 15), "taskwait_depend": (160, 110),
    "loop": (156, 36),
    "loops": (400, 100),
    "reduction": (49, 5), "ordered": (90, 27), "doacross": (90, 30), "critical": (100, 10),
    "lock": (32, 4), "nested": (51, 12), "phases": (45, 45), "masked": (11, 11), "left_behind": (42, 42),
    "foreign": (41, 15),
}


def program(compiler):
    return build("basic_forms.c", compiler)


def completed(run):
    """The program ended well, and the tool followed all of it."""
    assert run.done.returncode == 0 and run.done.stdout == "done\n" and "not followed" not in run.done.stderr, run.done
