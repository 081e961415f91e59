#include "hpcprof-lite/report/missing_cores.h"

#include <stdio.h>

static bool lacked(const struct report *report)
{
  return totals_lack_cores(report->totals);
}

static bool stolen(const struct report *report)
{
  return totals_stolen(report->totals) > TOTALS_UNRELIABLE;
}

bool missing_cores(const struct report *report)
{
  return lacked(report) || stolen(report);
}

void missing_cores_print(const struct report *report, const struct terminal *terminal)
{
  const struct efficiency *efficiency = &report->efficiency;
  char with[64] = "";
  if (efficiency->known)
    snprintf(with, sizeof with, ". In the time with cores, efficiency is %.1f %%", 100 * efficiency->with_cores);
  fputs(terminal_bold(terminal), report->stream);
  if (lacked(report))
    terminal_wrapf(
        terminal, report->stream, "Unreliable: ", "  ",
        "threads had no core for %.0f %% of the time in which they wanted to run (more threads than cores, a "
        "quota, or other programs)%s%s",
        100 * totals_without_core(report->totals),
        report->totals->threads_max > 1 ? ", so others waited longer for them" : "", with);
  if (stolen(report))
    terminal_wrapf(terminal, report->stream, "Unreliable: ", "  ",
                   "the host of this virtual machine took %.0f %% of the time of its CPUs (steal), which can have held "
                   "up threads",
                   100 * totals_stolen(report->totals));
  fputs(terminal_plain(terminal), report->stream);
}

const char *missing_cores_remedy(const struct report *report)
{
  const struct core_findings *cores = &report->summary.cores;
  if (!missing_cores(report))
    return NULL;
  if (!lacked(report))
    return "Measure on a machine whose host leaves it its CPUs";
  for (uint32_t i = 0; i < cores->count; i++)
    if (cores->found[i].kind == CORES_BINDING || cores->found[i].kind == CORES_OVERSUBSCRIPTION)
      return "Give the threads more cores, or use fewer threads: see the lines \"Cores\" below";
  return "Measure without other programs, with no more threads than cores";
}
