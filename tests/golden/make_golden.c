/* Makes the measurement files of tests/golden: make_golden DIRECTORY.
 *
 * Each becomes DIRECTORY/NAME/node1-PID-1.hpcrun.  The files are kept in the repository, so that a change of the format
 * shows. This program documents their contents, and writes new ones after an intended change of the format. */
#include "tests/support/compose_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *directory;
static struct compose compose;
static struct compose_log graph_log;

static void save_as(const char *name, uint32_t pid, const char *suffix)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/node1-%u-1.%s", directory, name, pid, suffix);
  if (compose_write(&compose, path))
    return;
  perror(path);
  exit(1);
}

static void save(const char *name, uint32_t pid)
{
  save_as(name, pid, "hpcrun");
}

static void save_log(const char *name, uint32_t pid, enum compose_form form)
{
  log_compose(&graph_log, form, &compose);
  save_as(name, pid, "graph");
}

static void time_metrics(void)
{
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 10000000);
  compose_metric(&compose, "overhead", "ns", FORMAT_ROLE_OVERHEAD, 0);
}

static uint32_t overhead(uint32_t parent, uint64_t samples, uint64_t ns)
{
  const uint64_t values[] = {samples, 0, ns};
  return compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, parent, values);
}

/* Two threads.  Thread 1: start-up code, main, solve, a region with its body, a task, overhead, a truncated unwind, and
 * time in system code only.  Thread 2: the region through a link, a nested one through a placeholder below that link,
 * an instance whose origin stays unknown, and a wait between regions. */
static void basic(enum compose_form form)
{
  compose_begin(&compose, form, 100, "./app --size 10");
  time_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose_module(&compose, "/golden/libc.so.6", FORMAT_MODULE_SYSTEM);
  compose_module(&compose, "/golden/libomp.so.5", FORMAT_MODULE_RUNTIME);
  const uint64_t system_time[] = {1, 10000000, 0};
  uint32_t libc = compose_node(&compose, FORMAT_KIND_FRAME, 2, 0x500, 0, system_time);
  uint32_t main_frame = compose_frame(&compose, libc, 0x1190, 2, 20000000);
  uint32_t solve = compose_frame(&compose, main_frame, 0x1250, 0, 0);
  uint32_t parallel = compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, solve, NULL);
  uint32_t runtime_frame = compose_node(&compose, FORMAT_KIND_FRAME, 3, 0x9000, parallel, NULL);
  uint32_t body = compose_frame(&compose, runtime_frame, 0x12a4, 3, 30000000);
  compose_frame(&compose, body, 0x1330, 40, 400000000);
  overhead(parallel, 5, 50000000);
  uint32_t task = compose_node(&compose, FORMAT_KIND_TASK, 0, 0, parallel, NULL);
  compose_frame(&compose, task, 0x1400, 7, 70000000);
  uint32_t partial = compose_node(&compose, FORMAT_KIND_PARTIAL, 0, 0, 0, NULL);
  compose_frame(&compose, partial, 0x1500, 1, 10000000);
  compose_thread(&compose, 1);

  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 1, solve, 0, NULL);
  parallel = compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, link, NULL);
  body = compose_frame(&compose, parallel, 0x12a4, 0, 0);
  compose_frame(&compose, body, 0x1338, 30, 300000000);
  uint32_t known = compose_region(&compose, 2, body, FORMAT_REGION_PROVISIONAL);
  uint32_t nested = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, known, 0, NULL);
  parallel = compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, nested, NULL);
  compose_frame(&compose, parallel, 0x1600, 4, 40000000);
  uint32_t unknown = compose_region(&compose, 0, 0, FORMAT_REGION_UNKNOWN);
  uint32_t lost = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, unknown, 0, NULL);
  compose_frame(&compose, lost, 0x1700, 2, 20000000);
  const uint64_t outside[] = {1, 0, 10000000};
  compose_node(&compose, FORMAT_KIND_OUTSIDE, 0, 0, 0, outside);
  compose_thread(&compose, 2);
  compose_end(&compose);
}

/* A second process with another command and one more event. */
static void second(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 200, "./other");
  compose.process.start_ns += 500000000;
  compose.process.rank = 1;
  time_metrics();
  compose_metric(&compose, "cache-misses", "", FORMAT_ROLE_EVENT, 1000);
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  const uint64_t values[] = {25, 250000000, 0, 123000};
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1190, 0, values);
  compose_thread(&compose, 1);
  compose_end(&compose);
}

/* Cycles instead of time; and names that must be quoted. */
static void events(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 300, "./app \"a,b\"\n\xff\xfe \xc3\xa9");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "cycles", "", FORMAT_ROLE_EVENT, 1000000);
  compose_module(&compose, "/golden/we\"ird, name", FORMAT_MODULE_MAIN);
  const uint64_t values[] = {100, 100000000}, few[] = {3, 3000000};
  uint32_t caller = compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1190, 0, few);
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x2190, caller, values);
  compose_thread(&compose, 1);
  compose_end(&compose);
}

