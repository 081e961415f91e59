#include "hpcprof-lite/report/category.h"

#include "common/order.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
  CELL = 16,
  LINE = 512,
  LABEL = 10,
  BAR_MAX = 30,
  BEFORE_BAR = 32,
  BEFORE_SUM = 22, /* columns that are used beside the name of a category */
  SHOWN = 1000,
  LEAST_REST = 100
}; /* shown: a part of the time from 1 / SHOWN on; an unexplained rest from 1 / LEAST_REST on */

const struct category_look category_looks[TIMELINE_CATEGORIES] = {
    [TIMELINE_WORK] = {'W', "work", "Work", "\033[34m"},
    [TIMELINE_OVERHEAD] = {'o', "overhead", "Ovhd", "\033[33m"},
    [TIMELINE_LOCK_WAIT] = {'L', "lock wait", "Lock", "\033[35m"},
    [TIMELINE_IDLE] = {'.', "idle", "Idle", "\033[90m"},
    [TIMELINE_MPI] = {'M', "MPI", "MPI", "\033[94m"},
    [TIMELINE_DEVICE] = {'D', "waiting for a device", "Device", "\033[95m"},
    [TIMELINE_BLOCKED] = {'b', "blocked", "Block", "\033[36m"},
    [TIMELINE_CORE_WAIT] = {'c', "ready without a core", "Core", "\033[31m"},
    [TIMELINE_NO_CORE] = {'n', "waiting for a thread without a core", "NoCore", "\033[91m"},
    [TIMELINE_TOOL] = {'t', "tool", "Tool", "\033[32m"},
    [TIMELINE_GAP] = {'?', "not recorded", "Gap", "\033[2m"}};

static const char unexplained[] = "unexplained";

const char *category_colour(const struct terminal *terminal, enum timeline_category category)
{
  assert(category < TIMELINE_CATEGORIES);
  return terminal->colour ? category_looks[category].colour : "";
}

/* The category that a word such as "Idle%" names; TIMELINE_CATEGORIES if it names none. */
static unsigned category_of(const char *word, size_t length)
{
  length -= length && word[length - 1] == '%';
  unsigned i = 0;
  while (i < TIMELINE_CATEGORIES &&
         (strlen(category_looks[i].title) != length || memcmp(category_looks[i].title, word, length) != 0))
    i++;
  return i;
}

void category_heading(const struct terminal *terminal, FILE *stream, const char *line)
{
  fputs(terminal_bold(terminal), stream);
  for (size_t length; *line; line += length) {
    length = strspn(line, " \n");
    fprintf(stream, "%.*s", (int)length, line);
    line += length;
    length = strcspn(line, " \n");
    unsigned category = terminal->colour ? category_of(line, length) : TIMELINE_CATEGORIES;
    if (category < TIMELINE_CATEGORIES)
      fprintf(stream, "%s%.*s%s%s", category_looks[category].colour, (int)length, line, terminal_plain(terminal),
              terminal_bold(terminal));
    else
      fprintf(stream, "%.*s", (int)length, line);
  }
  fprintf(stream, "%s\n", terminal_plain(terminal));
}

uint64_t category_sum(const uint64_t ns[TIMELINE_CATEGORIES])
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    model_add(&sum, ns[i]);
  return sum;
}

uint64_t category_times(const struct report *report, uint64_t ns[TIMELINE_CATEGORIES])
{
  const struct totals *run = report->totals;
  bool locks = report->columns->lockwait != MODEL_NONE, idle = report->columns->idleness != MODEL_NONE;
  ns[TIMELINE_WORK] = run->work_ns;
  ns[TIMELINE_OVERHEAD] = run->overhead_ns;
  ns[TIMELINE_LOCK_WAIT] = locks ? run->caused_lock_ns : run->lockwait_ns;
  ns[TIMELINE_IDLE] = idle ? run->caused_idle_ns : run->idle_ns;
  ns[TIMELINE_MPI] = run->mpi_ns;
  ns[TIMELINE_DEVICE] = run->device_ns;
  ns[TIMELINE_BLOCKED] = run->blocked_ns;
  ns[TIMELINE_CORE_WAIT] = run->core_wait_ns;
  ns[TIMELINE_NO_CORE] = run->no_core_ns;
  ns[TIMELINE_TOOL] = run->tool_ns;
  ns[TIMELINE_GAP] = 0;
  return category_sum(ns);
}

