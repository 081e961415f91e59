#include "hpcprof-lite/analysis/advice/advice_outside.h"

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

/* Finds the highest row that causes at least 80 % of the idleness outside regions and contains no region; otherwise the
 * lowest one that causes so much.  Returns 0, or ERR_NOMEM. */
static int serial_place(const struct advice_input *input, uint32_t *row, double *part)
{
  const struct tree *tree = input->tree;
  struct serial_rows rows = {calloc((size_t)tree->count + 1, sizeof *rows.idle), calloc((size_t)tree->count + 1, 1)};
  int status = rows.idle && rows.region ? 0 : ERR_NOMEM;
  uint32_t at = 0;
  *part = 1;
  if (!status && input->columns->idleness != MODEL_NONE) {
    sum_serial(input, &rows);
    uint64_t all = rows.idle[0];
    for (uint32_t next = 0; next != MODEL_NONE && all; at = next == MODEL_NONE ? at : next) {
      uint32_t best = MODEL_NONE;
      if (at && !rows.region[at])
        break;
      for (uint32_t child = tree->rows[at].first_child; child != MODEL_NONE; child = tree->rows[child].next)
        if (rows.idle[child] >= all - all / 5 && tree->rows[child].kind <= ROW_INLINED)
          best = child;
      next = best;
    }
    *part = all ? (double)rows.idle[at] / (double)all : 1;
  }
  free(rows.idle);
  free(rows.region);
  *row = at;
  return status;
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

int advice_outside_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  double part, blocking_s = blocked_s(input->profile), threads = input->threads;
  advice_add(run->advice, ADVICE_BLOCKING, blocking_s,
             "The initial thread was blocked in calls outside OpenMP for %.3f s%s", blocking_s,
             input->by_wall ? "" : "; -e wall shows where");
  if (threads < 2)
    return 0;
  uint32_t row;
  int status = serial_place(input, &row, &part);
  double gain_s = input->serial_s - fmin(input->serial_s, blocking_s * (1 - 1 / threads));
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_SERIAL, gain_s,
      "One thread runs for %.3f s outside parallel regions, while the others have no work", gain_s / (1 - 1 / threads));
  if (found && row) {
    size_t length = strlen(found->evidence);
    snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that in the place named",
             100 * part);
    found->name = input->tree->rows[row].name;
    found->file = input->tree->rows[row].file;
    found->line = input->tree->rows[row].line;
    found->context = input->tree->rows[row].id;
  }
  return status;
}

bool advice_oversubscription(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  uint32_t cores = 0, threads = 0;
  uint64_t delay_ns = 0;
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct profile_process *process = &input->profile->processes[i];
    for (uint32_t j = 0; j < process->threads_count; j++)
      delay_ns = model_sum(delay_ns, process->threads[j].run_delay_ns);
    if (process->usable && process->cpus && process->threads_max > process->cpus && process->threads_max > threads) {
      cores = process->cpus;
      threads = process->threads_max;
    }
  }
  if (!cores || delay_ns < input->openmp_wall_ns / 20)
    return false;
  double serial_s = input->serial_s / (1 - 1.0 / threads), elapsed_s = run->advice->elapsed_s;
  double work_s = fmax(0, advice_seconds(input->work_ns) - serial_s);
  advice_add(run->advice, ADVICE_OVERSUBSCRIPTION, elapsed_s - serial_s - work_s / cores,
             "%" PRIu32 " threads share %" PRIu32
             " cores: for %.3f s of %.3f s they were ready to run without a core; their "
             "work alone would keep the cores busy for %.3f s",
             threads, cores, advice_seconds(delay_ns), advice_seconds(input->openmp_wall_ns), work_s / cores);
  return true;
}
