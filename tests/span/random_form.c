/* A random program, by seed, and the work and span that the rules of OpenMP give it: random_form SEED THREADS [MASK]
 * prints both and runs the program.  MASK names the kinds of statements that are left out.  By default that is
 * mutexinoutset: with it, libomp 14 to 19 now and then hangs or drops a task, also without a tool (1 of some
 * 1,500 runs). */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "hpcrun-lite.h"

enum kind { WORK, TASK, UNDEFERRED, UNTIED, IN, OUT, MUTEX, WAIT, GROUP, TASKLOOP, CRITICAL, WAIT_IN, REGION, KINDS };
enum { MAX = 20000, PLACES = 3, LONGEST = 9, PHASES = 4, DEEPEST = 4 };

/* A statement, with the next one of its block, and the blocks inside it: those of threads or iterations, by intervals
 * of a region. */
static struct statement {
  enum kind kind;
  int next, size, place, inside, intervals[PHASES][2], interval_kinds[PHASES], count;
} all[MAX];

static int made = 1;
static long without = 1 << MUTEX; /* a mask of the kinds that are left out */

static int below(int n)
{
  return (int)(lrand48() % n);
}

enum { FOR_TASK, FOR_CHUNK };

static int make_block(int depth, int regions, int where);

static void make_region(struct statement *s, int depth, int regions)
{
  s->count = 1 + below(PHASES);
  for (int i = 0; i < s->count; i++) {
    s->interval_kinds[i] = below(4);
    for (int k = 0; k < 2; k++)
      s->intervals[i][k] = make_block(depth + 1, regions + 1, s->interval_kinds[i] == 1 ? FOR_CHUNK : FOR_TASK);
  }
}

static int make_block(int depth, int regions, int where)
{
  int first = 0, *link = &first;
  for (int left = 1 + below(4); left > 0 && made < MAX - 200; left--) {
    int index = made++;
    struct statement *s = &all[index];
    *link = index;
    link = &s->next;
    s->kind = depth > DEEPEST ? WORK : (enum kind)below(KINDS);
    if ((s->kind == REGION && (regions > 2 || below(3))) || without >> s->kind & 1)
      s->kind = WORK;
    if (where == FOR_CHUNK &&
        (s->kind == IN || s->kind == OUT || s->kind == MUTEX || s->kind == WAIT || s->kind == WAIT_IN))
      s->kind = TASK; /* the schedule decides which tasks are siblings of those */
    s->size = 1 + below(LONGEST);
    s->place = below(PLACES);
    if (s->kind == REGION)
      make_region(s, depth, regions);
    else if (s->kind != WORK && s->kind != WAIT && s->kind != CRITICAL && s->kind != WAIT_IN)
      s->inside =
          make_block(s->kind == MUTEX ? DEEPEST + 1 : depth + 1, regions, /* libomp hangs where such tasks wait */
                     where == FOR_CHUNK && s->kind == GROUP ? FOR_CHUNK : FOR_TASK);
  }
  return first;
}

/* ---- the model: expected work and span ---- */

struct place {
  long writers, readers, before;
  bool mutex;
};

struct task {
  long now, children, *group, *interval;
  struct place places[PLACES];
};

static long work;

static void raise_to(long *value, long other)
{
  if (value && other > *value)
    *value = other;
}

static long long_since(struct place *place, enum kind kind)
{
  if (kind == IN)
    return place->writers;
  if (kind != MUTEX || !place->mutex || place->readers) {
    place->before = place->writers > place->readers ? place->writers : place->readers;
    place->readers = 0;
    place->writers = 0;
  }
  place->mutex = kind == MUTEX;
  return place->before;
}

static void model(int block, struct task *task);

static void model_task(const struct statement *s, struct task *task)
{
  struct task child = {.now = task->now, .group = task->group, .interval = task->interval};
  struct place *place = s->kind == IN || s->kind == OUT || s->kind == MUTEX ? &task->places[s->place] : NULL;
  if (place)
    raise_to(&child.now, long_since(place, s->kind));
  model(s->inside, &child);
  if (place)
    raise_to(s->kind == IN ? &place->readers : &place->writers, child.now);
  if (s->kind == UNDEFERRED)
    task->now = child.now;
  raise_to(&task->children, child.now);
  raise_to(task->group ? task->group : task->interval, child.now);
}

