#include "hpcprof-lite/analysis/metrics.h"

#include "hpcprof-lite/views/derived.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_NAMES = 3 };

/* Distinct texts in the order in which they occur: how many, and the first few. */
struct distinct {
  const char *first[SHOWN_NAMES];
  uint32_t count;
};

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the distinct ones of the usable processes' hosts or commands. */
static int find_distinct(const struct profile *profile, bool hosts, struct distinct *distinct)
{
  const char **all = calloc(profile->processes_count + 1, sizeof *all);
  uint32_t count = 0;
  *distinct = (struct distinct){0};
  if (!all)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    const char *text = hosts ? process->host : process->command;
    all[count++] = *text ? text : "(unknown)";
  }
  for (uint32_t i = 0; i < count && distinct->count < SHOWN_NAMES; i++) {
    bool seen = false;
    for (uint32_t j = 0; j < distinct->count; j++)
      seen = seen || !strcmp(distinct->first[j], all[i]);
    if (!seen)
      distinct->first[distinct->count++] = all[i];
  }
  qsort(all, count, sizeof *all, by_text);
  distinct->count = 0;
  for (uint32_t i = 0; i < count; i++)
    distinct->count += !i || strcmp(all[i - 1], all[i]);
  free(all);
  return 0;
}

/* "a, b, c and 5 more" */
static char *distinct_text(const struct distinct *distinct, const char *separator)
{
  char *text = NULL;
  uint32_t shown = distinct->count < SHOWN_NAMES ? distinct->count : SHOWN_NAMES;
  if (!shown)
    return strdup("(unknown)");
  const char *second = shown > 1 ? distinct->first[1] : "", *third = shown > 2 ? distinct->first[2] : "";
  char more[32] = "";
  if (distinct->count > shown)
    snprintf(more, sizeof more, " and %" PRIu32 " more", distinct->count - shown);
  if (asprintf(&text, "%s%s%s%s%s%s", distinct->first[0], shown > 1 ? separator : "", second,
               shown > 2 ? separator : "", third, more) < 0)
    return NULL;
  return text;
}

char *metrics_command(const struct profile *profile)
{
  struct distinct commands;
  return find_distinct(profile, false, &commands) ? NULL : distinct_text(&commands, "; ");
}

static void add(uint64_t *sum, uint64_t amount)
{
  *sum = contexts_sum(*sum, amount);
}

static void add_thread(struct report_run *run, const struct profile_thread *thread)
{
  run->threads++;
  add(&run->samples, thread->samples);
  add(&run->work_ns, thread->work_ns);
  add(&run->overhead_ns, thread->overhead_ns);
  add(&run->lockwait_ns, thread->lockwait_ns);
  add(&run->idle_ns, thread->idle_ns);
  add(&run->lockwait_sampled_ns, thread->lockwait_sampled_ns);
  add(&run->caused_lock_ns, thread->caused_lock_ns);
  add(&run->caused_idle_ns, thread->caused_idle_ns);
  for (unsigned i = 0; i < LOSS_MAX; i++)
    add(&run->lost[i], thread->lost[i]);
}

/* Adds what only a process with OpenMP has: the time that its threads could have worked, and the part of their life
 * that no category holds.  *seen sums up the other part; errors of sampling in single threads balance each other. */
static void add_openmp(struct report_run *run, const struct profile_process *process, enum profile_baseline baseline,
                       uint64_t *seen)
{
  uint32_t most = baseline == BASELINE_CORE ? process->cpus : process->threads_max;
  uint64_t product;
  if (!(process->flags & PROCESS_OMPT))
    return;
  run->baseline = !run->openmp_processes || run->baseline == most ? most : 0;
  run->openmp_processes++;
  add(&run->baseline_ns, __builtin_mul_overflow(process->wall_ns, most, &product) ? UINT64_MAX : product);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    if (!(thread->flags & THREAD_OPENMP))
      continue;
    const uint64_t known[] = {thread->work_ns,     thread->overhead_ns, thread->idle_ns,
                              thread->lockwait_ns, thread->blocked_ns,  thread->tool_ns};
    for (size_t j = 0; j < sizeof known / sizeof *known; j++)
      add(seen, known[j]);
    add(&run->openmp_wall_ns, thread->wall_ns);
    add(&run->blocked_ns, thread->blocked_ns);
  }
}

