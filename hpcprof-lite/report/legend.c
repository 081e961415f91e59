#include "hpcprof-lite/report/legend.h"

void legend_print(const struct report *report, const char *line, const char *full)
{
  fputs(report->legend ? full : line, report->stream);
}
