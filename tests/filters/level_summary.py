"""The work while the level is summary, which needs an idle machine."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Phased, clocks, write
from report import report, rows
from tap import case, main, timed


@case
def work_at_level_summary_is_not_sampled_but_known(directory):
    """At summary in the middle of the run, or at its end: the report has the work of both."""
    for what, levels in (("middle", ("summary", "samples")), ("end", ("samples", "summary"))):
        folder = os.path.join(directory, what)
        os.makedirs(folder)
        settings = os.path.join(folder, "level.ini")
        program = Phased(folder, "phases", compiler="clang").wait_sampled()
        for phase, level in enumerate(levels):
            program.wait_done(phase)
            program.command("config", write(settings, f"[measure]\nlevel = {level}\n"))
            program.go(phase)
        program.wait_done(2)
        program.go(2)
        between = clocks(program.process.communicate(timeout=60)[0].splitlines()[0])["between"]
        work, total, busy, tool = (sum(float(row[column]) for row in rows("threads", program.output))
                                   for column in ("work_s", "cpu_s", "overhead_s", "tool_s"))
        tree = rows("topdown", program.output)
        missing, = (float(row["work_excl_s"]) for row in tree if row["name"].startswith("[not sampled"))
        parts = {row["metric"]: row["value"] for row in rows("efficiency", program.output)}
        assert abs(float(tree[0]["work_incl_s"]) - work) < 1e-6 and abs(float(parts["work"]) - work) < 1e-6, (tree, parts)
        error = 0.1 * total + 0.02
        # between the phases, threads use CPU time while they wait
        timed(-error - between - tool < work + busy - total < error, what, work, busy, between, tool, total)
        timed(abs(missing - work / 3) < 0.15 * work / 3 + 0.02, what, missing, work) # of three equal phases
        text = " ".join(report("--view=summary", "--no-pager", program.output).stdout.split())
        assert "No samples were taken for" in text and "level was summary" in text, text


main()
