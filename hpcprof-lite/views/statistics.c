#include "hpcprof-lite/views/statistics.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/range/range.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/merge/stitch.h"
#include "hpcprof-lite/model/workers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An amount for each row; reading and clearing takes time proportional to the rows in use. */
struct amounts {
  uint64_t *values; /* [row] */
  uint64_t *used;   /* a bit for each row */
  uint32_t rows;
};

/* The sums of one worker.  It counts owners in ascending order, so that the first owner without work in a row is found
 * when the next owner has some. */
struct tally {
  struct statistics_sums *sums;     /* [row] */
  uint32_t *next;                   /* [row] position in counted[] after the last owner that has work in the row */
  uint32_t *counted, counted_count; /* owners counted so far, ascending */
};

/* The processes of one rank, or one process without a rank: one worker reads them one after the other. */
struct unit {
  uint32_t first, count; /* in run.order */
  uint32_t owner;        /* the rank's position in rank_owners, MODEL_NONE if it has none */
};

/* Numbers of the rows while work is added up: by the first context of each row, so that the rows of one thread are
 * close together in memory.  A row's parent has a smaller number. */
struct numbering {
  uint32_t *number_of;   /* [row of the tree] its number   */
  uint32_t *row_at;      /* [number] row of the tree       */
  uint32_t *parent;      /* [number] the parent's number   */
  uint32_t *view_number; /* [row of the view] its number   */
};

/* The state that workers share. */
struct run {
  struct numbering numbering;
  const struct statistics_view *view;
  struct statistics *statistics;
  uint32_t *order;       /* usable processes, by rank and then by position */
  uint32_t *first_owner; /* [position in order] position of the process's first thread in thread_owners */
  uint32_t order_count;
  struct unit *units;
  uint32_t units_count;
  uint32_t part, parts; /* every `parts`-th unit is counted, from `part` on */
  struct worker *workers;
  pthread_mutex_t lock; /* of `problems` */
  struct problems *problems;
};

struct worker {
  struct run *run;
  struct amounts own, shown; /* of a thread: rows of the tree, rows of the view */
  struct amounts rank;       /* of a rank: rows of the view */
  struct stitch_amounts found;
  struct tally threads, ranks;
};

static void amounts_init(struct amounts *amounts, uint32_t rows)
{
  amounts->rows = rows;
  amounts->values = xcalloc(rows, sizeof *amounts->values);
  amounts->used = xcalloc((size_t)rows / 64 + 1, sizeof *amounts->used);
}

static void amounts_release(struct amounts *amounts)
{
  free(amounts->values);
  free(amounts->used);
}

static void amounts_add(struct amounts *amounts, uint32_t row, uint64_t amount)
{
  assert(row < amounts->rows);
  model_add(&amounts->values[row], amount);
  amounts->used[row / 64] |= UINT64_C(1) << row % 64;
}

/* Returns the last row in use before `end`, or MODEL_NONE, and marks it as unused.  The caller clears its value. */
static uint32_t amounts_take(struct amounts *amounts, uint32_t end)
{
  assert(end <= amounts->rows);
  for (uint32_t word = end / 64 + 1; word-- > 0;) {
    if (!amounts->used[word])
      continue;
    uint32_t bit = 63 - (uint32_t)__builtin_clzll(amounts->used[word]);
    amounts->used[word] &= ~(UINT64_C(1) << bit);
    return word * 64 + bit;
  }
  return MODEL_NONE;
}

static void tally_init(struct tally *tally, uint32_t rows, uint32_t owners)
{
  tally->sums = xcalloc(rows, sizeof *tally->sums);
  tally->next = xcalloc(rows, sizeof *tally->next);
  tally->counted = xcalloc(owners, sizeof *tally->counted);
  for (uint32_t row = 0; row < rows; row++)
    tally->sums[row].first_without = MODEL_NONE;
}

static void tally_release(struct tally *tally)
{
  free(tally->sums);
  free(tally->next);
  free(tally->counted);
}

static void add_squares(unsigned __int128 *sum, unsigned __int128 amount)
{
  if (__builtin_add_overflow(*sum, amount, sum))
    *sum = ~(unsigned __int128)0;
}

