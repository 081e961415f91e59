#include "hpcprof-lite/report/legend.h"

#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

void legend_print(const struct report *report, const char *line, const char *full)
{
  assert(line && full);
  fputs(report->legend ? full : line, report->stream);
}

void legend_omitted(const struct report *report)
{
  const char *plural = terminal_plural(report->limits.left_out);
  if (!report->limits.left_out)
    return;
  if (report->limits.percent > 0 && report->limits.only_percent)
    fprintf(report->stream, "%" PRIu32 " row%s below %g %% omitted; --percent-limit 0 shows all.\n",
            report->limits.left_out, plural, report->limits.percent);
  else if (report->limits.percent > 0)
    fprintf(report->stream, "%" PRIu32 " row%s omitted, including those below %g %%; --percent-limit 0 shows all.\n",
            report->limits.left_out, plural, report->limits.percent);
  else
    fprintf(report->stream, "%" PRIu32 " row%s omitted.\n", report->limits.left_out, plural);
}

static void print_pauses(const struct report *report, bool paused, const char *before, const char *after)
{
  struct terminal terminal;
  char text[PROFILE_PAUSES_MAX];
  if (!profile_pauses(report->profile, paused, text, sizeof text))
    return;
  terminal_init(&terminal, report->stream);
  terminal_wrapf(&terminal, report->stream, "", "  ", "%s%s%s", before, text, after);
}

void legend_pauses(const struct report *report)
{
  print_pauses(report, true, "Measuring was paused for ", ": times and shares are those of the measured time");
  print_pauses(report, false, "No samples were taken for ",
               ", as the level was summary: the work of that time is in [not sampled]");
}

void legend_filtered(const struct report *report)
{
  struct terminal terminal;
  if (!report->filtered || !*report->filtered)
    return;
  terminal_init(&terminal, report->stream);
  terminal_wrapf(&terminal, report->stream, "", "  ", PROFILE_NOTE_FILTERED "%s", report->filtered);
}