static void model_region(const struct statement *s, struct task *task, int threads)
{
  long begin = task->now;
  for (int i = 0; i < s->count; i++) {
    long end = begin;
    int parts = s->interval_kinds[i] == 1 ? 5 : s->interval_kinds[i] == 2 ? 1 : threads;
    for (int k = 0; k < parts; k++) {
      struct task one = {.now = begin, .interval = &end};
      model(s->intervals[i][k % 2], &one);
      raise_to(&end, one.now);
    }
    begin = end;
  }
  task->now = begin;
}

static void model(int block, struct task *task)
{
  for (; block; block = all[block].next) {
    const struct statement *s = &all[block];
    long *outer = task->group, end = 0;
    switch (s->kind) {
    case WORK:
    case CRITICAL:
      task->now += s->size;
      work += s->size;
      break;
    case WAIT:
      raise_to(&task->now, task->children);
      break;
    case WAIT_IN:
      raise_to(&task->now, task->places[s->place].writers);
      break;
    case GROUP:
      task->group = &end;
      model(s->inside, task);
      task->group = outer;
      raise_to(&task->now, end);
      break;
    case TASKLOOP:
      task->group = &end;
      for (int i = 0; i < s->size; i++)
        model_task(s, task);
      task->group = outer;
      raise_to(&task->now, end);
      break;
    case REGION:
      model_region(s, task, 2);
      break;
    default:
      model_task(s, task);
    }
  }
}

/* ---- the program ---- */

static int zero;

static void run(int block, char *at);

static void run_new(int block)
{
  char at[PLACES] = {0};
  run(block, at);
}

static void run_region(const struct statement *s, int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < s->count; i++) {
    if (s->interval_kinds[i] == 1) {
#pragma omp for schedule(dynamic, 1)
      for (int k = 0; k < 5; k++)
        run_new(s->intervals[i][k % 2]);
    } else if (s->interval_kinds[i] == 2) {
#pragma omp single
      run_new(s->intervals[i][0]);
    } else {
      run_new(s->intervals[i][omp_get_thread_num() % 2]);
#pragma omp barrier
    }
  }
}

static void run(int block, char *at)
{
  for (; block; block = all[block].next) {
    const struct statement *s = &all[block];
    char *place = &at[s->place];
    (void)place;
    switch (s->kind) {
    case WORK:
      hpcrun_lite_add_work((uint64_t)s->size);
      break;
    case CRITICAL:
#pragma omp critical
      hpcrun_lite_add_work((uint64_t)s->size);
      break;
    case WAIT: {
#pragma omp taskwait
      break;
    }
    case WAIT_IN: {
#pragma omp taskwait depend(in : place[0])
      break;
    }
    case GROUP:
#pragma omp taskgroup
      run(s->inside, at);
      break;
    case TASKLOOP:
#pragma omp taskloop grainsize(1)
      for (int i = 0; i < s->size; i++)
        run_new(s->inside);
      break;
    case REGION:
      run_region(s, 2);
      break;
    case UNDEFERRED:
#pragma omp task if (zero)
      run_new(s->inside);
      break;
    case UNTIED:
#pragma omp task untied
      run_new(s->inside);
      break;
    case IN:
#pragma omp task depend(in : place[0])
      run_new(s->inside);
      break;
    case OUT:
#pragma omp task depend(out : place[0])
      run_new(s->inside);
      break;
    case MUTEX:
#pragma omp task depend(mutexinoutset : place[0])
      run_new(s->inside);
      break;
    default:
#pragma omp task
      run_new(s->inside);
    }
  }
}

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  srand48(atol(argv[1]));
  int threads = atoi(argv[2]);
  if (argc > 3)
    without = atol(argv[3]);
  omp_set_max_active_levels(9);
  struct task task = {0};
  struct statement program[3];
  for (int i = 0; i < 3; i++) {
    program[i] = (struct statement){.kind = REGION};
    make_region(&program[i], 0, 0);
    model_region(&program[i], &task, threads);
  }
  printf("%ld %ld\n", work, task.now);
  for (int i = 0; i < 3; i++)
    run_region(&program[i], threads);
  return 0;
}