/* The columns of the four categories and of the sums of idleness, and a context with them, in units of 10 ms: each
 * sample has one unit of work, overhead or lock wait, when `busy` of `used` threads were busy. */
enum { WORK, OVERHEAD, LOCKWAIT };

static void blame_metrics(void)
{
  time_metrics();
  compose_metric(&compose, "lockwait", "ns", FORMAT_ROLE_LOCKWAIT, 0);
  compose_metric(&compose, "per busy", "ns", FORMAT_ROLE_PER_BUSY, 0);
  compose_metric(&compose, "in use", "ns", FORMAT_ROLE_IN_USE, 0);
}

static uint32_t charge(uint32_t kind, uint32_t parent, uint32_t offset, unsigned category, uint64_t samples,
                       uint64_t busy, uint64_t used)
{
  const uint64_t p = samples * 10000000;
  const uint64_t values[] = {
      samples,  category == WORK ? p : 0, category == OVERHEAD ? p : 0, category == LOCKWAIT ? p : 0,
      p / busy, p * used / busy};
  return compose_node(&compose, kind, kind == FORMAT_KIND_FRAME, offset, parent, values);
}

static uint32_t place(uint32_t kind, uint32_t parent, uint32_t offset)
{
  return compose_node(&compose, kind, kind == FORMAT_KIND_FRAME, offset, parent, NULL);
}

static void blame_thread(uint32_t index, uint64_t wall_ms, uint64_t idle_ms, uint64_t lockwait_ms, uint64_t region_ms)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.samples_idle = compose.thread.idle_sampled_ns = 0;
  compose.thread.wall_ns = compose.thread.end_ns = compose.thread.cpu_ns = wall_ms * 1000000;
  compose.thread.idle_ns = idle_ms * 1000000;
  compose.thread.lockwait_ns = compose.thread.lockwait_sampled_ns = lockwait_ms * 1000000;
  compose.thread.samples_lockwait = lockwait_ms / 10;
  compose.thread.region_ns = region_ms * 1000000;
  compose_thread(&compose, index);
}

/* Four threads on eight cores for 0.8 s; tests/golden/golden_figures.py derives the expected figures.  0.2 s are
 * serial, 0.3 s balanced (0.05 s of them overhead on one thread), 0.2 s on one of four threads, and in 0.1 s thread 2
 * works below a lock, thread 3 waits for it, and two are idle.  Thread 5 is not a thread of OpenMP: its columns have no
 * meaning. */
static void blame(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 500, "./blame");
  compose.process.wall_ns = 800000000;
  compose.process.cpu_ns = 1800000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 4;
  compose.process.regions = 3;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t main_frame = place(FORMAT_KIND_FRAME, 0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 20, 1, 1);
  uint32_t solve = place(FORMAT_KIND_FRAME, main_frame, 0x1100);
  uint32_t body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, solve, 0), 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  uint32_t skewed = place(FORMAT_KIND_FRAME, main_frame, 0x1300);
  charge(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, skewed, 0), 0x1400, WORK, 20, 1, 4);
  uint32_t locked = place(FORMAT_KIND_FRAME, main_frame, 0x1500);
  blame_thread(1, 800, 100, 0, 600);

  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 1, solve, 0, NULL);
  body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, link, 0), 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  link = compose_node(&compose, FORMAT_KIND_LINK, 1, locked, 0, NULL);
  body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, link, 0), 0x1600);
  charge(FORMAT_KIND_FRAME, body, 0x2200, WORK, 10, 2, 4);
  charge(FORMAT_KIND_FRAME, body, 0x2300, LOCKWAIT, 10, 2, 4);
  blame_thread(2, 600, 200, 0, 0);

  link = compose_node(&compose, FORMAT_KIND_LINK, 1, solve, 0, NULL);
  body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, link, 0), 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  blame_thread(3, 600, 200, 100, 0);

  link = compose_node(&compose, FORMAT_KIND_LINK, 1, solve, 0, NULL);
  uint32_t parallel = place(FORMAT_KIND_PARALLEL, link, 0);
  charge(FORMAT_KIND_FRAME, place(FORMAT_KIND_FRAME, parallel, 0x1200), 0x2100, WORK, 25, 4, 4);
  charge(FORMAT_KIND_RUNTIME, parallel, 0, OVERHEAD, 5, 4, 4);
  blame_thread(4, 600, 300, 0, 0);

  compose.thread.idle_ns = compose.thread.lockwait_ns = 0;
  charge(FORMAT_KIND_FRAME, 0, 0x2400, WORK, 5, 1, 9);
  compose_thread(&compose, 5);
  compose_end(&compose);
}