/* Adds the work that the current owner has in a row. */
static void tally_add(struct tally *tally, uint32_t row, uint64_t amount)
{
  assert(tally->counted_count);
  struct statistics_sums *sums = &tally->sums[row];
  uint32_t position = tally->counted_count - 1, owner = tally->counted[position];
  if (tally->next[row] < position && sums->first_without == MODEL_NONE)
    sums->first_without = tally->counted[tally->next[row]];
  tally->next[row] = position + 1;
  if (!sums->owners++ || amount < sums->least) {
    sums->least = amount;
    sums->least_owner = owner;
  }
  if (amount > sums->most) {
    sums->most = amount;
    sums->most_owner = owner;
  }
  model_add(&sums->sum, amount);
  add_squares(&sums->squares, (unsigned __int128)amount * amount);
}

/* Sets `first_without` of the rows in which only owners after the last one with work have none. */
static void tally_finish(struct tally *tally, uint32_t rows)
{
  for (uint32_t row = 0; row < rows; row++)
    if (tally->next[row] < tally->counted_count && tally->sums[row].first_without == MODEL_NONE)
      tally->sums[row].first_without = tally->counted[tally->next[row]];
}

static void add_sums(struct statistics_sums *into, const struct statistics_sums *from)
{
  into->first_without = MIN(from->first_without, into->first_without);
  if (!from->owners)
    return;
  if (!into->owners || from->least < into->least ||
      (from->least == into->least && from->least_owner < into->least_owner)) {
    into->least = from->least;
    into->least_owner = from->least_owner;
  }
  if (from->most > into->most || (from->most == into->most && from->most_owner < into->most_owner)) {
    into->most = from->most;
    into->most_owner = from->most_owner;
  }
  into->owners += from->owners;
  model_add(&into->sum, from->sum);
  add_squares(&into->squares, from->squares);
}

void statistics_merge(struct statistics *into, const struct statistics *from)
{
  assert(into->rows == from->rows && into->ranked == from->ranked);
  for (uint32_t row = 0; row < into->rows; row++) {
    add_sums(&into->threads[row], &from->threads[row]);
    if (into->ranked)
      add_sums(&into->ranks[row], &from->ranks[row]);
  }
}

/* Adds one thread's amounts to the rows above, and to the rows of the view; clears worker->own. */
static void sum_up(struct worker *worker)
{
  const struct derived_links *into = worker->run->view->into;
  const struct numbering *numbering = &worker->run->numbering;
  struct amounts *own = &worker->own;
  for (uint32_t number = own->rows; (number = amounts_take(own, number)) != MODEL_NONE;) {
    uint64_t amount = own->values[number];
    own->values[number] = 0;
    if (number)
      amounts_add(own, numbering->parent[number], amount);
    if (!into) {
      amounts_add(&worker->shown, number, amount);
      continue;
    }
    uint32_t row = numbering->row_at[number];
    for (uint32_t i = 0; i < into->count[row]; i++)
      amounts_add(&worker->shown, numbering->view_number[into->into[into->first[row] + i]], amount);
  }
}

/* Counts the amounts of one owner (MODEL_NONE: of none) and clears them; adds them to `sum`, unless NULL. */
static void count_owner(struct amounts *from, struct tally *tally, uint32_t owner, struct amounts *sum)
{
  if (owner != MODEL_NONE)
    tally->counted[tally->counted_count++] = owner;
  for (uint32_t row = from->rows; (row = amounts_take(from, row)) != MODEL_NONE;) {
    uint64_t amount = from->values[row];
    from->values[row] = 0;
    if (owner != MODEL_NONE)
      tally_add(tally, row, amount);
    if (sum)
      amounts_add(sum, row, amount);
  }
}

static void count_thread(struct worker *worker, struct stitch *stitch, uint32_t position, uint32_t owner,
                         struct amounts *rank)
{
  const struct statistics_view *view = worker->run->view;
  if (stitch)
    stitch_amounts(stitch, position, view->column, &worker->found);
  for (uint32_t i = 0; stitch && i < worker->found.count; i++) {
    uint32_t row = view->row_of[worker->found.amounts[i].context];
    if (row != MODEL_NONE)
      amounts_add(&worker->own, worker->run->numbering.number_of[row], worker->found.amounts[i].amount);
  }
  sum_up(worker);
  count_owner(&worker->shown, &worker->threads, owner, rank);
}

