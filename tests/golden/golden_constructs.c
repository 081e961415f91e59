#include "tests/golden/golden_constructs.h"

#include "tests/golden/golden_records.h"

#include <assert.h>
#include <string.h>

enum { WALL = 3000, LINK = FORMAT_CONSTRUCT_LINK, IN_WAIT = FORMAT_CONSTRUCT_IN_WAIT };

/* The directives of all processes; their addresses are 0x1000 + 16 for each. */
enum {
  A = 1, /* four threads, each once through */
  A_CRITICAL,
  B, /* two threads; five tasks that run at the closing barrier */
  B_SINGLE,
  B_TASK,
  C, /* the same, but the creator runs each task at once */
  C_SINGLE,
  C_TASK,
  D, /* two threads run parts of one untied task in a barrier */
  D_BARRIER,
  D_TASK,
  E, /* two threads, each of which creates E_INNER */
  E_INNER,
  E_LOOP,
  F, /* three sections, one of them empty, for four threads; a lock around two of them */
  F_SECTIONS,
  F_LOCK,
  SINGLE, /* with a barrier */
  PHASE,  /* a user region outside all regions */
  DIRECTIVES
};

static const uint8_t kinds[DIRECTIVES] = {
    [A] = FORMAT_DIRECTIVE_PARALLEL,       [A_CRITICAL] = FORMAT_DIRECTIVE_CRITICAL,
    [B] = FORMAT_DIRECTIVE_PARALLEL,       [B_SINGLE] = FORMAT_DIRECTIVE_SINGLE,
    [B_TASK] = FORMAT_DIRECTIVE_TASK,      [C] = FORMAT_DIRECTIVE_PARALLEL,
    [C_SINGLE] = FORMAT_DIRECTIVE_SINGLE,  [C_TASK] = FORMAT_DIRECTIVE_TASK,
    [D] = FORMAT_DIRECTIVE_PARALLEL,       [D_BARRIER] = FORMAT_DIRECTIVE_BARRIER,
    [D_TASK] = FORMAT_DIRECTIVE_TASK,      [E] = FORMAT_DIRECTIVE_PARALLEL,
    [E_INNER] = FORMAT_DIRECTIVE_PARALLEL, [E_LOOP] = FORMAT_DIRECTIVE_FOR,
    [F] = FORMAT_DIRECTIVE_PARALLEL,       [F_SECTIONS] = FORMAT_DIRECTIVE_SECTIONS,
    [F_LOCK] = FORMAT_DIRECTIVE_LOCK,      [SINGLE] = FORMAT_DIRECTIVE_SINGLE,
    [PHASE] = FORMAT_DIRECTIVE_USER_REGION};

/* Adds a construct of the thread with its exclusive times in ms.  Returns its index. */
static uint32_t spent(uint32_t parent, uint32_t directive, uint64_t enter, uint64_t body, uint64_t wait, uint64_t after)
{
  uint32_t made = compose_construct(&compose, parent, kinds[directive], directive, 1);
  uint64_t *ticks = compose.constructs[made].ticks;
  ticks[FORMAT_TIME_ENTER] = ticks_of_ms(enter);
  ticks[FORMAT_TIME_BODY] = ticks_of_ms(body);
  ticks[FORMAT_TIME_WAIT] = ticks_of_ms(wait);
  ticks[FORMAT_TIME_EXIT] = ticks_of_ms(after);
  return made;
}

/* The same for a region that another thread has created. */
static uint32_t joined(uint32_t owner, uint32_t link, uint32_t directive, uint64_t enter, uint64_t body, uint64_t wait,
                       uint64_t after)
{
  uint32_t made = spent(0, directive, enter, body, wait, after);
  compose.constructs[made].flags = LINK;
  compose.constructs[made].owner = owner;
  compose.constructs[made].link = link;
  return made;
}

/* The execution of tasks of a directive, for some ms, `count` of them. */
static uint32_t executed(uint32_t parent, uint32_t directive, uint32_t flags, uint64_t body, uint64_t count)
{
  uint32_t made = spent(parent, directive, 0, body, 0, 0);
  compose.constructs[made].kind = FORMAT_CONSTRUCT_TASK_EXEC;
  compose.constructs[made].flags = flags;
  compose.constructs[made].count = count;
  return made;
}

