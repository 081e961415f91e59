#include "hpcprof-lite/analysis/advice/advice_outside.h"

#include "hpcprof-lite/model/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The idleness that code outside regions causes, with everything below each row; whether a region is below it. */
struct serial_rows {
  uint64_t *idle;
  bool *region;
};

static void sum_serial(const struct advice_input *input, struct serial_rows *rows)
{
  const struct tree *tree = input->tree;
  for (uint32_t i = tree->count; i-- > 0;) { /* a parent has a smaller number */
    const struct tree_row *row = &tree->rows[i];
    if (row->kind == ROW_PARALLEL || row->kind == ROW_PARTIAL || row->kind == ROW_RUNTIME) {
      rows->region[i] = row->kind != ROW_RUNTIME;
      rows->idle[i] = 0;
    } else {
      rows->idle[i] = model_sum(rows->idle[i], tree_excl(tree, i, input->columns->idleness));
    }
    if (i && row->parent != MODEL_NONE) {
      rows->idle[row->parent] = model_sum(rows->idle[row->parent], rows->idle[i]);
      rows->region[row->parent] = rows->region[row->parent] || rows->region[i];
    }
  }
}

/* Returns whether a row is code of a library that programs only call, such as libm: it is nobody's to change. */
static bool in_library(const struct advice_input *input, const struct tree_row *row)
{
  static const char *const libraries[] = {"libm.",     "libm-",        "libmvec.",    "libstdc++.",
                                          "libgcc_s.", "libgfortran.", "libquadmath."};
  const struct catalog *catalog = &input->profile->catalog;
  if (row->module == MODEL_NONE || row->module >= catalog->modules_count)
    return false;
  const struct catalog_module *module = &catalog->modules[row->module];
  const char *name = names_base(module->path);
  bool found = module->flags & (MODULE_RUNTIME | MODULE_SYSTEM | MODULE_VDSO);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    found = found || !strncmp(name, libraries[i], strlen(libraries[i]));
  return found;
}

/* Returns the function called there that causes most idleness outside regions or, after one of them, the next one; or
 * MODEL_NONE. */
static uint32_t next_callee(const struct tree *tree, const struct serial_rows *rows, uint32_t at, uint32_t after)
{
  uint32_t best = MODEL_NONE;
  for (uint32_t child = tree->rows[at].first_child; child != MODEL_NONE; child = tree->rows[child].next) {
    uint64_t idle = rows->idle[child];
    bool later = after == MODEL_NONE || idle < rows->idle[after] || (idle == rows->idle[after] && child > after);
    if (idle && later && tree->rows[child].kind <= ROW_INLINED && (best == MODEL_NONE || idle > rows->idle[best]))
      best = child;
  }
  return best;
}

/* Finds the highest row that causes at least 80 % of the idleness outside regions and contains no region; otherwise the
 * lowest one that causes so much and is no library's. */
static uint32_t serial_place(const struct advice_input *input, const struct serial_rows *rows)
{
  const struct tree *tree = input->tree;
  uint64_t all = rows->idle[0];
  uint32_t at = 0;
  while (all && (!at || rows->region[at])) {
    uint32_t next = next_callee(tree, rows, at, MODEL_NONE);
    if (next == MODEL_NONE || rows->idle[next] < all - all / 5 || in_library(input, &tree->rows[next]))
      break;
    at = next;
  }
  return at;
}

/* Adds to the evidence of serial code that takes serial_s: the place, and what it calls if the cost is spread over
 * that. */
static void place_serial(const struct advice_input *input, const struct serial_rows *rows, double serial_s,
                         struct advice_finding *found)
{
  enum { CALLEES = 3 };
  const struct tree *tree = input->tree;
  uint32_t at = serial_place(input, rows), callee = MODEL_NONE;
  if (!at)
    return;
  double per_idle = serial_s / (double)rows->idle[0];
  size_t length = strlen(found->evidence);
  snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that in the place named",
           100 * (double)rows->idle[at] / (double)rows->idle[0]);
  for (int i = 0; i < CALLEES && rows->region[at]; i++) {
    callee = next_callee(tree, rows, at, callee);
    if (callee == MODEL_NONE || rows->idle[callee] < rows->idle[at] / 20)
      break;
    length = strlen(found->evidence);
    snprintf(found->evidence + length, sizeof found->evidence - length, "%s %.3f s in %.60s", i ? "," : ", of which",
             per_idle * (double)rows->idle[callee], tree->rows[callee].name);
  }
  found->name = tree->rows[at].name;
  found->file = tree->rows[at].file;
  found->line = tree->rows[at].line;
  found->context = tree->rows[at].id;
}

