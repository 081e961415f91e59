#include "hpcprof-lite/report/comparison/compare_text.h"

#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 16 };

void compare_text_heading(const struct report *report)
{
  assert(report->comparison);
  const struct compare_result *result = report->comparison;
  struct terminal terminal;
  char name[TERMINAL_TEXT_MAX];
  char line[sizeof result->filtered[0] + sizeof PROFILE_NOTE_FILTERED];
  terminal_init(&terminal, report->stream);
  for (int side = 0; side < COMPARE_SIDES; side++) {
    terminal_fit(&terminal, result->directory[side], terminal_room(&terminal, 24), name);
    fprintf(report->stream, "%s %s", side == COMPARE_BASE ? "Base:" : "New: ", name);
    if (result->runs[side] > 1)
      fprintf(report->stream, " and %" PRIu32 " more run%s", result->runs[side] - 1, result->runs[side] > 2 ? "s" : "");
    putc('\n', report->stream);
    snprintf(line, sizeof line, PROFILE_NOTE_FILTERED "%s", result->filtered[side]);
    if (*result->filtered[side])
      terminal_wrap(&terminal, report->stream, "  ", "    ", line);
    missing_cores_print_of(report->stream, &terminal,
                           &(struct totals_missing_cores){result->without_core[side], result->stolen[side]}, "  ",
                           ", so elapsed and idle times are longer than on a quiet machine");
  }
}

void compare_text_legend(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  const char *tested = "   With one run on each side, sampled figures are tested by their numbers of\n"
                       "   samples; exact ones (elapsed time, regions) are not tested.\n";
  if (result->runs[COMPARE_BASE] > 1 || result->runs[COMPARE_NEW] > 1)
    tested = "   Figures are means over the runs, and tested by their variance (Welch).\n";
  char line[256], full[1024];
  if (result->compared)
    snprintf(line, sizeof line, "! significant at %g %%, allowing for %zu tested figure%s; see --legend\n",
             100 * SIGNIFICANCE_LEVEL, result->compared, terminal_plural(result->compared));
  else
    snprintf(line, sizeof line,
             "No change could be tested: a single run of exact figures, or too few samples;\nsee --legend\n");
  snprintf(full, sizeof full,
           "!: the change is significant.  Between equal programs, a report with any '!' has\n"
           "   a probability of less than %g %%: two-sided tests, corrected (Holm) for the\n"
           "   number of figures that were tested: %zu.\n"
           "%s"
           "   Sampled figures with fewer than %d samples on both sides are not tested.\n",
           100 * SIGNIFICANCE_LEVEL, result->compared, tested, MODEL_FEW_SAMPLES);
  legend_print(report, line, full);
}

void compare_text_begin(const struct report *report, struct terminal *terminal, const char *heading, const char *metric)
{
  enum { BESIDE = 12 };
  char fitted[TERMINAL_TEXT_MAX], name[TERMINAL_TEXT_MAX + 4] = "";
  terminal_init(terminal, report->stream);
  compare_text_heading(report);
  if (metric) {
    terminal_fit(terminal, metric, terminal_room(terminal, COMPARE_TEXT_WIDTH + BESIDE), fitted);
    snprintf(name, sizeof name, " (%s)", fitted);
  }
  fprintf(report->stream, "%s%10s%10s%10s%9s    %s%s%s\n", terminal_bold(terminal), "Base", "New", "Diff", "Change",
          heading, name, terminal_plain(terminal));
}

void compare_text_end(const struct report *report)
{
  compare_text_legend(report);
  legend_omitted(report);
}

/* A figure in 9 columns. */
static void figure_text(double value, const char *unit, unsigned decimals, bool sign, char out[CELL])
{
  char plain[CELL];
  if (*unit)
    snprintf(plain, sizeof plain, "%.*f", (int)decimals, fabs(value));
  else
    terminal_count(model_rounded(fabs(value)), plain);
  if (strlen(plain) > 8)
    snprintf(plain, sizeof plain, "%.2e", fabs(value));
  const char *mark = value < 0 ? "-" : "+";
  bool zero = strspn(plain, "0.") == strlen(plain);
  snprintf(out, CELL, "%s%.14s", sign && !zero ? mark : "", plain);
}

void compare_text_figure(const struct report *report, const struct compare_figure *figure, const char *unit,
                         unsigned decimals)
{
  char base[CELL], now[CELL], difference[CELL], change[GATE_FIGURE];
  figure_text(figure->base, unit, decimals, false, base);
  figure_text(figure->now, unit, decimals, false, now);
  figure_text(figure->now - figure->base, unit, decimals, true, difference);
  gate_view_change(figure, change);
  fprintf(report->stream, "%10s%10s%10s%9s %c", base, now, difference, change,
          compare_is_significant(figure) ? '!' : ' ');
}

unsigned compare_text_decimals(const struct compare_figure *largest)
{
  return terminal_decimals(model_rounded(1e9 * fmax(largest->base, largest->now)));
}