/* The thread's figures of tasks: that it created and ran, each for some ms, begun 1 ms after their creation. */
static struct format_tasks *tasks_of(uint32_t directive, uint64_t created, uint64_t ran, uint64_t each_ms)
{
  struct format_tasks *tasks = compose_tasks(&compose, directive);
  uint64_t ticks = ticks_of_ms(each_ms), high = 63 - (unsigned)__builtin_clzll(ticks);
  tasks->created = created;
  tasks->created_at = created * ticks_of_ms(10);
  tasks->started = tasks->ended = ran;
  tasks->started_at = ran * ticks_of_ms(11);
  tasks->ticks = ran * ticks;
  tasks->shortest = tasks->longest = ticks;
  tasks->histogram[(high - 2) * 8 + (ticks >> (high - 3) & 7)] = (uint32_t)ran;
  return tasks;
}

/* Ends a thread that has lived for WALL ms: what it has not spent in constructs, it spent outside. */
static void end_thread(uint32_t index, enum format_construct_time column)
{
  uint64_t all = 0;
  for (uint32_t i = 1; i < compose.constructs_count; i++)
    for (int j = 0; j < FORMAT_TIMES; j++)
      if (compose.constructs[i].kind != FORMAT_DIRECTIVE_LOCK || j != FORMAT_TIME_BODY)
        all += compose.constructs[i].ticks[j];
  compose.constructs[0].ticks[column] = ticks_of_ms(WALL) - all;
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.wall_ns = compose.thread.end_ns = ms(WALL);
  compose.thread.work = ms(500);
  compose_thread(&compose, index);
}

static void begin(enum compose_form form, uint32_t pid)
{
  compose_begin(&compose, form, pid, "./constructs");
  compose.process.wall_ns = ms(WALL);
  compose.process.threads_max = 4;
  compose.process.tick_scale = 1ull << 31;
  compose.process.start_ticks = 1000;
  time_metrics();
  if (pid % 2) /* modules have other numbers */
    compose_module(&compose, "/golden/libm.so.6", FORMAT_MODULE_SYSTEM);
  uint32_t module = compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  for (uint32_t i = 1; i < DIRECTIVES; i++)
    compose_directive(&compose, kinds[i], i == PHASE ? 0 : module, 0x1000 + 16 * i, 1, ms(1), ms(1));
  compose.directives[PHASE].name = compose_string(&compose, "phase 1");
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PROGRAM, 0, 0);
}

/* Begins the next thread's constructs. */
static void next_thread(void)
{
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PROGRAM, 0, 0);
}

/* All constructs, of four threads; tests/golden/golden_figures.py has the figures that follow from it.  A is figure 1
 * of the ompP paper, B figures 4 (left), 7 and 8, C figure 4 with if(0), in tenths of a second. */
