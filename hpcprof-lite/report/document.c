#include "hpcprof-lite/report/document.h"

#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static void named_uint(FILE *stream, const char *name, uint64_t value)
{
  fprintf(stream, ",\"%s\":%" PRIu64, name, value);
}

static void named_seconds(FILE *stream, const char *name, uint64_t ns)
{
  fprintf(stream, ",\"%s\":%" PRIu64 ".%09" PRIu64, name, ns / 1000000000, ns % 1000000000);
}

static void named_filter(FILE *stream, const char *name, const char *filter)
{
  assert(name);
  if (!filter || !*filter)
    return;
  fprintf(stream, ",\"%s\":", name);
  row_writer_json_string(stream, filter);
}

void document_open(const struct report *report, bool json)
{
  assert(report->stream);
  static const char *const baselines[] = {
      [BASELINE_THREAD] = "thread", [BASELINE_CORE] = "core", [BASELINE_SHARED] = "shared"};
  const struct totals *run = report->totals;
  FILE *stream = report->stream;
  if (!json)
    return;
  fputs("{\"view\":", stream);
  row_writer_json_string(stream, report->view);
  fputs(",\n\"run\":{\"command\":", stream);
  row_writer_json_string(stream, run->command);
  fputs(",\"hosts\":", stream);
  row_writer_json_string(stream, run->hosts);
  named_uint(stream, "processes", run->processes);
  named_uint(stream, "threads", run->threads);
  named_uint(stream, "threads_max", run->threads_max);
  named_seconds(stream, "elapsed_s", run->elapsed_ns);
  named_seconds(stream, "cpu_s", run->cpu_ns);
  named_uint(stream, "samples", run->samples);
  fprintf(stream, ",\"idleness\":\"%s\"", baselines[report->baseline]);
  if (report->profile->range.run_ns) {
    named_seconds(stream, "from_s", report->profile->range.from_ns);
    named_seconds(stream, "to_s", report->profile->range.to_ns);
  }
  char pauses[PROFILE_PAUSES_MAX];
  profile_pauses(report->profile, true, pauses, sizeof pauses);
  named_filter(stream, "paused", pauses);
  profile_pauses(report->profile, false, pauses, sizeof pauses);
  named_filter(stream, "not_sampled", pauses);
  named_filter(stream, "filtered", report->filtered);
  if (report->comparison && report->comparison->has_base) {
    named_filter(stream, "filtered_base", report->comparison->filtered[COMPARE_BASE]);
    named_filter(stream, "filtered", report->comparison->filtered[COMPARE_NEW]);
  }
  fputs(",\"rows_left_out\":", stream);
  fprintf(stream, "%u},\n", report->limits.left_out);
}

static bool is_one_of(const char *view, const char *const *views, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(view, views[i]))
      return true;
  return false;
}

/* Prints which counts of events are not exact, or not known, in a view of a part of the run. */
static void print_counts_known(const struct report *report)
{
  assert(report->view);
  static const char *const of_contexts[] = {"topdown", "bottomup", "flat", "critical-path", "source"};
  static const char *const of_constructs[] = {"regions", "region-tree", "tasks"};
  bool about = false, empty = !strcmp(report->view, "tasks") && !report->tasks.count;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    about |= report->profile->processes[i].counts_about;
  if (about && is_one_of(report->view, of_contexts, sizeof of_contexts / sizeof *of_contexts))
    fputs("Counts of events are estimates: the part begins or ends between two readings of\nthe counters.\n",
          report->stream);
  if (!empty && is_one_of(report->view, of_constructs, sizeof of_constructs / sizeof *of_constructs))
    fputs("Counts of events in a part of the run are known for contexts only.\n", report->stream);
}

void document_range(const struct report *report)
{
  const struct profile_range *range = &report->profile->range;
  if (range->run_ns)
    fprintf(report->stream, "Only from %.9g s to %.9g s of the run, which took %.9g s.\n", (double)range->from_ns / 1e9,
            (double)range->to_ns / 1e9, (double)range->run_ns / 1e9);
  if (range->traced && report->profile->constructs.counters.count)
    print_counts_known(report);
}

void document_close(const struct report *report, bool json)
{
  if (!json)
    return;
  fputs("}\n", report->stream);
}
