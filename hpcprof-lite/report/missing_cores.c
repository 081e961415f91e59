#include "hpcprof-lite/report/missing_cores.h"

#include <stdio.h>

bool missing_cores(const struct report *report)
{
  return totals_miss_cores(report->totals);
}

void missing_cores_print_of(FILE *stream, const struct terminal *terminal, const struct totals_missing_cores *missing,
                            const char *indent, const char *so)
{
  char first[32], others[32];
  snprintf(first, sizeof first, "%sUnreliable: ", indent);
  snprintf(others, sizeof others, "%s  ", indent);
  if (missing->without_core > 0)
    terminal_wrapf(terminal, stream, first, others,
                   "threads had no core for %.0f %% of the time in which they wanted to run (more threads than cores, "
                   "a quota, or other programs)%s",
                   100 * missing->without_core, so);
  if (missing->stolen > 0)
    terminal_wrapf(terminal, stream, first, others,
                   "the host of this virtual machine took %.0f %% of the time of its CPUs (steal), which can have held "
                   "up threads",
                   100 * missing->stolen);
}

void missing_cores_print(const struct report *report, const struct terminal *terminal)
{
  const struct efficiency *efficiency = &report->efficiency;
  struct totals_missing_cores missing = totals_missing_cores(report->totals);
  char with[64] = "", so[128];
  if (efficiency->known)
    snprintf(with, sizeof with, ". In the time with cores, efficiency is %.1f %%", 100 * efficiency->with_cores);
  snprintf(so, sizeof so, "%s%s", report->totals->threads_max > 1 ? ", so others waited longer for them" : "", with);
  fputs(terminal_bold(terminal), report->stream);
  missing_cores_print_of(report->stream, terminal, &missing, "", so);
  fputs(terminal_plain(terminal), report->stream);
}

const char *missing_cores_remedy(const struct report *report)
{
  const struct core_findings *cores = &report->summary.cores;
  if (!missing_cores(report))
    return NULL;
  if (totals_missing_cores(report->totals).without_core <= 0)
    return "Measure on a machine whose host leaves it its CPUs";
  for (uint32_t i = 0; i < cores->count; i++)
    if (cores->found[i].kind == CORES_BINDING || cores->found[i].kind == CORES_OVERSUBSCRIPTION)
      return "Give the threads more cores, or use fewer threads: see the lines \"Cores\" below";
  return "Measure without other programs, with no more threads than cores";
}
