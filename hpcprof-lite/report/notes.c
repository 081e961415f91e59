#include "hpcprof-lite/report/notes.h"

#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

bool notes_cut(const struct report *report)
{
  for (uint32_t i = 0; i < report->profile->processes_count; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    if (process->usable && process->unfinished && process->flags & PROCESS_ONLINE && !process->workspan.known)
      return true;
  }
  return false;
}

/* The note of a process that states the reason: the first one describes the event, others begin with what they are. */
static const char *reason_of(const struct profile_process *process)
{
  assert(process->usable);
  static const char *const others[] = {
      "Scaling: ",          "NUMA: ",           "Devices: ", "counted: ", "counts are scaled: ", PROFILE_NOTE_FILTERED,
      PROFILE_NOTE_MISSING, PROFILE_NOTE_PAUSED};
  for (const char *at = process->notes; (at = strchr(at, '\n'));) {
    bool other = false;
    at++;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
      other |= !strncmp(at, others[i], strlen(others[i]));
    if (!other)
      return at;
  }
  return NULL;
}

/* A process for which work and span were wanted, but whose OpenMP runtime reported no events; NULL: none.  Prefers one
 * that used OpenMP, since its notes state the reason. */
static const struct profile_process *unreported(const struct report *report)
{
  const struct profile_process *found = NULL;
  for (uint32_t i = 0; i < report->profile->processes_count; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    if (process->usable && !process->unfinished && process->flags & PROCESS_ONLINE && !process->workspan.known &&
        (!found || (reason_of(process) && !reason_of(found))))
      found = process;
  }
  return found;
}

/* Prints the reason. */
static void print_unreported(const struct report *report, const struct profile_process *process, const char *what)
{
  struct terminal terminal;
  const char *reason = reason_of(process);
  terminal_init(&terminal, report->stream);
  fprintf(report->stream, "%s are not known, as no OpenMP runtime reported its events:\n", what);
  terminal_wrap(&terminal, report->stream, "  ", "  ",
                reason ? reason : "none was seen; the program does not use OpenMP, or links it statically");
}

static const char *reason_of_cut(const struct totals *run)
{
  if (run->copied)
    return "were not known when the snapshot was taken.\n";
  if (run->running)
    return "are not known yet: the process is still running.\n";
  return "are not known, because the process was killed, or could not\nwrite its file.\n";
}

void notes_missing(const struct report *report, const char *what, const char *mode)
{
  const struct profile_process *process = unreported(report);
  if (notes_cut(report)) {
    fprintf(report->stream, "%s %s", what, reason_of_cut(report->totals));
    return;
  }
  if (process) {
    print_unreported(report, process, what);
    return;
  }
  fprintf(report->stream, "%s were not measured in this run; measure with\n  hpcrun-lite -p %s COMMAND\n", what, mode);
}

void notes_chunks(const struct report *report)
{
  struct terminal terminal;
  const char *note = profile_chunks_note(report->profile);
  terminal_init(&terminal, report->stream);
  if (note)
    terminal_wrap(&terminal, report->stream, "", "", note);
}

void notes_estimates(const struct report *report)
{
  struct construct_figures sum = profile_light(report->profile);
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (sum.light)
    terminal_wrapf(&terminal, report->stream, "", "",
                   "Figures of critical constructs and locks are estimates: %" PRIu64 " of %" PRIu64
                   " executions were followed; the views parallelism and regions state errors.",
                   model_difference(sum.count, sum.light), sum.count);
  struct construct_figures regions = profile_light_regions(report->profile);
  if (regions.light)
    terminal_wrapf(&terminal, report->stream, "", "",
                   "Spans of regions, shares of the critical path, and times of constructs in regions are estimates: "
                   "%" PRIu64 " of %" PRIu64 " regions were followed; the views parallelism and regions state errors.",
                   model_difference(regions.count, regions.light), regions.count);
  char untimed[PROFILE_UNTIMED_MAX];
  if (profile_untimed_text(report->profile, untimed))
    terminal_wrapf(&terminal, report->stream, "", "", "Tasks: %s.", untimed);
}

void notes_log_differs(const struct report *report)
{
  if (report->log_differs)
    fprintf(report->stream, "The graph log differs from the measurement or is incomplete: results that were\n"
                            "computed from it may be wrong.\n");
  if (report->profile->span_unseen_calls)
    fprintf(report->stream,
            "Calls of MPI that are not followed, in which ranks can wait for each other:\n"
            "%" PRIu64 ".  The span may be too short.\n",
            report->profile->span_unseen_calls);
}