/* The same command on one thread: 1.5 s of work, 0.02 s of overhead. */
static void blame_alone(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 700, "./blame");
  compose.process.wall_ns = 1530000000;
  compose.process.start_ns += 10000000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 1;
  compose.process.regions = 3;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t main_frame = place(FORMAT_KIND_FRAME, 0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 150, 1, 1);
  charge(FORMAT_KIND_RUNTIME, main_frame, 0, OVERHEAD, 2, 1, 1);
  blame_thread(1, 1530, 0, 0, 1200);
  compose_end(&compose);
}

/* Another process with two threads on the same cores for 0.5 s: one of them works alone for 0.3 s. */
static void blame_second(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 600, "./blame");
  compose.process.wall_ns = 500000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 2;
  compose.process.regions = 1;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t skewed = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_FRAME, 0, 0x1000), 0x1300);
  charge(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, skewed, 0), 0x1400, WORK, 30, 1, 2);
  blame_thread(1, 500, 0, 0, 500);
  blame_thread(2, 500, 300, 0, 0);
  compose_end(&compose);
}

/* Sums that overflow in every product and total: of 2^32 - 1 threads and as many cores. */
static void huge(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 700, "./huge");
  compose.process.cpus = compose.process.threads_max = UINT32_MAX;
  compose.process.wall_ns = UINT64_MAX;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  const uint64_t values[][6] = {{UINT64_MAX, 5, 0, 7, UINT64_MAX, UINT64_MAX},
                                {1, 100, 0, 0, UINT64_MAX, UINT64_MAX},
                                {1, 0, UINT64_MAX, 1, 1, 1},
                                {1, 0, 1, UINT64_MAX, 1, 1}};
  for (uint32_t i = 0; i < 4; i++)
    compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1000 + 16 * i, 0, values[i]);
  compose.thread.wall_ns = compose.thread.region_ns = compose.thread.idle_ns = UINT64_MAX;
  compose.thread.lockwait_ns = compose.thread.blocked_ns = UINT64_MAX;
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose_thread(&compose, 1);
  compose_end(&compose);
}

/* A program without OpenMP: the columns exist, and have no meaning. */
static void plain(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 800, "./plain");
  compose.process.flags = FORMAT_PROCESS_FIRST;
  compose.process.runtime = 0;
  compose.process.threads_max = 1;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 100, 1, 9);
  compose.thread.idle_ns = compose.thread.lockwait_ns = compose.thread.samples_idle = 0;
  compose_thread(&compose, 1);
  compose_end(&compose);
}

/* Two threads for 1 s, with waiting that samples hardly saw: 0.3 s for locks, 0.3 s in blocking calls, and 0.5 s that
 * are not accounted for. */
static void waits(const char *event)
{
  char notes[64];
  compose_begin(&compose, COMPOSE_PACKED, 900, "./waits");
  snprintf(notes, sizeof notes, "event: %s, 100 samples a second for each thread", event);
  compose.process.notes = compose_string(&compose, notes);
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose.thread.blocked_ns = 300000000;
  charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 50, 1, 1);
  blame_thread(1, 1000, 200, 0, 0);
  charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 20, 1, 1);
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.idle_ns = 0;
  compose.thread.lockwait_ns = 300000000;
  compose.thread.lockwait_sampled_ns = 20000000;
  compose.thread.samples_lockwait = 2;
  compose.thread.lost[FORMAT_LOST_BLAME] = 3;
  compose.thread.lost[FORMAT_LOST_STATES] = 1;
  compose.thread.lost[FORMAT_LOST_TASKS] = 2;
  compose_thread(&compose, 2);
  compose_end(&compose);
}

/* Inconsistent trees: cycles of parents and links, invalid indices, a missing value record. */
static void hostile(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 400, "./hostile");
  time_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose_frame(&compose, 0, 0x1000, 10, 100000000);
  compose_frame(&compose, 3, 0x1010, 1, 10000000); /* 2 and 3: each other's parent */
  compose_frame(&compose, 2, 0x1020, 1, 10000000);
  compose_frame(&compose, 999, 0x1030, 1, 10000000);
  compose_frame(&compose, 5, 0x1040, 1, 10000000); /* its own parent */
  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 2, 1, 0, NULL);
  compose_frame(&compose, link, 0x1050, 1, 10000000);
  uint32_t nowhere = compose_node(&compose, FORMAT_KIND_LINK, 77, 1, 0, NULL);
  compose_frame(&compose, nowhere, 0x1060, 1, 10000000);
  uint32_t region = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, 55, 0, NULL);
  compose_frame(&compose, region, 0x1070, 1, 10000000);
  const uint64_t values[] = {1, 10000000, 0};
  compose_node(&compose, FORMAT_KIND_FRAME, 66, 0x1080, 0, values);
  compose_frame(&compose, 0, 0x1090, 0, 0);
  compose.nodes[compose.nodes_count - 1].value = 4000;
  compose_node(&compose, 200, 0, 0, 0, values);
  compose_thread(&compose, 1);
  link = compose_node(&compose, FORMAT_KIND_LINK, 1, 6, 0, NULL); /* thread 1's node 6 links back to this one */
  compose_frame(&compose, link, 0x2000, 1, 10000000);
  compose_thread(&compose, 2);
  compose_end(&compose);
}

