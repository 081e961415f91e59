#include "hpcprof-lite/report/missing_cores.h"

#include <stdio.h>

enum { FORECAST = 96 };

bool missing_cores(const struct report *report)
{
  return totals_miss_cores(report->totals);
}

bool missing_cores_text(const struct totals_missing_cores *missing, unsigned part, const char *so,
                        char out[MISSING_CORES_TEXT])
{
  if (part == 0 && missing->without_core > 0)
    snprintf(out, MISSING_CORES_TEXT,
             "threads had no core for %.0f %% of the time in which they wanted to run (more threads than cores, a "
             "quota, or other programs)%s",
             100 * missing->without_core, so);
  else if (part == 1 && missing->stolen > 0)
    snprintf(out, MISSING_CORES_TEXT,
             "the host of this virtual machine took %.0f %% of the time of its CPUs (steal), which can have held up "
             "threads",
             100 * missing->stolen);
  else
    return false;
  return true;
}

bool missing_cores_print_of(FILE *stream, const struct terminal *terminal, const struct totals_missing_cores *missing,
                            const char *before, const char *so)
{
  char first[64], text[MISSING_CORES_TEXT];
  bool any = false;
  snprintf(first, sizeof first, "%sUnreliable: ", before);
  for (unsigned part = 0; part < MISSING_CORES_PARTS; part++) {
    if (!missing_cores_text(missing, part, so, text))
      continue;
    terminal_wrap(terminal, stream, first, *before == ' ' ? "    " : "  ", text);
    any = true;
  }
  return any;
}

/* ". With a core for each thread, the run would have taken about 1.70 s" */
static void forecast_text(const struct totals *totals, char out[FORECAST])
{
  char seconds[16];
  if (!totals->with_cores_ns)
    return;
  terminal_seconds(totals->with_cores_ns, terminal_decimals(totals->with_cores_ns), seconds);
  snprintf(out, FORECAST, ". With a core for each thread, the run would have taken about %s s", seconds);
}

/* What follows from threads without a core. */
static void consequences(const struct report *report, char out[2 * FORECAST])
{
  const struct efficiency *efficiency = &report->efficiency;
  char with[FORECAST] = "", forecast[FORECAST] = "";
  if (efficiency->known)
    snprintf(with, sizeof with, ". In the time with cores, efficiency is %.1f %%", 100 * efficiency->with_cores);
  forecast_text(report->totals, forecast);
  snprintf(out, 2 * FORECAST, "%s%s%s", report->totals->threads_max > 1 ? ", so others waited longer for them" : "",
           with, forecast);
}

void missing_cores_print(const struct report *report, const struct terminal *terminal)
{
  struct totals_missing_cores missing = totals_missing_cores(report->totals);
  char so[2 * FORECAST];
  if (!missing_cores(report))
    return;
  consequences(report, so);
  fputs(terminal_bold(terminal), report->stream);
  missing_cores_print_of(report->stream, terminal, &missing, "", so);
  fputs(terminal_plain(terminal), report->stream);
}

void missing_cores_of_constructs(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  missing_cores_print(report, &terminal);
}

bool missing_cores_of_report(const struct report *report, unsigned part, char out[MISSING_CORES_TEXT])
{
  struct totals_missing_cores missing = totals_missing_cores(report->totals);
  char so[2 * FORECAST];
  consequences(report, so);
  return missing_cores_text(&missing, part, so, out);
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
      return "Give the threads more cores, or use fewer threads";
  return "Measure without other programs, with no more threads than cores";
}