/* Counts the threads of one process, but for those of the OpenMP runtime.  If its file cannot be read any more, they
 * have no work. */
static void count_process(struct worker *worker, uint32_t position, struct amounts *rank)
{
  struct run *run = worker->run;
  const struct profile *profile = run->view->profile;
  struct profile_process process = profile->processes[run->order[position]];
  struct catalog *catalog = (struct catalog *)&profile->catalog; /* not changed: all modules and columns are in it */
  struct problems known = {0};
  struct read_file *file;
  struct stitch *stitch = NULL;
  struct range *range = NULL;
  const char *why;
  bool readable = !read_open_again(process.path, &known, &file) &&
                  (!process.in_part || !range_open(file, &process, &known, &range, &why));
  if (readable) {
    stitch = stitch_open(file, &process, catalog, (struct contexts *)&profile->contexts);
  } else {
    pthread_mutex_lock(&run->lock);
    problems_add(run->problems, "%s: cannot be read any more: the statistics of threads lack its work", process.path);
    pthread_mutex_unlock(&run->lock);
  }
  uint32_t owner = run->first_owner[position];
  for (uint32_t i = 0; i < process.threads_count; i++)
    count_thread(worker, stitch, i, process.threads[i].flags & THREAD_HELPER ? MODEL_NONE : owner++, rank);
  if (stitch)
    stitch_close(stitch);
  read_close(file);
  range_close(range);
  problems_release(&known);
}

static void count_unit(struct worker *worker, const struct unit *unit)
{
  assert(unit->count);
  bool ranked = unit->owner != MODEL_NONE;
  for (uint32_t i = 0; i < unit->count; i++)
    count_process(worker, unit->first + i, ranked ? &worker->rank : NULL);
  if (ranked)
    count_owner(&worker->rank, &worker->ranks, unit->owner, NULL);
}

static void worker_init(struct worker *worker, struct run *run)
{
  const struct statistics *statistics = run->statistics;
  uint32_t rows = run->view->rows;
  *worker = (struct worker){.run = run};
  amounts_init(&worker->own, run->view->tree->count);
  amounts_init(&worker->shown, rows);
  tally_init(&worker->threads, rows, statistics->threads_count);
  if (!statistics->ranked)
    return;
  amounts_init(&worker->rank, rows);
  tally_init(&worker->ranks, rows, statistics->ranks_count);
}

static void worker_release(struct worker *worker)
{
  amounts_release(&worker->own);
  amounts_release(&worker->shown);
  amounts_release(&worker->rank);
  tally_release(&worker->threads);
  tally_release(&worker->ranks);
  free(worker->found.amounts);
}

/* Permutes sums[number[row]] to sums[row] in place, cycle by cycle.  moved[] is scratch memory, all false. */
static void reorder(struct statistics_sums *sums, const uint32_t *number, uint32_t rows, bool *moved)
{
  assert(number && moved);
  for (uint32_t start = 0; start < rows; start++) {
    struct statistics_sums first = sums[start];
    uint32_t row = start;
    for (; !moved[row]; row = number[row]) {
      moved[row] = true;
      sums[row] = number[row] == start ? first : sums[number[row]];
    }
  }
}

/* Adds the sums of one tally to those of the run.  The first tally's memory becomes the result. */
static void merge_tally(struct run *run, struct tally *tally, struct statistics_sums **into)
{
  uint32_t rows = run->statistics->rows;
  tally_finish(tally, rows);
  if (*into) {
    for (uint32_t row = 0; row < rows; row++)
      add_sums(&(*into)[row], &tally->sums[run->numbering.view_number[row]]);
    return;
  }
  bool *moved = xcalloc(rows, sizeof *moved);
  reorder(tally->sums, run->numbering.view_number, rows, moved);
  free(moved);
  *into = tally->sums;
  tally->sums = NULL;
}

static void merge_worker(struct worker *worker)
{
  struct statistics *statistics = worker->run->statistics;
  merge_tally(worker->run, &worker->threads, &statistics->threads);
  if (statistics->ranked)
    merge_tally(worker->run, &worker->ranks, &statistics->ranks);
}

static void count_job(void *argument, uint32_t job, unsigned worker)
{
  struct run *run = argument;
  count_unit(&run->workers[worker], &run->units[run->part + job * run->parts]);
}