static void all_kinds(void)
{
  begin(COMPOSE_PACKED, 2100);
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = compose.process.span_burdened = ms(1000);
  uint32_t main_frame = frame_below(0, 0x1000), in_a = frame_below(main_frame, 0x1010);
  uint32_t a = spent(0, A, 2, 0, 300, 1);
  compose.constructs[a].node = main_frame;
  compose.constructs[spent(a, A_CRITICAL, 0, 100, 0, 0)].node = in_a;
  uint32_t b = spent(0, B, 0, 0, 0, 0), single = spent(b, B_SINGLE, 0, 0, 0, 0);
  compose.constructs[single].chosen = 1;
  compose.constructs[spent(single, B_TASK, 0, 0, 0, 0)].count = 5;
  executed(b, B_TASK, IN_WAIT, 300, 3);
  tasks_of(B_TASK, 5, 3, 100);
  uint32_t c = spent(0, C, 0, 0, 0, 0);
  single = spent(c, C_SINGLE, 0, 0, 0, 0);
  compose.constructs[single].chosen = 1;
  uint32_t task = spent(single, C_TASK, 0, 0, 0, 0);
  compose.constructs[task].count = 5;
  executed(task, C_TASK, 0, 500, 5);
  tasks_of(C_TASK, 5, 5, 100)->undeferred = 5;
  uint32_t d = spent(0, D, 0, 10, 0, 0);
  task = spent(d, D_TASK, 3, 0, 0, 0);
  uint32_t barrier = spent(d, D_BARRIER, 0, 0, 40, 0);
  executed(barrier, D_TASK, IN_WAIT, 60, 1);
  struct format_tasks *untied = tasks_of(D_TASK, 1, 1, 100);
  untied->untied = untied->dependent = untied->suspended = untied->create_timed = 1;
  untied->create_ticks = ticks_of_ms(3);
  untied->ended = untied->ticks = untied->shortest = untied->longest = 0;
  memset(untied->histogram, 0, sizeof untied->histogram);
  uint32_t e = spent(0, E, 1, 5, 30, 1), inner = spent(e, E_INNER, 2, 0, 20, 2);
  compose.constructs[spent(inner, E_LOOP, 0, 80, 0, 0)].wait_own = 0;
  uint32_t f = spent(0, F, 0, 5, 0, 0), sections = spent(f, F_SECTIONS, 0, 50, 1, 0);
  compose.constructs[sections].chosen = 1;
  compose.constructs[sections].wait_own = ticks_of_ms(1);
  spent(sections, F_LOCK, 0, 30, 0, 0);
  single = spent(f, SINGLE, 0, 20, 0, 0);
  compose.constructs[single].chosen = 1;
  uint32_t phase = spent(0, PHASE, 0, 70, 0, 0);
  spent(phase, A, 0, 4, 0, 0); /* the first region again, elsewhere: a team of one thread */
  end_thread(1, FORMAT_TIME_BODY);

  next_thread();
  spent(joined(1, a, A, 2, 0, 100, 1), A_CRITICAL, 200, 100, 0, 0);
  uint32_t b2 = joined(1, b, B, 0, 0, 100, 0);
  spent(b2, B_SINGLE, 0, 0, 0, 0);
  executed(b2, B_TASK, IN_WAIT, 200, 2);
  tasks_of(B_TASK, 0, 2, 100)->elsewhere = 2;
  uint32_t c2 = joined(1, c, C, 0, 0, 500, 0);
  spent(c2, C_SINGLE, 0, 0, 0, 0);
  uint32_t d2 = joined(1, d, D, 0, 10, 0, 0);
  barrier = spent(d2, D_BARRIER, 0, 0, 63, 0);
  executed(barrier, D_TASK, IN_WAIT, 40, 0); /* it goes on with the task that thread 1 has begun */
  compose.constructs[barrier].wait_own = ticks_of_ms(3);
  untied = tasks_of(D_TASK, 0, 0, 100);
  untied->ended = 1;
  untied->ticks = untied->shortest = untied->longest = ticks_of_ms(100);
  untied->histogram[(27 - 2) * 8 + 3] = 1; /* 2e8 ticks: 2^27 x 1.49 */
  uint32_t e2 = joined(1, e, E, 1, 5, 0, 1), inner2 = spent(e2, E_INNER, 2, 0, 10, 2);
  spent(inner2, E_LOOP, 0, 120, 0, 0);
  uint32_t f2 = joined(1, f, F, 0, 5, 0, 0);
  sections = spent(f2, F_SECTIONS, 0, 40, 11, 0);
  compose.constructs[sections].chosen = 1;
  compose.constructs[sections].wait_own = ticks_of_ms(1);
  spent(sections, F_LOCK, 10, 20, 0, 0);
  compose.constructs[sections].ticks[FORMAT_TIME_BODY] -= ticks_of_ms(10);
  compose.constructs[spent(f2, SINGLE, 0, 0, 20, 0)].wait_own = ticks_of_ms(1);
  end_thread(2, FORMAT_TIME_WAIT);

  next_thread();
  spent(joined(1, a, A, 2, 0, 200, 1), A_CRITICAL, 100, 100, 0, 0);
  spent(joined(1, inner, E_INNER, 2, 0, 10, 2), E_LOOP, 0, 90, 0, 0);
  uint32_t f3 = joined(1, f, F, 0, 5, 0, 0);
  sections = spent(f3, F_SECTIONS, 0, 30, 21, 0);
  compose.constructs[sections].chosen = 1;
  compose.constructs[sections].wait_own = ticks_of_ms(1);
  spent(f3, SINGLE, 0, 0, 20, 0);
  end_thread(3, FORMAT_TIME_WAIT);

  next_thread();
  spent(joined(1, a, A, 2, 0, 0, 1), A_CRITICAL, 300, 100, 0, 0);
  uint32_t inner4 = joined(2, inner2, E_INNER, 2, 0, 60, 2);
  uint32_t loop = spent(inner4, E_LOOP, 0, 65, 0, 0);
  spent(loop, E, 0, 5, 0, 0); /* recursion: a part of the outer E */
  uint32_t f4 = joined(1, f, F, 0, 5, 0, 0);
  sections = spent(f4, F_SECTIONS, 0, 0, 51, 0);
  compose.constructs[sections].wait_own = ticks_of_ms(1);
  compose.constructs[sections].wait_spare = ticks_of_ms(51);
  spent(f4, SINGLE, 0, 0, 20, 0);
  end_thread(4, FORMAT_TIME_WAIT);
  compose_end(&compose);
}

