#include "hpcprof-lite/comparison/compare_threads.h"

#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/views/thread_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(COMPARE_THREAD_COLUMNS == THREAD_ORDER_COLUMNS - THREAD_ORDER_FIGURES, "a figure for each column");

uint32_t compare_threads_column(const char *name)
{
  for (uint32_t i = 0; i < COMPARE_THREAD_COLUMNS; i++)
    if (!strcmp(name, thread_order_columns[THREAD_ORDER_FIGURES + i]))
      return i;
  return MODEL_NONE;
}

/* A thread of one run. */
struct entry {
  struct compare_thread place;
  const struct profile_thread *thread;
  int side;
  uint32_t run;
};

/* All threads of all runs. */
struct entries {
  struct entry *list;
  size_t count;
};

static int by_place(const struct compare_thread *a, const struct compare_thread *b)
{
  int order = (a->rank > b->rank) - (a->rank < b->rank);
  if (!order)
    order = (a->process > b->process) - (a->process < b->process);
  return order ? order : (a->thread > b->thread) - (a->thread < b->thread);
}

static int by_entry(const void *a, const void *b)
{
  return by_place(&((const struct entry *)a)->place, &((const struct entry *)b)->place);
}

/* Numbers the processes of each rank from 0 on: those of a run are in order, and so are their threads. */
static void number_processes(struct entry *first, const struct entry *end)
{
  qsort(first, (size_t)(end - first), sizeof *first, by_entry); /* process: the position in the profile */
  uint32_t number = 0, position = 0;
  for (struct entry *entry = first; entry < end; entry++) {
    bool same_rank = entry > first && entry[-1].place.rank == entry->place.rank;
    number = same_rank ? number + (position != entry->place.process) : 0;
    position = entry->place.process;
    entry->place.process = number;
  }
}

static void add_run(struct entries *entries, const struct job *job, int side, uint32_t run)
{
  struct entry *first = entries->list + entries->count;
  for (uint32_t i = 0; i < job->profile.processes_usable; i++) {
    const struct profile_process *process = &job->profile.processes[i];
    for (uint32_t j = 0; j < process->threads_count; j++)
      entries->list[entries->count++] =
          (struct entry){{process->rank, i, process->threads[j].index, 0}, &process->threads[j], side, run};
  }
  number_processes(first, entries->list + entries->count);
}

static int collect(const struct comparison *comparison, struct entries *entries)
{
  size_t count = 0;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t run = 0; run < comparison->counts[side]; run++) {
      const struct profile *profile = &comparison->runs[side][run].profile;
      for (uint32_t i = 0; i < profile->processes_usable; i++)
        count += profile->processes[i].threads_count;
    }
  *entries = (struct entries){.list = calloc(count + 1, sizeof *entries->list)};
  if (!entries->list)
    return ERR_NOMEM;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t run = 0; run < comparison->counts[side]; run++)
      add_run(entries, &comparison->runs[side][run], side, run);
  qsort(entries->list, entries->count, sizeof *entries->list, by_entry);
  return 0;
}

/* What the comparison of a thread's figures needs. */
struct thread_values {
  struct compare_values sides[COMPARE_SIDES];
  double *values[COMPARE_SIDES]; /* [run] */
  double sample[COMPARE_THREAD_COLUMNS][COMPARE_SIDES];
};

static void release_values(struct thread_values *values)
{
  free(values->values[COMPARE_BASE]);
  free(values->values[COMPARE_NEW]);
}

/* Finds what a sample of each sampled column stands for. */
static int init_values(const struct comparison *comparison, struct thread_values *values)
{
  *values = (struct thread_values){0};
  for (int side = 0; side < COMPARE_SIDES; side++) {
    const struct job *run = &comparison->runs[side][0];
    values->values[side] = calloc((size_t)comparison->counts[side] + 1, sizeof **values->values);
    if (!values->values[side])
      return ERR_NOMEM;
    values->sample[compare_threads_column("samples")][side] = 1;
    if (run->columns.work != MODEL_NONE)
      values->sample[compare_threads_column("work_s")][side] = amounts_of(run, run->columns.work).sample / 1e9;
    if (run->columns.overhead != MODEL_NONE)
      values->sample[compare_threads_column("overhead_s")][side] = amounts_of(run, run->columns.overhead).sample / 1e9;
  }
  return 0;
}

/* Compares a column of the entries of one thread. */
static struct compare_figure compare_column(const struct comparison *comparison, const struct entry *first,
                                            const struct entry *end, uint32_t column, struct thread_values *values)
{
  double scale = compare_thread_counts(column) ? 1 : 1e-9;
  const double *sample = values->sample[column];
  for (int side = 0; side < COMPARE_SIDES; side++) {
    memset(values->values[side], 0, comparison->counts[side] * sizeof **values->values);
    values->sides[side] = (struct compare_values){
        .values = values->values[side], .runs = comparison->counts[side], .sample = sample[side]};
  }
  for (const struct entry *entry = first; entry < end; entry++)
    values->values[entry->side][entry->run] +=
        (double)thread_order_figure(entry->thread, THREAD_ORDER_FIGURES + column) * scale;
  bool sampled = sample[COMPARE_BASE] > 0 && sample[COMPARE_NEW] > 0;
  return compare_values(&values->sides[COMPARE_BASE], &values->sides[COMPARE_NEW],
                        sampled ? COMPARE_COUNTED : COMPARE_EXACT);
}