/* Counts the units of this part on at most that many threads. */
static void count_units(struct run *run, unsigned threads)
{
  uint32_t jobs = run->units_count > run->part ? (run->units_count - run->part - 1) / run->parts + 1 : 0;
  unsigned count = MIN(threads, MAX(jobs, 1));
  run->workers = xcalloc(count, sizeof *run->workers);
  for (unsigned i = 0; i < count; i++)
    worker_init(&run->workers[i], run);
  workers_run(count, jobs, count_job, run);
  for (unsigned i = 0; i < count; i++) {
    merge_worker(&run->workers[i]);
    worker_release(&run->workers[i]);
  }
  free(run->workers);
}

static int by_first(const void *a, const void *b, void *argument)
{
  const uint32_t *first = argument;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return COMPARE(first[x], first[y]) ?: COMPARE(x, y);
}

/* Sorts rows by first[row]: sets order[position] to a row and position[row] back. */
static void number_by_first(uint32_t *first, uint32_t rows, uint32_t *order, uint32_t *position)
{
  for (uint32_t row = 0; row < rows; row++)
    order[row] = row;
  qsort_r(order, rows, sizeof *order, by_first, first);
  for (uint32_t i = 0; i < rows; i++)
    position[order[i]] = i;
}

/* Returns an array of the first context of each row or of a row below it. */
static uint32_t *find_first_contexts(const struct statistics_view *view)
{
  uint32_t *first = model_nones(view->tree->count);
  for (uint32_t i = 0; i < view->profile->contexts.count; i++)
    if (view->row_of[i] != MODEL_NONE && first[view->row_of[i]] == MODEL_NONE)
      first[view->row_of[i]] = i;
  for (uint32_t row = view->tree->count; row-- > 1;) {
    uint32_t *above = &first[view->tree->rows[row].parent];
    *above = MIN(first[row], *above);
  }
  first[0] = 0;
  return first;
}

/* Numbers the view's rows by the smallest number among the tree's rows that are part of them. */
static void number_view_rows(const struct statistics_view *view, struct numbering *numbering)
{
  uint32_t *first = model_nones(view->rows), *order = xmalloc(view->rows * sizeof *order);
  for (uint32_t i = 0; i < view->tree->count; i++) {
    uint32_t row = numbering->row_at[i];
    for (uint32_t j = 0; j < view->into->count[row]; j++) {
      uint32_t into = view->into->into[view->into->first[row] + j];
      first[into] = MIN(i, first[into]);
    }
  }
  number_by_first(first, view->rows, order, numbering->view_number);
  free(first);
  free(order);
}

static void number_rows(const struct statistics_view *view, struct numbering *numbering)
{
  size_t rows = view->tree->count;
  uint32_t *first = find_first_contexts(view);
  numbering->number_of = xmalloc(rows * sizeof *numbering->number_of);
  numbering->row_at = xmalloc(rows * sizeof *numbering->row_at);
  numbering->parent = xmalloc(rows * sizeof *numbering->parent);
  numbering->view_number = xmalloc(view->rows * sizeof *numbering->view_number);
  number_by_first(first, view->tree->count, numbering->row_at, numbering->number_of);
  free(first);
  for (uint32_t row = 0; row < view->tree->count; row++)
    numbering->parent[numbering->number_of[row]] =
        row ? numbering->number_of[view->tree->rows[row].parent] : MODEL_NONE;
  if (view->into)
    number_view_rows(view, numbering);
  else
    memcpy(numbering->view_number, numbering->number_of, view->rows * sizeof *numbering->view_number);
}

static void release_numbering(struct numbering *numbering)
{
  free(numbering->number_of);
  free(numbering->row_at);
  free(numbering->parent);
  free(numbering->view_number);
}

static int by_rank(const void *a, const void *b, void *argument)
{
  const struct profile *profile = argument;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return COMPARE(profile->processes[x].rank, profile->processes[y].rank) ?: COMPARE(x, y);
}