/* Another process with two threads and modules of other numbers: region A, and a loop in a region of its own. */
static void second_process(void)
{
  begin(COMPOSE_PACKED, 2201);
  compose.process.rank = 1;
  compose.process.start_ns += ms(10);
  compose.process.threads_max = 2;
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.tick_scale = 1ull << 32; /* ticks of 1 ns: the same numbers are twice the time */
  uint32_t a = spent(0, A, 1, 10, 100, 1);
  spent(0, E_LOOP, 0, 7, 0, 0);
  compose.thread.wall_ns = ms(WALL);
  end_thread(1, FORMAT_TIME_BODY);
  next_thread();
  joined(1, a, A, 1, 110, 0, 1);
  end_thread(2, FORMAT_TIME_WAIT);
  compose_end(&compose);
}

/* A process that was killed after WALL ms, since 100 ms at the barrier of a loop (1) and in it (2).  Its work was never
 * known, and thread 3 has ended before. */
static void killed(void)
{
  begin(COMPOSE_LIVE, 2300);
  compose.process.flags |= FORMAT_PROCESS_ONLINE;
  uint64_t since = compose.process.start_ticks + ticks_of_ms(WALL - 100);
  uint32_t a = spent(0, A, 1, 0, 0, 0), loop = spent(a, E_LOOP, 0, 10, 5, 0);
  for (uint32_t thread = 1; thread <= 3; thread++) {
    if (thread > 1) {
      next_thread();
      loop = spent(joined(1, a, A, 1, 0, 0, 0), E_LOOP, 0, 10, 5, 0);
    }
    compose.thread.flags = FORMAT_THREAD_OPENMP;
    compose.thread.wall_ns = ms(WALL);
    compose.thread.end_ns = thread == 3 ? ms(WALL) : 0;
    compose.thread.construct_since = since;
    compose.thread.construct_open = loop * FORMAT_TIMES + (thread == 1 ? FORMAT_TIME_WAIT : FORMAT_TIME_BODY);
    compose_thread(&compose, thread);
  }
  compose_end(&compose);
}

/* Counted events of a thread's constructs: of each the exact counts of three events, what was counted of the first one
 * where boundaries were left out, and the ms of the construct there. */
struct counted {
  uint64_t exact[3], rest, unread_ms;
};

static void put_counts(uint32_t thread, const struct counted *counted, uint32_t count)
{
  uint64_t records[4][7] = {{0}};
  assert(count <= 4);
  for (uint32_t i = 0; i < count; i++) {
    memcpy(records[i], counted[i].exact, sizeof counted[i].exact);
    records[i][3] = counted[i].rest;
    records[i][6] = ticks_of_ms(counted[i].unread_ms);
  }
  compose_extent(&compose, FORMAT_COUNTS, thread, 0, count, sizeof records[0], records);
}

/* Region A with a loop, of two threads that have counted three events.  In the second one, A and the loop have a rate
 * of 10 instructions a ms. */