static uint64_t ms(uint64_t count)
{
  return count * 1000000;
}

/* Ends a thread of a measurement with work and span. */
static void graph_thread(uint32_t index, uint64_t work)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.work = work;
  compose_thread(&compose, index);
}

/* Work 1 s on three threads, span 0.4 s; tests/golden/golden_figures.py derives the expected figures.  Of the span, 0.2
 * s are serial (0.15 s setup, 0.04 s main, 0.01 s without a sample), 0.168 s in a loop (kernel: 0.1 s and 0.06 s; 8 ms
 * without a sample), 15 ms in a critical section, 12 ms in a single of which only the place is known, and 5 ms in a
 * user region. */
static void graph(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 1000, "./graph");
  compose.process.threads_max = 3;
  compose.process.regions = 10;
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = ms(400);
  compose.process.span_burdened = ms(500);
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t parallel = compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 10, ms(780), ms(200));
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 10, ms(700), ms(175));
  uint32_t critical = compose_directive(&compose, FORMAT_DIRECTIVE_CRITICAL, 1, 0x1210, 300, ms(60), ms(60));
  uint32_t single = compose_directive(&compose, FORMAT_DIRECTIVE_SINGLE, 1, 0x1220, 10, ms(20), ms(20));
  uint32_t region = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 2, ms(50), ms(25));
  compose_directive(&compose, FORMAT_DIRECTIVE_BARRIER, 1, 0x1230, 30, 0, 0);
  compose.directives[loop].iterations = 1000;
  compose.directives[critical].lock_bound = ms(65);
  compose.directives[region].name = compose_string(&compose, "phase 1");
  uint32_t main_frame = place(FORMAT_KIND_FRAME, 0, 0x1000);
  uint32_t own = charge(FORMAT_KIND_FRAME, main_frame, 0x1010, WORK, 4, 1, 1);
  uint32_t setup = charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 16, 1, 1);
  uint32_t solve = charge(FORMAT_KIND_FRAME, main_frame, 0x1100, WORK, 2, 1, 1);
  uint32_t body = charge(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, solve, 0), 0x1200, WORK, 2, 3, 3);
  uint32_t kernel = charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 26, 3, 3);
  compose_contribution(&compose, 0, 1, own, ms(40));
  compose_contribution(&compose, loop, 1, kernel, ms(100));
  compose_contribution(&compose, 0, 0, 0, ms(10));
  compose_contribution(&compose, 0, 1, setup, ms(100));
  compose_contribution(&compose, critical, 1, body, ms(15));
  compose_contribution(&compose, single, 0, 0, ms(12));
  compose_contribution(&compose, region, 1, solve, ms(5));
  compose_contribution(&compose, 0, 1, setup, ms(50));
  graph_thread(1, ms(500));

  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 1, solve, 0, NULL);
  body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, link, 0), 0x1200);
  kernel = charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 3, 3);
  compose_contribution(&compose, loop, 2, kernel, ms(60));
  compose_contribution(&compose, loop, 0, 0, ms(8));
  graph_thread(2, ms(300));
  graph_thread(3, ms(200));
  (void)parallel;
  compose_end(&compose);
}

/* Another process of the same program with a shorter span and one more loop, on a runtime that does not announce
 * chunks. */
static void graph_second(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 1100, "./graph");
  compose.process.rank = 1;
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = ms(300);
  compose.process.span_burdened = ms(310);
  compose.process.unseen = 4;
  blame_metrics();
  compose_module(&compose, "/golden/libm.so.6", FORMAT_MODULE_SYSTEM);
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t other = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 2, 0x1300, 1, ms(200), ms(100));
  compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 2, 0x1200, 10, ms(300), ms(125));
  compose_contribution(&compose, other, 0, 0, ms(300));
  compose_node(&compose, FORMAT_KIND_FRAME, 2, 0x1000, 0, (const uint64_t[]){30, ms(300), 0, 0, ms(300), ms(300)});
  graph_thread(1, ms(600));
  compose_end(&compose);
}