/* Whether the process's notes say that elapsed time drove its samples. */
static bool is_by_wall(const struct profile_process *process)
{
  static const char wall[] = "event: wall,";
  const char *at = strstr(process->notes, wall);
  return at && (at == process->notes || at[-1] == '\n');
}

int metrics_run(const struct profile *profile, const struct tree_columns *columns, enum profile_baseline baseline,
                struct report_run *run)
{
  uint64_t begin = UINT64_MAX, end = 0, seen = 0;
  struct distinct hosts;
  *run = (struct report_run){0};
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    run->processes++;
    run->running += process->running;
    run->unfinished += process->unfinished && !process->running;
    uint64_t stop = contexts_sum(process->start_ns, process->wall_ns);
    begin = process->start_ns < begin ? process->start_ns : begin;
    end = stop > end ? stop : end;
    run->threads_max = process->threads_max > run->threads_max ? process->threads_max : run->threads_max;
    add(&run->cpu_ns, process->cpu_ns);
    add(&run->regions, process->regions);
    for (unsigned j = 0; j < LOSS_MAX; j++)
      add(&run->lost[j], process->lost[j]);
    for (uint32_t j = 0; j < process->threads_count; j++)
      add_thread(run, &process->threads[j]);
    add_openmp(run, process, baseline, &seen);
    run->by_wall = run->by_wall || is_by_wall(process);
  }
  run->unseen_ns = run->openmp_wall_ns > seen ? run->openmp_wall_ns - seen : 0;
  run->elapsed_ns = end > begin ? end - begin : 0;
  if (columns->work == PROFILE_NONE && columns->overhead == PROFILE_NONE)
    run->work_ns = run->overhead_ns = 0;
  run->command = metrics_command(profile);
  run->hosts = find_distinct(profile, true, &hosts) ? NULL : distinct_text(&hosts, ", ");
  return run->command && run->hosts ? 0 : ERR_NOMEM;
}

void metrics_run_release(struct report_run *run)
{
  free(run->command);
  free(run->hosts);
  *run = (struct report_run){0};
}

uint32_t metrics_hot(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                     struct report_hot hot[METRICS_HOT])
{
  uint32_t count = 0;
  for (uint32_t row = flat->rows[0].first_child; row != PROFILE_NONE && count < METRICS_HOT; row = flat->rows[row].next)
    if (tree_spent(flat, columns, row, false) * 200 >= tree_spent(flat, columns, 0, true) &&
        tree_spent(flat, columns, row, false))
      hot[count++] = (struct report_hot){.flat = row};
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    for (uint32_t j = 0; j < count; j++)
      if (row && tree_same_function(&tree->rows[row], &flat->rows[hot[j].flat]) &&
          tree_spent(tree, columns, row, false) >
              (hot[j].context ? tree_spent(tree, columns, hot[j].context, false) : 0))
        hot[j].context = row;
  }
  return count;
}

uint32_t metrics_path(const struct tree *flat, const struct tree_columns *columns, uint32_t path[METRICS_PATH])
{
  uint32_t count = 0;
  uint64_t least = tree_incl(flat, 0, columns->critical) / 100;
  for (uint32_t row = flat->rows[0].first_child; row != PROFILE_NONE; row = flat->rows[row].next) {
    uint64_t own = tree_excl(flat, row, columns->critical);
    uint32_t place = count;
    while (place && tree_excl(flat, path[place - 1], columns->critical) < own)
      place--;
    if (!own || own < least || place == METRICS_PATH)
      continue;
    count += count < METRICS_PATH;
    memmove(path + place + 1, path + place, (count - 1 - place) * sizeof *path);
    path[place] = row;
  }
  return count;
}

static int by_weight(const void *a, const void *b)
{
  const struct report_module *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return (x->module > y->module) - (x->module < y->module);
}

