#include "hpcprof-lite/report/timeline/user_phases.h"

#include "common/order.h"
#include "hpcprof-lite/report/category.h"

#include <inttypes.h>
#include <string.h>

enum { LINES_MAX = 50, BESIDE_NAME = 65 }; /* names that are shown; columns beside them */

static uint32_t threads_of(const struct report *report, const struct run_mark *phase)
{
  size_t found = FIRST_WHERE(i, report->time.phases_count, report->time.phases[i].process >= phase->process);
  if (found < report->time.phases_count && report->time.phases[found].process == phase->process)
    return report->time.phases[found].threads;
  return report->profile->processes[phase->process].threads_max;
}

int user_phases_each(const struct report *report, table_take *take, void *to)
{
  int status = 0;
  for (uint32_t i = 0; i < report->time.marks->count && !status; i++) {
    const struct run_mark *phase = &report->time.marks->marks[i];
    if (!phase->user_phase)
      continue;
    uint64_t time_ns = phase->end_ns - phase->start_ns;
    double whole = (double)time_ns * threads_of(report, phase);
    const struct phases_spread once = {.count = 1, .whole = 1, .mean_ns = (double)time_ns};
    const struct phase_row row = {
        .process = &report->profile->processes[phase->process],
        .kind = "user",
        .name = phase->name,
        .figures_of = "phase of the program",
        .start_ns = phase->start_ns,
        .end_ns = phase->end_ns,
        .spread = &once,
        .ns = phase->timed ? phase->ns : NULL,
        .efficiency = cell_optional_real(phase->timed && whole > 0, 100 * (double)phase->ns[TIMELINE_WORK] / whole, 4),
        .context = MODEL_NONE};
    status = take(to, &row);
  }
  return status;
}

/* The executions of all user phases of one name. */
struct named {
  const char *name;
  uint64_t start_ns, total_ns, whole_ns, count;
  uint64_t ns[TIMELINE_CATEGORIES];
  bool timed;
};

static void add_phase(const struct report *report, const struct run_mark *phase, struct named *named)
{
  uint64_t time_ns = phase->end_ns - phase->start_ns;
  if (!named->count++)
    *named = (struct named){.name = phase->name, .start_ns = phase->start_ns, .count = 1, .timed = phase->timed};
  model_add(&named->total_ns, time_ns);
  model_add(&named->whole_ns, time_ns * threads_of(report, phase));
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    model_add(&named->ns[i], phase->ns[i]);
}

static void print_named(const struct report *report, const struct terminal *terminal, const struct named *named)
{
  char count[16], time[16], mean[16], name[TERMINAL_TEXT_MAX];
  terminal_short_count(named->count, count);
  terminal_short_time(named->total_ns, time);
  terminal_short_time(named->total_ns / named->count, mean);
  fprintf(report->stream, "%8.3f %5sx %7s %7s", (double)named->start_ns / 1e9, count, time, mean);
  category_shares(report->stream, named->ns, named->timed ? named->whole_ns : 0);
  terminal_cut(terminal, named->name, terminal_room(terminal, BESIDE_NAME), name);
  fprintf(report->stream, "  %s\n", name);
}

void user_phases_text(const struct report *report, const struct terminal *terminal)
{
  struct named named[LINES_MAX] = {0};
  uint32_t count = 0;
  uint64_t left_out = 0;
  for (uint32_t i = 0; report->time.marks && i < report->time.marks->count; i++) {
    const struct run_mark *phase = &report->time.marks->marks[i];
    uint32_t at = 0;
    if (!phase->user_phase)
      continue;
    while (at < count && strcmp(named[at].name, phase->name) != 0)
      at++;
    if (at == LINES_MAX) {
      left_out++;
      continue;
    }
    add_phase(report, phase, &named[at]);
    count += at == count;
  }
  if (!count)
    return;
  fprintf(report->stream, "Phases of the program\n");
  category_heading(terminal, report->stream, "   Start  Times    Time    Mean Work% Ovhd% Lock% Idle% Rest%  Phase");
  for (uint32_t i = 0; i < count; i++)
    print_named(report, terminal, &named[i]);
  if (left_out)
    fprintf(report->stream, "%" PRIu64 " more of other names: -f csv has all\n", left_out);
  fputc('\n', report->stream);
}