/* Counted work, as in the critical section of doc/parallelism.md, and no samples. */
static void units(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 1200, "./units");
  compose.process.work_unit = compose_string(&compose, "units");
  compose.process.span = compose.process.span_burdened = 10;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 1, 100, 10);
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 1, 100, 10);
  uint32_t critical = compose_directive(&compose, FORMAT_DIRECTIVE_CRITICAL, 1, 0x1210, 10, 70, 70);
  compose.directives[loop].iterations = 10;
  compose.directives[critical].lock_bound = 73;
  uint32_t solve = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_FRAME, 0, 0x1000), 0x1100);
  uint32_t body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, solve, 0), 0x1200);
  compose_contribution(&compose, loop, 1, body, 3);
  compose_contribution(&compose, critical, 1, body, 7);
  graph_thread(1, 60);
  graph_thread(2, 40);
  compose_end(&compose);
}

/* The columns with shares in waiting places, and a context with them.  Times in ms: a sample has its time, that time
 * divided by the busy threads, and multiplied with those that exist; shares is a list. */
static void places_metrics(void)
{
  blame_metrics();
  compose_metric(&compose, "shares", "", FORMAT_ROLE_SHARES, 0);
}

static uint32_t share_context(uint32_t parent, uint32_t offset, unsigned category, uint64_t p, uint64_t per_busy,
                              uint64_t existing, uint32_t shares)
{
  const uint64_t values[] = {
      p / 10, category == WORK ? ms(p) : 0, 0, category == LOCKWAIT ? ms(p) : 0, ms(per_busy), ms(existing), shares};
  compose.thread.per_busy_ns += ms(per_busy);
  compose.thread.in_use_ns += ms(existing);
  return compose_node(&compose, FORMAT_KIND_FRAME, 1, offset, parent, values);
}

/* Half a nanosecond each. */
static uint64_t ticks_of_ms(uint64_t count)
{
  return 2 * ms(count);
}

static uint32_t wait_of(enum format_wait_kind kind, uint64_t offset, uint32_t node, uint64_t idle_ms,
                        uint64_t runtime_ms)
{
  return compose_wait(&compose, kind, offset, node, ticks_of_ms(idle_ms), ticks_of_ms(runtime_ms));
}

static uint32_t share_of(uint32_t wait, uint64_t shared_ms, uint32_t next)
{
  return compose_share(&compose, wait, ms(shared_ms), next);
}

static void places_begin(enum compose_form form, uint32_t pid, const char *command)
{
  compose_begin(&compose, form, pid, command);
  compose.process.cpus = 8;
  compose.process.threads_max = 4;
  compose.process.tick_scale = 1ull << 31;
  compose.process.start_ticks = 1000;
  places_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
}

static void places_thread(uint32_t index, uint64_t wall_ms, uint64_t cpu_ms)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.samples_idle = compose.thread.idle_sampled_ns = 0;
  compose.thread.idle_ns = compose.thread.lockwait_ns = ms(1); /* not used: the places say it exactly */
  compose.thread.wall_ns = ms(wall_ms);
  compose.thread.cpu_ns = ms(cpu_ms);
  compose.thread.end_ns = ms(1000);
  compose_thread(&compose, index);
}

static uint32_t runtime_below(uint32_t parent)
{
  return compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, parent, NULL);
}

/* Four threads for 1 s, with exact waiting, in ms of the places and their shares; tests/golden/golden_figures.py
 * derives the expected figures.  Threads 2 and 3 exist for 0.9 s, thread 4 for 0.5 s.  Thread 5 is not OpenMP's: its
 * shares have no meaning. */