/* How long the threads that other threads wait for were blocked in calls. */
static double blocked_s(const struct profile *profile)
{
  double sum_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable && profile->processes[i].threads_count)
      sum_s = fmax(sum_s, advice_seconds(profile->processes[i].threads[0].blocked_ns));
  return sum_s;
}

static int find_serial(struct advice_run *run, double gain_s)
{
  const struct advice_input *input = run->input;
  double threads = input->threads, serial_s = gain_s / (1 - 1 / threads);
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_SERIAL, gain_s,
                 "One thread runs for %.3f s outside parallel regions, while the others have no work", serial_s);
  if (!found)
    return 0;
  advice_more(run->advice, found, serial_s * (1 - 1.0 / fmax(run->advice->more_cores, 1)), false);
  found->same_parts = true;
  if (input->columns->idleness == MODEL_NONE)
    return 0;
  size_t count = (size_t)input->tree->count + 1;
  struct serial_rows rows = {calloc(count, sizeof *rows.idle), calloc(count, sizeof *rows.region)};
  int status = rows.idle && rows.region ? 0 : ERR_NOMEM;
  if (!status) {
    sum_serial(input, &rows);
    place_serial(input, &rows, serial_s, found);
  }
  free(rows.idle);
  free(rows.region);
  return status;
}

int advice_outside_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  double blocking_s = blocked_s(input->profile), threads = input->threads;
  double beside_s = fmin(blocking_s, fmax(0, run->advice->elapsed_s - blocking_s));
  struct advice_finding *found = advice_add(run->advice, ADVICE_BLOCKING, beside_s,
                                            "The initial thread was blocked in calls outside OpenMP for %.3f s%s",
                                            blocking_s, input->by_wall ? "" : "; -e wall shows where");
  advice_more(run->advice, found, beside_s, false);
  if (found) /* if nothing waits for it any more */
    found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, blocking_s));
  if (threads < 2)
    return 0;
  return find_serial(run, input->serial_s - fmin(input->serial_s, blocking_s * (1 - 1 / threads)));
}

/* Counts the process with most threads beyond its cores.  Their threads were ready to run for `ready_ns`, of this
 * `delay_ns` without a core. */
static uint32_t count_threads(const struct profile *profile, uint32_t *cores, uint64_t *ready_ns, uint64_t *delay_ns)
{
  uint32_t threads = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable || !process->cpus || process->threads_max <= process->cpus || process->threads_max <= threads)
      continue;
    *cores = process->cpus;
    threads = process->threads_max;
    *ready_ns = *delay_ns = 0;
    for (uint32_t j = 0; j < process->threads_count; j++) {
      *delay_ns = model_sum(*delay_ns, process->threads[j].run_delay_ns);
      *ready_ns = model_sum(*ready_ns, model_sum(process->threads[j].run_delay_ns, process->threads[j].cpu_ns));
    }
  }
  return threads;
}

bool advice_oversubscription(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  uint32_t cores = 0, threads;
  uint64_t delay_ns = 0, ready_ns = 0;
  threads = count_threads(input->profile, &cores, &ready_ns, &delay_ns);
  if (!cores || delay_ns < input->openmp_wall_ns / 20)
    return false;
  double serial_s = input->serial_s / (1 - 1.0 / threads), elapsed_s = run->advice->elapsed_s;
  double work_s = fmax(0, advice_seconds(input->work_ns) - serial_s);
  if (advice_seconds(ready_ns) - serial_s < cores * (elapsed_s - serial_s))
    return false; /* the threads that were ready at a time had a core each, but for other programs */
  /* Of a core, each thread has at least its part: waiting ones slow it down by no more than that. */
  double most_s = (elapsed_s - serial_s) * (1 - (double)cores / threads);
  advice_add(run->advice, ADVICE_OVERSUBSCRIPTION, fmin(most_s, elapsed_s - serial_s - work_s / cores),
             "%" PRIu32 " threads share %" PRIu32
             " cores: for %.3f s of %.3f s they were ready to run without a core; their "
             "work alone would keep the cores busy for %.3f s",
             threads, cores, advice_seconds(delay_ns), advice_seconds(input->openmp_wall_ns), work_s / cores);
  return true;
}