void category_shares(FILE *stream, const uint64_t ns[TIMELINE_CATEGORIES], uint64_t whole_ns)
{
  uint64_t rest = 0;
  for (unsigned i = TIMELINE_IDLE + 1; i < TIMELINE_CATEGORIES; i++)
    model_add(&rest, ns[i]);
  const uint64_t parts[] = {ns[TIMELINE_WORK], ns[TIMELINE_OVERHEAD], ns[TIMELINE_LOCK_WAIT], ns[TIMELINE_IDLE], rest};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char percent[CELL];
    terminal_percent(parts[i], whole_ns, percent);
    fprintf(stream, " %5s", percent);
  }
}

/* The four categories are always shown, others from 0.1 % of the time on. */
static bool is_shown(unsigned category, uint64_t ns, uint64_t all)
{
  assert(category < TIMELINE_CATEGORIES);
  return category <= TIMELINE_IDLE || ns > all / SHOWN;
}

void category_letters(FILE *stream, const struct terminal *terminal, const uint64_t ns[TIMELINE_CATEGORIES],
                      uint64_t all, unsigned width)
{
  assert(all);
  uint64_t before = 0;
  unsigned column = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES && all; i++) {
    model_add(&before, ns[i]);
    unsigned end = (unsigned)((double)before / (double)all * width + 0.5);
    end = MIN(end, width);
    if (end <= column)
      continue;
    fputs(category_colour(terminal, i), stream);
    for (; column < end; column++)
      putc(category_looks[i].letter, stream);
    fputs(terminal_plain(terminal), stream);
  }
}

void category_bar(const struct report *report, const struct terminal *terminal)
{
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  unsigned used = 0, last = 0;
  if (!all)
    return;
  if (!tree_has_time(report->columns)) {
    fputs("Shares of the time are not known: only events that are no time were sampled\n", report->stream);
    return;
  }
  category_letters(report->stream, terminal, ns, all, terminal->width);
  fputc('\n', report->stream);
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (is_shown(i, ns[i], all))
      last = i;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++) {
    char percent[CELL], text[LINE];
    if (!is_shown(i, ns[i], all))
      continue;
    terminal_percent(ns[i], all, percent);
    unsigned length = (unsigned)snprintf(text, sizeof text, " %s %s %%", category_looks[i].name, percent) + 1;
    bool fits = used + 2 + length + (i != last) <= terminal->width;
    if (used)
      fputs(fits ? ", " : ",\n", report->stream);
    used = used && fits ? used + 2 + length : length;
    fprintf(report->stream, "%s%c%s%s", category_colour(terminal, i), category_looks[i].letter,
            terminal_plain(terminal), text);
  }
  fputc('\n', report->stream);
}

/* Prints a category; exact: as timed by the runtime's callbacks, or NULL if it was not. */
static void print_category(const struct report *report, const struct terminal *terminal, unsigned category, int width,
                           uint64_t ns, uint64_t all, const uint64_t *exact)
{
  assert(category < TIMELINE_CATEGORIES);
  char seconds[CELL], percent[CELL], callbacks[CELL] = "", bar[BAR_MAX + 1];
  terminal_seconds(ns, terminal_decimals(all), seconds);
  terminal_percent(ns, all, percent);
  if (exact)
    terminal_seconds(*exact, terminal_decimals(*exact), callbacks);
  unsigned room = MIN(terminal_room(terminal, (unsigned)width + BEFORE_BAR), BAR_MAX);
  size_t length = all ? (size_t)((double)ns / (double)all * room + 0.5) : 0;
  memset(bar, '#', sizeof bar);
  bar[MIN(length, room)] = 0;
  fprintf(report->stream, "  %s%-*s%s %10s %6s", category_colour(terminal, category), width,
          category_looks[category].name, terminal_plain(terminal), seconds, percent);
  if (*bar)
    fprintf(report->stream, " %9s  %s%s%s", callbacks, category_colour(terminal, category), bar,
            terminal_plain(terminal));
  else if (exact)
    fprintf(report->stream, " %9s", callbacks);
  fputc('\n', report->stream);
}

/* What all categories should add up to. */
static uint64_t whole_ns(const struct totals *run)
{
  return model_sum(run->baseline_ns, model_sum(run->others_ns, run->beyond_ns));
}