/* Bits: columns that all runs know, and that of pauses if any run has some. */
static uint32_t known_columns(const struct comparison *comparison)
{
  uint32_t known = (1u << COMPARE_THREAD_PAUSED) - 1;
  char pauses[PROFILE_PAUSES_MAX];
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t run = 0; run < comparison->counts[side]; run++) {
      if (!tree_has_time(&comparison->runs[side][run].columns))
        known &= ~(1u << compare_threads_column("work_s") | 1u << compare_threads_column("overhead_s"));
      if (profile_pauses(&comparison->runs[side][run].profile, true, pauses, sizeof pauses))
        known |= 1u << COMPARE_THREAD_PAUSED;
    }
  return known;
}

static int compare_entries(struct comparison *comparison, const struct entries *entries)
{
  struct compare_result *result = &comparison->result;
  struct thread_values values;
  result->threads = calloc(entries->count + 1, sizeof *result->threads);
  result->figures = calloc(entries->count + 1, COMPARE_THREAD_COLUMNS * sizeof *result->figures);
  int status = init_values(comparison, &values) || !result->threads || !result->figures ? ERR_NOMEM : 0;
  for (size_t i = 0, end; i < entries->count && !status; i = end) {
    uint32_t row = result->threads_count++;
    for (end = i + 1; end < entries->count && !by_entry(&entries->list[i], &entries->list[end]);)
      end++;
    result->threads[row] = entries->list[i].place;
    result->threads[row].row = row;
    for (uint32_t column = 0; column < COMPARE_THREAD_COLUMNS; column++) {
      struct compare_figure *figure = &result->figures[(size_t)row * COMPARE_THREAD_COLUMNS + column];
      *figure = compare_column(comparison, &entries->list[i], &entries->list[end], column, &values);
      if (!(result->threads_known >> column & 1))
        figure->probability = NAN;
    }
  }
  release_values(&values);
  if (!status)
    result->compared = compare_correct(result->figures, (size_t)result->threads_count * COMPARE_THREAD_COLUMNS,
                                       sizeof *result->figures);
  return status || result->compared == SIZE_MAX ? ERR_NOMEM : 0;
}

/* ---- --sort ---- */

struct sort {
  const struct compare_result *result;
  const char *by;      /* a column that the comparison adds, or NULL */
  uint32_t column;     /* of which it is, or by whose new figures the threads are sorted */
  bool place, threads; /* by rank and process; first by the number of the thread */
};

/* The largest first. */
static double sort_key(const struct sort *sort, const struct compare_thread *thread)
{
  const struct compare_figure *figure =
      &sort->result->figures[(size_t)thread->row * COMPARE_THREAD_COLUMNS + sort->column];
  return compare_sort_key(figure, sort->by);
}

static int by_sort(const void *a, const void *b, void *argument)
{
  const struct sort *sort = argument;
  const struct compare_thread *x = a, *y = b;
  if (sort->threads && x->thread != y->thread)
    return x->thread > y->thread ? 1 : -1;
  double left = sort->place ? 0 : sort_key(sort, x), right = sort->place ? 0 : sort_key(sort, y);
  return left != right ? (left < right ? 1 : -1) : by_place(x, y);
}

static int sort_threads(struct compare_result *result, const char *by, uint32_t metric)
{
  struct sort sort = {.result = result, .by = "new", .column = by ? compare_threads_column(by) : MODEL_NONE};
  sort.threads = by && !strcmp(by, "thread");
  sort.place = !by || sort.threads || !strcmp(by, "rank") || !strcmp(by, "process");
  if (!sort.place && sort.column == MODEL_NONE) {
    sort.by = by;
    sort.column = metric;
    if (isnan(compare_sort_key(&(struct compare_figure){0}, by)))
      return ERR_INPUT;
  }
  if (result->threads_count)
    qsort_r(result->threads, result->threads_count, sizeof *result->threads, by_sort, &sort);
  return 0;
}

int compare_threads(struct job *job, struct comparison *comparison, uint32_t column)
{
  struct compare_result *result = &comparison->result;
  struct entries entries;
  result->thread_column = column;
  result->metric = thread_order_columns[THREAD_ORDER_FIGURES + column];
  result->unit = compare_thread_counts(column) ? "" : "s";
  result->metric_chosen = job->options.metric != NULL;
  result->threads_known = known_columns(comparison);
  int status = collect(comparison, &entries);
  if (!status)
    status = compare_entries(comparison, &entries);
  free(entries.list);
  if (!status)
    status = sort_threads(result, job->options.sort, column);
  uint32_t most = job->options.max_rows;
  if (!status && most && most < result->threads_count) {
    job->report.left_out = result->threads_count - most;
    result->threads_count = most;
  }
  return status;
}
