#include "hpcprof-lite/live/cells.h"

#include "common/order.h"
#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/category.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
  NARROW = 60,    /* below it figures either of the interval or of the run are shown */
  WIDE = 96,      /* from here on also those of waiting */
  FIGURES = 4,    /* of a thread, on a narrow terminal */
  BAR_LEAST = 10, /* columns */
  LINE = 512
};

void cells_seconds(uint64_t ns, char out[CELLS_TEXT])
{
  terminal_seconds(ns, terminal_decimals(ns), out);
}

/* A time, or a count where no time was sampled. */
static void print_amount(const struct cells *cells, uint64_t amount, int width)
{
  char text[CELLS_TEXT];
  if (tree_has_time(&cells->reading->columns))
    cells_seconds(amount, text);
  else
    terminal_count(amount, text);
  fprintf(cells->stream, "%*s ", width, text);
}

/* ---- functions and contexts ---- */

/* Whether the figures of the interval (0) or of the run (1) are shown. */
static bool shows(const struct cells *cells, unsigned which)
{
  assert(which < 2);
  if (!cells->reading->has_interval)
    return which == 1;
  return cells->terminal->width >= NARROW || (which == 0) == cells->of_interval;
}

/* Prints the figures of a row; inclusive: with those of what it calls.  Returns the columns that they take. */
static unsigned print_figures(const struct cells *cells, const struct tree *tree, uint32_t row, bool inclusive)
{
  assert(row < tree->count);
  const struct reading *reading = cells->reading;
  const struct tree_columns *columns[] = {&reading->part_columns, &reading->columns};
  uint64_t (*figure)(const struct tree *, uint32_t, uint32_t) = inclusive ? tree_incl : tree_excl;
  unsigned used = 0;
  for (unsigned i = 0; i < 2; i++) {
    char percent[CELLS_TEXT];
    if (!shows(cells, i))
      continue;
    terminal_percent(tree_spent(tree, columns[i], row, inclusive), tree_spent(tree, columns[i], 0, true), percent);
    print_amount(cells, tree_spent(tree, columns[i], row, inclusive), 8);
    fprintf(cells->stream, "%5s ", percent);
    used += 15;
  }
  const struct tree_columns *shown = columns[!cells->of_interval];
  for (unsigned i = 0; i < 2 && cells->terminal->width >= WIDE; i++) {
    print_amount(cells, figure(tree, row, i ? shown->idleness : shown->lockwait), 8);
    used += 9;
  }
  return used;
}

static void print_heading(const struct cells *cells, const char *name)
{
  char line[LINE], cell[CELLS_TEXT], *at = line;
  const char *time = tree_has_time(&cells->reading->columns) ? " s" : "";
  for (unsigned i = 0; i < 2; i++) {
    if (!shows(cells, i))
      continue;
    snprintf(cell, sizeof cell, "%s%s", i ? "Run" : "Last", time);
    at += sprintf(at, "%8s %5s ", cell, "%");
  }
  if (cells->terminal->width >= WIDE)
    at += sprintf(at, "%8s %8s ", "Lock", "Idle");
  snprintf(at, (size_t)(line + sizeof line - at), "%s", name);
  category_heading(cells->terminal, cells->stream, line);
}

/* Prints the name of a row behind its figures, indented. */
static void print_name(const struct cells *cells, const struct tree_row *row, unsigned used, unsigned indent)
{
  assert(row->name);
  char name[TERMINAL_TEXT_MAX];
  terminal_fit(cells->terminal, row->name, terminal_room(cells->terminal, used + indent), name);
  fprintf(cells->stream, "%*s%s\n", (int)indent, "", name);
}

void cells_functions_heading(const struct cells *cells)
{
  print_heading(cells, "Function (own time)");
}

void cells_function(const struct cells *cells, uint32_t number)
{
  assert(number < cells->reading->functions_count);
  const struct tree *flat = &cells->reading->flat;
  uint32_t row = cells->reading->functions[number];
  print_name(cells, &flat->rows[row], print_figures(cells, flat, row, false), 0);
}

void cells_contexts_heading(const struct cells *cells)
{
  print_heading(cells, "Context (inclusive)");
}

void cells_context(const struct cells *cells, uint32_t number)
{
  assert(number < cells->reading->contexts_count);
  const struct tree *tree = &cells->reading->tree;
  uint32_t row = cells->reading->contexts[number];
  unsigned used = print_figures(cells, tree, row, true), most = (cells->terminal->width - used) / 2;
  unsigned indent = tree->rows[row].depth ? tree->rows[row].depth - 1 : 0;
  print_name(cells, &tree->rows[row], used, MIN(indent, most));
}

void cells_hot_heading(const struct cells *cells)
{
  print_heading(cells, "Context (own time)");
}