uint64_t category_unexplained(const struct report *report)
{
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  uint64_t whole = whole_ns(report->totals);
  bool known = report->totals->openmp_processes && all && report->columns->idleness != MODEL_NONE;
  return known && whole > all && whole - all > whole / LEAST_REST ? whole - all : 0;
}

/* Prints the sum of the categories, and beside or below it the time that they should add up to. */
static void print_sum(const struct report *report, const struct terminal *terminal, int width, uint64_t all)
{
  const struct totals *run = report->totals;
  char seconds[CELL], percent[CELL], elapsed[CELL], whole[CELL], others[CELL], of[LINE], beside[LINE] = "";
  int used = 0;
  if (!run->openmp_processes || !all || report->columns->idleness == MODEL_NONE)
    return;
  const char *what = report->baseline == BASELINE_CORE ? "core" : "thread";
  terminal_seconds(run->measured_ns, terminal_decimals(run->measured_ns), elapsed);
  terminal_seconds(run->baseline_ns, terminal_decimals(run->baseline_ns), whole);
  if (run->openmp_processes == 1 && run->processes == 1)
    snprintf(of, sizeof of, "%" PRIu32 " %s%s x %s s", run->baseline, what, terminal_plural(run->baseline), elapsed);
  else
    snprintf(of, sizeof of, "%s s (%ss x %s)", whole, what,
             run->measured_ns < run->elapsed_ns ? "measured time" : "elapsed");
  terminal_seconds(run->others_ns, terminal_decimals(run->others_ns), others);
  if (run->others_ns > run->baseline_ns / SHOWN)
    used = snprintf(beside, sizeof beside, " + %s s outside OpenMP", others);
  terminal_seconds(run->beyond_ns, terminal_decimals(run->beyond_ns), others);
  if (run->beyond_ns > run->baseline_ns / SHOWN)
    snprintf(beside + used, sizeof beside - (size_t)used, "%s+ %s s of further threads", used ? "\n      " : " ",
             others);
  terminal_seconds(all, terminal_decimals(all), seconds);
  terminal_percent(all, whole_ns(run), percent);
  char whole_sum[3 * LINE];
  int length = snprintf(whole_sum, sizeof whole_sum, "= %s %% of %s%s", percent, of, beside);
  bool fits = (unsigned)(width + BEFORE_SUM + length) <= terminal->width;
  fprintf(report->stream, "  %-*s %10s  100.0%s%s\n", width, "sum", seconds, fits ? "  " : "\n    ", whole_sum);
  uint64_t rest = category_unexplained(report);
  if (!rest)
    return;
  terminal_seconds(rest, terminal_decimals(all), seconds);
  fprintf(report->stream, "  %-*s %10s         in no category\n", width, unexplained, seconds);
}

void category_table(const struct report *report, const struct terminal *terminal)
{
  static const char *const against[] = {[BASELINE_THREAD] = "the most threads ever in use",
                                        [BASELINE_CORE] = "the cores",
                                        [BASELINE_SHARED] = "the threads in use"};
  const struct totals *run = report->totals;
  bool charged = report->columns->idleness != MODEL_NONE && run->openmp_processes;
  char remark[LINE] = "";
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  if (charged)
    snprintf(remark, sizeof remark, " (idleness counts against %s)", against[report->baseline]);
  fprintf(report->stream, "\n%sWhere the time went%s%s\n", terminal_bold(terminal), remark, terminal_plain(terminal));
  int width = LABEL;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (is_shown(i, ns[i], all))
      width = MAX(width, (int)strlen(category_looks[i].name));
  if (category_unexplained(report))
    width = MAX(width, (int)strlen(unexplained));
  fprintf(report->stream, "  %-*s %10s %6s %9s\n", width, "", "Thread s", "%", "Exact s");
  const uint64_t *exact[TIMELINE_CATEGORIES] = {[TIMELINE_LOCK_WAIT] = &run->lockwait_ns,
                                                [TIMELINE_IDLE] = &run->idle_ns,
                                                [TIMELINE_MPI] = &run->mpi_ns,
                                                [TIMELINE_DEVICE] = &run->device_ns};
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (is_shown(i, ns[i], all))
      print_category(report, terminal, i, width, ns[i], all, exact[i]);
  print_sum(report, terminal, width, all);
  if (report->efficiency.split.compared)
    fputs("This table includes the runs on one thread.\n", report->stream);
}
