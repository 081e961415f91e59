#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>

void legend_print(const struct report *report, const char *line, const char *full)
{
  fputs(report->legend ? full : line, report->stream);
}

void legend_omitted(const struct report *report)
{
  const char *plural = report->left_out == 1 ? "" : "s";
  if (!report->left_out)
    return;
  if (report->percent_limit > 0 && report->only_percent_limit)
    fprintf(report->stream, "%" PRIu32 " row%s below %g %% omitted; --percent-limit 0 shows all.\n", report->left_out,
            plural, report->percent_limit);
  else if (report->percent_limit > 0)
    fprintf(report->stream, "%" PRIu32 " row%s omitted, including those below %g %%; --percent-limit 0 shows all.\n",
            report->left_out, plural, report->percent_limit);
  else
    fprintf(report->stream, "%" PRIu32 " row%s omitted.\n", report->left_out, plural);
}