static void places(void)
{
  enum { PARKED, REGION_END, BARRIER };
  places_begin(COMPOSE_PACKED, 1600, "./places");
  compose.process.regions = 3;
  uint32_t main_frame = place(FORMAT_KIND_FRAME, 0, 0x1000);
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, 0, 0, 0); /* known from a share only */
  wait_of(FORMAT_WAIT_BARRIER, 0x1300, runtime_below(main_frame), 20, 5);
  compose.waits[BARRIER].tool_ns = ms(1);
  share_context(main_frame, 0x2000, WORK, 200, 200, 600, share_of(PARKED, 1200, 0));
  share_context(main_frame, 0x2100, WORK, 80, 80, 220, share_of(REGION_END, 300, 0));
  share_context(main_frame, 0x2200, WORK, 80, 40, 160, share_of(BARRIER, 30, share_of(REGION_END, 100, 0)));
  compose.thread.tool_ns = ms(10);
  compose.thread.run_delay_ns = ms(50);
  compose.thread.blocked_ns = ms(100);
  places_thread(1, 1000, 380);

  enum { TASKS = 2, LOCK };
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 300, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, runtime_below(0), 100, 10);
  wait_of(FORMAT_WAIT_TASKS, 0x1400, 0, 0, 0);
  wait_of(FORMAT_WAIT_LOCK, 0x1500, runtime_below(0), 40, 4);
  share_context(0, 0x2300, WORK, 40, 20, 80, share_of(TASKS, 20, share_of(PARKED, 400, 0)));
  share_context(0, 0x2400, LOCKWAIT, 10, 10, 40, share_of(LOCK, 10, share_of(REGION_END, 100, 0)));
  places_thread(2, 900, 900);

  enum { UNSEEN = 3 };
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 350, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, runtime_below(0), 60, 0);
  wait_of(FORMAT_WAIT_TASKS, 0x1400, runtime_below(0), 80, 20);
  uint32_t body = share_context(0, 0x2500, WORK, 100, 50, 150, 0);
  assert(wait_of(FORMAT_WAIT_BARRIER, 0x1600, runtime_below(body), 30, 0) == UNSEEN);
  places_thread(3, 900, 900);

  wait_of(FORMAT_WAIT_PARKED, 0, 0, 150, 0);
  wait_of(FORMAT_WAIT_BARRIER, 0x1300, 0, 40, 0);
  places_thread(4, 500, 310);

  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  share_context(0, 0x2600, WORK, 60, 60, 600, share_of(PARKED, 800, 0));
  compose.thread.idle_ns = compose.thread.lockwait_ns = 0;
  compose_thread(&compose, 5);
  compose_end(&compose);
}

/* A program without OpenMP. */
static void places_plain(void)
{
  places_begin(COMPOSE_PACKED, 2000, "./places-plain");
  compose.process.flags = FORMAT_PROCESS_FIRST;
  compose.process.runtime = 0;
  compose.process.threads_max = 1;
  share_context(0, 0x1000, WORK, 900, 900, 900, 0);
  compose.thread.idle_ns = compose.thread.lockwait_ns = compose.thread.samples_idle = 0;
  compose_thread(&compose, 1);
  compose_end(&compose);
}

/* A process that was killed after 1 s, while thread 1 worked in a region and the others waited since 0.6 s (2: at the
 * region's end; 3: parked).  The second one had no open region: there thread 2 is parked. */
static void places_killed(uint32_t pid, bool in_region)
{
  places_begin(COMPOSE_LIVE, pid, "./killed");
  compose.process.threads_max = 3;
  uint32_t region = compose_region(&compose, 1, 0, FORMAT_REGION_UNKNOWN);
  compose.regions[region].word = in_region ? 1ull << 31 : 0;
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, 0, 0, 0);
  share_context(0, 0x2000, WORK, 1000, 1000, 3000, share_of(1, 500, share_of(0, 1000, 0)));
  places_thread(1, 1000, 1000);
  for (uint32_t thread = 2; thread <= 3; thread++) {
    wait_of(FORMAT_WAIT_PARKED, 0, 0, 100, 0);
    wait_of(FORMAT_WAIT_REGION_END, 0x1200, 0, 50, 0);
    compose.waits[thread == 2].since = compose.process.start_ticks + ticks_of_ms(600);
    places_thread(thread, 1000, 500);
  }
  compose_end(&compose);
}

/* Inconsistent places: lists of shares that are circles, that begin or go on nowhere, shares of places that do not
 * exist, kinds, modules and nodes that do not exist, sums and factors beyond every number. */
static void places_hostile(void)
{
  places_begin(COMPOSE_PACKED, 1900, "./nowhere");
  compose.process.tick_scale = UINT64_MAX;
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 100, 0);
  wait_of(77, 0x1200, 5000, 100, UINT64_MAX / 4);
  wait_of(FORMAT_WAIT_LOCK, UINT64_MAX >> 3, 1, UINT64_MAX / 2, 3);
  compose.waits[1].module = 66;
  uint32_t circle = share_of(0, 10, 3);
  share_of(1, 10, circle);
  share_of(1, 10, 2);
  share_context(0, 0x1000, WORK, 10, 10, 10, circle);
  share_context(0, 0x1010, WORK, 10, 10, 10, share_of(1, 20, 4)); /* 4: itself */
  share_context(0, 0x1020, WORK, 10, 10, 10, share_of(1, 20, 999));
  share_context(0, 0x1030, WORK, 10, 10, 10, share_of(999, 20, 0));
  share_context(0, 0x1040, LOCKWAIT, 10, 10, 10, 1000000);
  share_context(0, 0x1050, LOCKWAIT, 10, 10, 10, share_of(2, 1, 0));
  compose.waits[0].shared_ns = 1; /* less than the shares */
  compose.waits[0].since = UINT64_MAX;
  compose.thread.per_busy_ns = compose.thread.in_use_ns = UINT64_MAX;
  compose.thread.run_delay_ns = UINT64_MAX;
  places_thread(1, 1000, 1000);
  compose_end(&compose);
}