void cells_hot(const struct cells *cells, uint32_t number)
{
  assert(number < cells->reading->hot_count);
  char path[CALL_PATH_TEXT_MAX];
  uint32_t row = cells->reading->hot[number];
  unsigned used = print_figures(cells, &cells->reading->tree, row, false);
  call_path_text(cells->terminal, &cells->reading->tree, row, terminal_room(cells->terminal, used), path);
  fprintf(cells->stream, "%s\n", path);
}

/* ---- threads ---- */

/* The categories of a thread in the order of the bar. */
static void times_of(const struct profile_thread *thread, uint64_t ns[TIMELINE_CATEGORIES])
{
  memset(ns, 0, TIMELINE_CATEGORIES * sizeof *ns);
  ns[TIMELINE_WORK] = thread->work_ns;
  ns[TIMELINE_OVERHEAD] = thread->overhead_ns;
  ns[TIMELINE_LOCK_WAIT] = thread->lockwait_ns;
  ns[TIMELINE_IDLE] = thread->idle_ns;
  ns[TIMELINE_MPI] = thread->mpi_ns;
  ns[TIMELINE_DEVICE] = thread->device_ns;
  ns[TIMELINE_BLOCKED] = thread->blocked_ns;
  ns[TIMELINE_CORE_WAIT] = thread->core_wait_ns;
  ns[TIMELINE_NO_CORE] = thread->no_core_ns;
  ns[TIMELINE_TOOL] = thread->tool_ns;
}

/* Sets the times of a thread of the list.  Returns its process. */
static const struct profile_process *thread_at(const struct cells *cells, uint32_t number,
                                               uint64_t ns[TIMELINE_CATEGORIES], uint32_t *index)
{
  assert(number < cells->reading->threads_count);
  uint64_t which = cells->reading->threads[number];
  const struct profile *profile = cells->of_interval ? &cells->reading->part : &cells->reading->profile;
  const struct profile_process *process = &profile->processes[which >> 32];
  *index = process->threads[(uint32_t)which].index;
  times_of(&process->threads[(uint32_t)which], ns);
  return process;
}

uint64_t cells_longest(const struct cells *cells)
{
  uint64_t most = 0, ns[TIMELINE_CATEGORIES];
  for (uint32_t i = 0; i < cells->reading->threads_count; i++) {
    uint32_t index;
    thread_at(cells, i, ns, &index);
    uint64_t sum = category_sum(ns);
    most = MAX(most, sum);
  }
  return most;
}

static unsigned figures_shown(const struct cells *cells)
{
  if (cells->terminal->width < NARROW)
    return 1;
  return cells->terminal->width < WIDE ? FIGURES : FIGURES + 2;
}

static unsigned label_width(const struct cells *cells)
{
  return cells->reading->totals.processes > 1 ? 13 : 6;
}

/* The times that are shown as figures, the most important first. */
static const enum timeline_category figures[] = {TIMELINE_WORK, TIMELINE_OVERHEAD, TIMELINE_LOCK_WAIT,
                                                 TIMELINE_IDLE, TIMELINE_BLOCKED,  TIMELINE_CORE_WAIT};

void cells_threads_heading(const struct cells *cells)
{
  char line[LINE], *at = line;
  bool several = cells->reading->totals.processes > 1;
  at += sprintf(at, "%*s ", (int)label_width(cells), several ? "Proc:Thread" : "Thread");
  for (unsigned i = 0; i < figures_shown(cells); i++)
    at += sprintf(at, "%8s ", category_looks[figures[i]].title);
  snprintf(at, (size_t)(line + sizeof line - at), "%s", cells->of_interval ? "Last, s" : "Run, s");
  category_heading(cells->terminal, cells->stream, line);
}

void cells_thread(const struct cells *cells, uint32_t number)
{
  char label[32], text[CELLS_TEXT];
  uint64_t ns[TIMELINE_CATEGORIES];
  uint32_t index;
  const struct profile_process *process = thread_at(cells, number, ns, &index);
  if (cells->reading->totals.processes < 2)
    snprintf(label, sizeof label, "%" PRIu32, index);
  else if (process->rank >= 0)
    snprintf(label, sizeof label, "%" PRId32 ":%" PRIu32, process->rank, index);
  else
    snprintf(label, sizeof label, "%" PRIu32 ":%" PRIu32, process->pid, index);
  fprintf(cells->stream, "%*s ", (int)label_width(cells), label);
  for (unsigned i = 0; i < figures_shown(cells); i++) {
    cells_seconds(ns[figures[i]], text);
    fprintf(cells->stream, "%8s ", text);
  }
  unsigned used = label_width(cells) + 1 + 9 * figures_shown(cells), width = cells->terminal->width;
  category_letters(cells->stream, cells->terminal, ns, cells->longest,
                   width > used + BAR_LEAST ? width - used : BAR_LEAST);
  putc('\n', cells->stream);
}