/* Numbers the owners and divides the processes into units. */
static void plan_units(struct run *run)
{
  const struct profile *profile = run->view->profile;
  struct statistics *statistics = run->statistics;
  size_t room = profile->processes_count, threads = 0;
  run->order = xcalloc(room, sizeof *run->order);
  run->first_owner = xcalloc(room, sizeof *run->first_owner);
  run->units = xcalloc(room, sizeof *run->units);
  statistics->rank_owners = xcalloc(room, sizeof *statistics->rank_owners);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    if (profile->processes[i].usable)
      run->order[run->order_count++] = i;
    threads += profile->processes[i].threads_count;
  }
  qsort_r(run->order, run->order_count, sizeof *run->order, by_rank, (void *)profile);
  statistics->thread_owners = xcalloc(threads, sizeof *statistics->thread_owners);
  for (uint32_t i = 0; i < run->order_count; i++) {
    const struct profile_process *process = &profile->processes[run->order[i]];
    run->first_owner[i] = statistics->threads_count;
    for (uint32_t j = 0; j < process->threads_count; j++)
      if (!(process->threads[j].flags & THREAD_HELPER))
        statistics->thread_owners[statistics->threads_count++] = (struct statistics_owner){run->order[i], j};
    bool ranked = process->rank >= 0;
    if (ranked && i && profile->processes[run->order[i - 1]].rank == process->rank) {
      run->units[run->units_count - 1].count++;
      continue;
    }
    run->units[run->units_count++] =
        (struct unit){.first = i, .count = 1, .owner = ranked ? statistics->ranks_count : MODEL_NONE};
    if (ranked)
      statistics->rank_owners[statistics->ranks_count++] = (struct statistics_owner){run->order[i], 0};
  }
  statistics->ranked = statistics->ranks_count != 0;
}

void statistics_count_part(const struct statistics_view *view, uint32_t part, uint32_t parts, unsigned threads,
                           struct problems *problems, struct statistics *statistics)
{
  assert(parts && part < parts && view->row_of && view->tree->count);
  struct run run = {.view = view, .statistics = statistics, .part = part, .parts = parts, .problems = problems};
  *statistics = (struct statistics){.rows = view->rows};
  plan_units(&run);
  number_rows(view, &run.numbering);
  pthread_mutex_init(&run.lock, NULL);
  count_units(&run, threads);
  pthread_mutex_destroy(&run.lock);
  statistics->known = true;
  release_numbering(&run.numbering);
  free(run.order);
  free(run.first_owner);
  free(run.units);
}

void statistics_count(const struct statistics_view *view, unsigned threads, struct problems *problems,
                      struct statistics *statistics)
{
  statistics_count_part(view, 0, 1, threads, problems, statistics);
}

void statistics_release(struct statistics *statistics)
{
  free(statistics->threads);
  free(statistics->ranks);
  free(statistics->thread_owners);
  free(statistics->rank_owners);
  *statistics = (struct statistics){0};
}

/* Standard deviation over the owners.  squares - sum^2 / owners is computed in whole numbers to avoid cancellation. */
static uint64_t deviation(const struct statistics_sums *sums, uint32_t owners)
{
  assert(owners);
  unsigned __int128 square = (unsigned __int128)sums->sum * sums->sum, base = square / owners;
  unsigned __int128 excess = sums->squares > base ? sums->squares - base : 0;
  long double fraction = (long double)(uint32_t)(square % owners) / owners;
  long double variance = ((long double)excess - fraction) / owners;
  return variance > 0 ? (uint64_t)(sqrtl(variance) + 0.5L) : 0;
}

bool statistics_row(const struct statistics *statistics, uint32_t row, bool of_ranks,
                    struct statistics_figures *figures)
{
  assert(row < statistics->rows || !statistics->known);
  uint32_t owners = of_ranks ? statistics->ranks_count : statistics->threads_count;
  if (!statistics->known || !owners)
    return false;
  const struct statistics_sums *sums = of_ranks ? &statistics->ranks[row] : &statistics->threads[row];
  const struct statistics_owner *all = of_ranks ? statistics->rank_owners : statistics->thread_owners;
  *figures = (struct statistics_figures){.least = sums->least,
                                         .mean = sums->sum / owners + (sums->sum % owners >= owners - owners / 2),
                                         .most = sums->most,
                                         .deviation = deviation(sums, owners),
                                         .least_owner = all[sums->least_owner],
                                         .most_owner = all[sums->owners ? sums->most_owner : 0]};
  if (sums->first_without != MODEL_NONE) {
    figures->least = 0;
    figures->least_owner = all[sums->first_without];
  }
  return true;
}