/* An inconsistent graph: kinds, modules, directives, threads and nodes that do not exist, sums that exceed the span. */
static void graph_hostile(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 1300, "./lies");
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = ms(100);
  compose.process.span_burdened = 1;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  uint32_t kind = compose_directive(&compose, 77, 1, 0x1000, 1, 1, 1);
  uint32_t module = compose_directive(&compose, FORMAT_DIRECTIVE_TASK, 66, 0x1000, UINT64_MAX, UINT64_MAX, 1);
  uint32_t far = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, UINT64_MAX, 1, 0, 0);
  compose_directive(&compose, FORMAT_DIRECTIVE_PROGRAM, 1, 0x1000, 1, 1, 1);
  compose.directives[far].iterations = UINT64_MAX;
  compose.directives[module].name = 0xffffff;
  uint32_t frame = charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 10, 1, 1);
  compose_contribution(&compose, kind, 1, frame, ms(10));
  compose_contribution(&compose, 999, 1, frame, ms(10));
  compose_contribution(&compose, module, 99, frame, ms(10));
  compose_contribution(&compose, far, 1, 5000, ms(10));
  compose_contribution(&compose, far, 1, 0, ms(10));
  compose_contribution(&compose, far, 1, frame, UINT64_MAX);
  compose_contribution(&compose, module, 0, 0, ms(10));
  graph_thread(1, UINT64_MAX);
  graph_thread(2, UINT64_MAX);
  compose_end(&compose);
}

/* A recorded graph on two threads: setup 10; then a region in which thread 1 has 40 in the user region "update" and
 * thread 2 has 32 in "check", then both have 8 chunks of 5 of a loop; at the end 5.  Work 127, span 10 + 40 + 5 + 5 =
 * 60. tests/golden/golden_figures.py derives the expected figures.  `unit`: the amount in the measurement for one in
 * the log. */
enum { NODE_MAIN = 1, NODE_SETUP, NODE_SOLVE, NODE_UPDATE = 6, NODE_CHECK, NODE_KERNEL, NODES_RECORDED };
enum { ROW_REGION = 1, ROW_FOR, ROW_UPDATE, ROW_CHECK };

static uint64_t log_time;

/* Adds work of a thread in the context of a node (0: without a sample); later fragments of other threads begin after
 * it. */
static void recorded_work(uint32_t thread, uint32_t node, uint64_t work)
{
  log_at(&graph_log, thread, log_time);
  if (node)
    log_put(&graph_log, thread, GRAPHLOG_SAMPLE, (int)node, (int)work);
  log_run(&graph_log, thread, work);
  log_time += work;
}

#define recorded(thread, ...)                                                                                          \
  (log_at(&graph_log, thread, ++log_time), log_put(&graph_log, thread, __VA_ARGS__), (void)0)

static void recorded_team(uint64_t scale, bool sampled)
{
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_IMPLICIT, 1, 1, 2, 0);
  recorded(1, GRAPHLOG_SCOPE, ROW_UPDATE);
  recorded_work(1, NODE_UPDATE, 30 * scale);
  recorded_work(1, sampled ? NODE_UPDATE : 0, 10 * scale);
  recorded(1, GRAPHLOG_SCOPE_END);
  recorded(2, GRAPHLOG_SCOPE, ROW_CHECK);
  recorded_work(2, NODE_CHECK, 32 * scale);
  recorded(2, GRAPHLOG_SCOPE_END);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER, 0);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT_END, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_LOOP, ROW_FOR, 8);
  for (uint32_t i = 0; i < 8; i++) {
    recorded(i % 2 + 1, GRAPHLOG_CHUNK, (int)i, 1);
    recorded_work(i % 2 + 1, sampled || i == 0 ? NODE_KERNEL : 0, 5 * scale);
  }
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_LOOP_END);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER, 0);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT_END, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER);
}

static void recorded_log(uint64_t scale, bool sampled)
{
  log_begin(&graph_log);
  log_time = 1000;
  recorded(1, GRAPHLOG_IMPLICIT, 0, 0, 1, 0);
  recorded_work(1, NODE_SETUP, 10 * scale);
  recorded(1, GRAPHLOG_REGION, ROW_REGION);
  log_cut(&graph_log, 1);
  recorded_team(scale, sampled);
  recorded(1, GRAPHLOG_IMPLICIT_END, 1, 2);
  recorded(1, GRAPHLOG_REGION_END, ROW_REGION);
  recorded(2, GRAPHLOG_IMPLICIT_END, 2, 1);
  recorded_work(1, NODE_MAIN, 5 * scale);
  recorded(1, GRAPHLOG_IMPLICIT_END, 1, 1);
}