static void with_counts(void)
{
  static const struct counted first[] = {
      {{1000, 2000, 10}, 0, 0}, {{5000, 4000, 20}, 0, 0}, {{3000, 2000, 0}, 600, 25}};
  static const struct counted second[] = {{{0, 0, 0}, 0, 0}, {{100, 200, 3}, 0, 10}, {{200, 0, 0}, 90, 20}};
  begin(COMPOSE_PACKED, 2500);
  compose.process.threads_max = 2;
  compose.process.work_unit = compose_string(&compose, "s");
  compose_metric(&compose, "instructions", "", FORMAT_ROLE_COUNTED, 0);
  compose_metric(&compose, "cycles", "", FORMAT_ROLE_COUNTED, 0);
  compose_metric(&compose, "cache-misses", "", FORMAT_ROLE_COUNTED, 0);
  uint32_t a = spent(0, A, 0, 60, 0, 0);
  spent(a, E_LOOP, 0, 40, 0, 0);
  put_counts(1, first, 3);
  end_thread(1, FORMAT_TIME_BODY);
  next_thread();
  spent(joined(1, a, A, 0, 20, 0, 0), E_LOOP, 0, 40, 0, 0);
  put_counts(2, second, 3);
  end_thread(2, FORMAT_TIME_WAIT);
  compose_end(&compose);
}

/* Kinds, directives, parents, links and contexts that do not exist, circles of links, sums beyond every number. */
static void hostile_constructs(void)
{
  begin(COMPOSE_PACKED, 2400);
  compose.process.work_unit = compose_string(&compose, "s");
  uint32_t a = spent(0, A, 1, 1, 1, 1);
  compose.constructs[a].node = 5000;
  spent(a, A_CRITICAL, 1, 1, 1, 1);
  compose.constructs[compose.constructs_count - 1].kind = 77;
  spent(compose.constructs_count - 1, E_LOOP, 1, 1, 1, 1); /* below a kind that does not exist */
  compose.constructs[spent(a, B_TASK, 0, 1, 0, 0)].directive = E_LOOP;
  compose.constructs[spent(a, B_TASK, 0, 1, 0, 0)].directive = 9999;
  spent(500, E_LOOP, 0, 1, 0, 0);
  spent(compose.constructs_count, E_LOOP, 0, 1, 0, 0); /* its own parent */
  joined(2, 1, B, 1, 1, 1, 1);                         /* a circle with thread 2 */
  joined(99, 1, C, 1, 1, 1, 1);
  joined(2, 400, C, 1, 1, 1, 1);
  joined(2, 1, C, 1, 1, 1, 1); /* another construct */
  uint32_t much = spent(0, D, 0, 0, 0, 0);
  for (int i = 0; i < FORMAT_TIMES; i++)
    compose.constructs[much].ticks[i] = UINT64_MAX;
  compose.constructs[much].wait_own = compose.constructs[much].wait_spare = UINT64_MAX;
  compose.constructs[much].count = compose.constructs[much].chosen = UINT64_MAX;
  compose.constructs[spent(much, F_LOCK, 0, 0, 0, 0)].ticks[FORMAT_TIME_BODY] = UINT64_MAX;
  memset(tasks_of(B_TASK, 1, 1, 1)->histogram, 0xff, sizeof compose.tasks[0].histogram);
  tasks_of(A, 1, 1, 1);
  tasks_of(9999, 1, 1, 1);
  compose_thread(&compose, 1);
  next_thread();
  joined(1, 8, B, 1, 1, 1, 1);
  compose.tasks_count = 0;
  struct format_tasks *tasks = tasks_of(B_TASK, 1, 1, 1);
  tasks->created = tasks->started = tasks->ended = tasks->ticks = tasks->created_at = UINT64_MAX;
  compose_thread(&compose, 2);
  compose_end(&compose);
}

void golden_constructs(void)
{
  all_kinds();
  save("constructs", 2100);
  save("constructs2", 2100);
  second_process();
  save("constructs2", 2201);
  killed();
  save_as("constructs-killed", 2300, "live");
  hostile_constructs();
  save("astray", 2400);
  with_counts();
  save("counted", 2500);
}