int metrics_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                    struct report_module modules[METRICS_MODULES], uint32_t *count)
{
  struct report_module *all = calloc(names->modules_count + 1, sizeof *all);
  *count = 0;
  if (!all)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < names->modules_count; i++)
    all[i] = (struct report_module){.module = i, .unnamed = !names->modules[i].named};
  for (uint32_t row = 0; row < tree->count; row++)
    if (tree->rows[row].module != PROFILE_NONE)
      add(&all[tree->rows[row].module].weight, tree_spent(tree, columns, row, false));
  qsort(all, names->modules_count, sizeof *all, by_weight);
  uint64_t least = tree_spent(tree, columns, 0, true) / 100;
  for (uint32_t i = 0; i < names->modules_count && *count < METRICS_MODULES; i++) {
    const struct names_module *found = &names->modules[all[i].module];
    if (found->looked_up && !found->lined && all[i].weight && all[i].weight >= least)
      modules[(*count)++] = all[i];
  }
  free(all);
  return 0;
}

enum thread_key {
  KEY_PROCESS,
  KEY_RANK,
  KEY_THREAD,
  KEY_HOST,
  KEY_SAMPLES,
  KEY_DROPPED,
  KEY_PARTIAL,
  KEY_WORK,
  KEY_OVERHEAD,
  KEY_LOCKWAIT,
  KEY_IDLE,
  KEY_CPU,
  KEY_WALL,
  KEY_BLOCKED,
  KEY_COUNT
};

struct thread_sort {
  const struct profile *profile;
  enum thread_key key;
};

static uint64_t thread_figure(const struct profile_thread *thread, enum thread_key key)
{
  switch (key) {
  case KEY_SAMPLES:
    return thread->samples;
  case KEY_DROPPED:
    return thread->lost[LOSS_MEMORY] + thread->lost[LOSS_REFUSED];
  case KEY_PARTIAL:
    return thread->lost[LOSS_PARTIAL];
  case KEY_WORK:
    return thread->work_ns;
  case KEY_OVERHEAD:
    return thread->overhead_ns;
  case KEY_LOCKWAIT:
    return thread->lockwait_ns;
  case KEY_IDLE:
    return thread->idle_ns;
  case KEY_CPU:
    return thread->cpu_ns;
  case KEY_WALL:
    return thread->wall_ns;
  case KEY_BLOCKED:
    return thread->blocked_ns;
  default:
    return 0;
  }
}

static int by_thread(const void *a, const void *b, void *argument)
{
  const struct thread_sort *sort = argument;
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  const struct profile_process *xp = &sort->profile->processes[x >> 32], *yp = &sort->profile->processes[y >> 32];
  const struct profile_thread *xt = &xp->threads[(uint32_t)x], *yt = &yp->threads[(uint32_t)y];
  uint64_t xf = thread_figure(xt, sort->key), yf = thread_figure(yt, sort->key);
  int order = (xf < yf) - (xf > yf);
  if (sort->key == KEY_PROCESS)
    order = (xp->pid > yp->pid) - (xp->pid < yp->pid);
  else if (sort->key == KEY_RANK)
    order = (xp->rank > yp->rank) - (xp->rank < yp->rank);
  else if (sort->key == KEY_THREAD)
    order = (xt->index > yt->index) - (xt->index < yt->index);
  else if (sort->key == KEY_HOST)
    order = strcmp(xp->host, yp->host);
  return order ? order : (x > y) - (x < y);
}

int metrics_threads(const struct profile *profile, const char *sort, uint64_t **order, uint32_t *count)
{
  static const char *const keys[KEY_COUNT] = {"process", "rank",    "thread", "host",       "samples",
                                              "dropped", "partial", "work_s", "overhead_s", "lockwait_s",
                                              "idle_s",  "cpu_s",   "wall_s", "blocked_s"};
  struct thread_sort by = {.profile = profile};
  *order = NULL;
  *count = 0;
  while (sort && by.key < KEY_COUNT && strcmp(sort, keys[by.key]))
    by.key++;
  if (by.key == KEY_COUNT)
    return ERR_INPUT;
  size_t threads = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    threads += profile->processes[i].usable ? profile->processes[i].threads_count : 0;
  *order = calloc(threads + 1, sizeof **order);
  if (!*order)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; profile->processes[i].usable && j < profile->processes[i].threads_count; j++)
      (*order)[(*count)++] = (uint64_t)i << 32 | j;
  if (sort)
    qsort_r(*order, *count, sizeof **order, by_thread, &by);
  return 0;
}