/* The measurement of the same run.  span: the span of the program that it states. */
static void recorded_run(const char *unit, uint64_t scale, uint64_t span)
{
  compose_begin(&compose, COMPOSE_PACKED, 1400, "./recorded");
  compose.process.work_unit = compose_string(&compose, unit);
  compose.process.span = compose.process.span_burdened = span * scale;
  compose.process.tick_scale = 1ULL << 31; /* half a nanosecond */
  compose.process.cost_fork = compose.process.cost_join = scale > 1 ? 500000 : 0;
  blame_metrics();
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 1, 112 * scale, 45 * scale);
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 1, 40 * scale, 5 * scale);
  uint32_t update = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 1, 40 * scale, 40 * scale);
  uint32_t check = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 1, 32 * scale, 32 * scale);
  compose.directives[loop].iterations = 8;
  compose.directives[update].name = compose_string(&compose, "update");
  compose.directives[check].name = compose_string(&compose, "check");
  for (uint32_t thread = 1; thread <= 2; thread++) {
    uint32_t main_frame = charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 1, 1, 1);
    uint32_t setup = charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 1, 1, 1);
    uint32_t solve = place(FORMAT_KIND_FRAME, main_frame, 0x1100);
    uint32_t body = place(FORMAT_KIND_FRAME, place(FORMAT_KIND_PARALLEL, solve, 0), 0x1200);
    charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 4, 2, 2);
    charge(FORMAT_KIND_FRAME, body, 0x2200, WORK, 3, 2, 2);
    charge(FORMAT_KIND_FRAME, body, 0x2300, WORK, 4, 2, 2);
    if (thread == 1) {
      compose_contribution(&compose, 0, 1, setup, 10 * scale);
      compose_contribution(&compose, update, 1, NODE_UPDATE, 40 * scale);
      compose_contribution(&compose, loop, 1, NODE_KERNEL, 5 * scale);
      compose_contribution(&compose, 0, 1, main_frame, 5 * scale);
    }
    graph_thread(thread, (thread == 1 ? 75 : 52) * scale);
  }
  compose_end(&compose);
}

/* Counted exactly; measured as time, with fragments without samples; and with a measurement that contradicts the
 * log. */
static void recorded_runs(void)
{
  recorded_run("units", 1, 60);
  save("recorded", 1400);
  recorded_log(1, true);
  save_log("recorded", 1400, COMPOSE_LIVE);
  recorded_run("s", 1000000, 60);
  save("recorded-time", 1400);
  recorded_log(2000000, false);
  save_log("recorded-time", 1400, COMPOSE_PACKED);
  recorded_run("units", 1, 59);
  save("recorded-lies", 1400);
  recorded_log(1, true);
  save_log("recorded-lies", 1400, COMPOSE_ZSTD);
}

/* Damages bytes of the sound file. */
static void damaged(void)
{
  basic(COMPOSE_PACKED);
  compose.size = compose.size * 2 / 3;
  save("truncated", 100);
  basic(COMPOSE_ZSTD);
  compose.bytes[100] ^= 0x10; /* inside thread 1's tree */
  save("flipped", 100);
  basic(COMPOSE_PACKED);
  for (size_t i = 0; i + 8 < compose.size; i++)
    if (!memcmp(compose.bytes + i, "hpcrlite", 8))
      compose.bytes[i + 8] = 9;
  save("version", 100);
  compose.size = 0;
  save("empty", 100);
  compose.size = (size_t)snprintf((char *)compose.bytes, sizeof compose.bytes, "This is no measurement.\n");
  save("foreign", 100);
}

int main(int argc, char **argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: make_golden DIRECTORY\n");
    return 2;
  }
  directory = argv[1];
  basic(COMPOSE_PACKED);
  save("basic", 100);
  save("two", 100);
  second();
  save("two", 200);
  basic(COMPOSE_ZSTD);
  save("zstd", 100);
  basic(COMPOSE_LIVE);
  save("live", 100);
  events();
  save("events", 300);
  blame();
  save("blame", 500);
  save("blames", 500);
  blame_second();
  save("blames", 600);
  blame_alone();
  save("alone", 700);
  huge();
  save("huge", 700);
  plain();
  save("plain", 800);
  waits("task-clock");
  save("waits", 900);
  waits("wall");
  save("waits-wall", 900);
  graph();
  save("graph", 1000);
  save("graphs", 1000);
  graph_second();
  save("graphs", 1100);
  units();
  save("units", 1200);
  graph_hostile();
  save("lies", 1300);
  places();
  save("places", 1600);
  places_plain();
  save("places-plain", 2000);
  places_killed(1700, true);
  save_as("killed", 1700, "live");
  places_killed(1800, false);
  save_as("killed-between", 1800, "live");
  places_hostile();
  save("nowhere", 1900);
  recorded_runs();
  hostile();
  save("hostile", 400);
  damaged();
  return 0;
}
