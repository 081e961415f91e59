/* Makes the measurement files of tests/golden: make_golden DIRECTORY.
 *
 * Each becomes DIRECTORY/NAME/node1-PID-1.hpcrun.  The files are kept in the repository, so that a change of the format
 * shows. This program documents their contents, and writes new ones after an intended change of the format. */
#include "tests/golden/golden_constructs.h"
#include "tests/golden/golden_graphs.h"
#include "tests/golden/golden_records.h"
#include "tests/golden/golden_locks.h"
#include "tests/golden/golden_messages.h"
#include "tests/golden/golden_mpi.h"
#include "tests/golden/golden_devices.h"
#include "tests/golden/golden_marks.h"
#include "tests/golden/golden_traces.h"

#include <assert.h>
#include <string.h>

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
  uint32_t parallel = parallel_below(solve);
  uint32_t runtime_frame = compose_node(&compose, FORMAT_KIND_FRAME, 3, 0x9000, parallel, NULL);
  uint32_t body = compose_frame(&compose, runtime_frame, 0x12a4, 3, 30000000);
  compose_frame(&compose, body, 0x1330, 40, 400000000);
  compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, parallel, (const uint64_t[]){5, 0, 50000000});
  uint32_t task = compose_node(&compose, FORMAT_KIND_TASK, 0, 0, parallel, NULL);
  compose_frame(&compose, task, 0x1400, 7, 70000000);
  uint32_t partial = compose_node(&compose, FORMAT_KIND_PARTIAL, 0, 0, 0, NULL);
  compose_frame(&compose, partial, 0x1500, 1, 10000000);
  compose_thread(&compose, 1);

  uint32_t link = link_to(solve);
  parallel = parallel_below(link);
  body = compose_frame(&compose, parallel, 0x12a4, 0, 0);
  compose_frame(&compose, body, 0x1338, 30, 300000000);
  uint32_t known = compose_region(&compose, 2, body, FORMAT_REGION_PROVISIONAL);
  uint32_t nested = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, known, 0, NULL);
  parallel = parallel_below(nested);
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

/* Four threads on eight cores for 0.8 s; tests/golden/golden_figures.py derives the expected figures.  0.2 s are
 * serial, 0.3 s balanced (0.05 s of them overhead on one thread), 0.2 s on one of four threads, and in 0.1 s thread 2
 * works below a lock, thread 3 waits for it, and two are idle.  Thread 5 is not a thread of OpenMP: its columns have no
 * meaning. */
static void blame(void)
{
  blame_begin(500, "./blame", NULL);
  compose.process.wall_ns = 800000000;
  compose.process.cpu_ns = 1800000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 4;
  compose.process.regions = 3;
  uint32_t main_frame = frame_below(0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 20, 1, 1);
  uint32_t solve = frame_below(main_frame, 0x1100);
  uint32_t body = region_body(solve, 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  uint32_t skewed = frame_below(main_frame, 0x1300);
  charge(FORMAT_KIND_FRAME, parallel_below(skewed), 0x1400, WORK, 20, 1, 4);
  uint32_t locked = frame_below(main_frame, 0x1500);
  blame_thread(1, 800, 100, 0, 600);

  body = region_body(link_to(solve), 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  body = region_body(link_to(locked), 0x1600);
  charge(FORMAT_KIND_FRAME, body, 0x2200, WORK, 10, 2, 4);
  charge(FORMAT_KIND_FRAME, body, 0x2300, LOCKWAIT, 10, 2, 4);
  blame_thread(2, 600, 200, 0, 0);

  body = region_body(link_to(solve), 0x1200);
  charge(FORMAT_KIND_FRAME, body, 0x2100, WORK, 30, 4, 4);
  blame_thread(3, 600, 200, 100, 0);

  uint32_t parallel = parallel_below(link_to(solve));
  charge(FORMAT_KIND_FRAME, frame_below(parallel, 0x1200), 0x2100, WORK, 25, 4, 4);
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
  blame_begin(700, "./blame", NULL);
  compose.process.wall_ns = 1530000000;
  compose.process.start_ns += 10000000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 1;
  compose.process.regions = 3;
  uint32_t main_frame = frame_below(0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 150, 1, 1);
  charge(FORMAT_KIND_RUNTIME, main_frame, 0, OVERHEAD, 2, 1, 1);
  blame_thread(1, 1530, 0, 0, 1200);
  compose_end(&compose);
}

/* Another process with two threads on the same cores for 0.5 s: one of them works alone for 0.3 s. */
static void blame_second(void)
{
  blame_begin(600, "./blame", NULL);
  compose.process.wall_ns = 500000000;
  compose.process.cpus = 8;
  compose.process.threads_max = 2;
  compose.process.regions = 1;
  uint32_t skewed = frame_below(frame_below(0, 0x1000), 0x1300);
  charge(FORMAT_KIND_FRAME, parallel_below(skewed), 0x1400, WORK, 30, 1, 2);
  blame_thread(1, 500, 0, 0, 500);
  blame_thread(2, 500, 300, 0, 0);
  compose_end(&compose);
}

/* Sums that overflow in every product and total: of 2^32 - 1 threads and as many cores. */
static void huge(void)
{
  blame_begin(700, "./huge", NULL);
  compose.process.cpus = compose.process.threads_max = UINT32_MAX;
  compose.process.wall_ns = UINT64_MAX;
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
  blame_begin(800, "./plain", NULL);
  compose.process.flags = FORMAT_PROCESS_FIRST;
  compose.process.runtime = 0;
  compose.process.threads_max = 1;
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

/* What limits the cores of the process, half-way through; one of the settings is hostile. */
static void places_limits(void)
{
  compose.process.launch_mask[0] = 0xff;
  compose.process.machine_cpus = 16;
  compose.process.quota_milli = 1500;
  compose.process.quota_periods = 100;
  compose.process.throttled_periods = 31;
  compose.process.throttled_ns = ms(1200);
  compose.process.steal_ns = ms(70);
  compose.process.machine_ns = ms(1000);
  compose.process.limits_ns = ms(500);
  compose.process.limits = compose_string(&compose, "cgroup=/job\nOMP_PROC_BIND=\033[31mtrue\nOMP_NUM_THREADS=4");
}

/* The CPUs of the next thread. */
static void places_mask(uint64_t mask, uint32_t cpus, uint64_t seen)
{
  compose.thread.mask[0] = mask;
  compose.thread.mask_cpus = cpus;
  compose.thread.cpus_seen[0] = seen;
}

/* Four threads for 1 s, with exact waiting, in ms of the places and their shares; tests/golden/golden_figures.py
 * derives the expected figures.  Threads 2 and 3 exist for 0.9 s, thread 4 for 0.5 s.  Thread 5 is not OpenMP's: its
 * shares have no meaning. */
static void places(void)
{
  enum { PARKED, REGION_END, BARRIER };
  places_begin(COMPOSE_PACKED, 1600, "./places");
  compose.process.regions = 3;
  places_limits();
  uint32_t main_frame = frame_below(0, 0x1000);
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
  places_mask(0xff, 8, 0x5);
  places_thread(1, 1000, 380);

  enum { TASKS = 2, LOCK };
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 300, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, runtime_below(0), 100, 10);
  wait_of(FORMAT_WAIT_TASKS, 0x1400, 0, 0, 0);
  wait_of(FORMAT_WAIT_LOCK, 0x1500, runtime_below(0), 40, 4);
  share_context(0, 0x2300, WORK, 40, 20, 80, share_of(TASKS, 20, share_of(PARKED, 400, 0)));
  share_context(0, 0x2400, LOCKWAIT, 10, 10, 40, share_of(LOCK, 10, share_of(REGION_END, 100, 0)));
  places_mask(0x8, 1, 0x8);
  places_thread(2, 900, 900);

  enum { UNSEEN = 3 };
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 350, 0);
  wait_of(FORMAT_WAIT_REGION_END, 0x1200, runtime_below(0), 60, 0);
  wait_of(FORMAT_WAIT_TASKS, 0x1400, runtime_below(0), 80, 20);
  uint32_t body = share_context(0, 0x2500, WORK, 100, 50, 150, 0);
  uint32_t unseen = wait_of(FORMAT_WAIT_BARRIER, 0x1600, runtime_below(body), 30, 0);
  assert(unseen == UNSEEN);
  (void)unseen;
  places_mask(0x8, 1, 0x8);
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
  link = link_to(6); /* thread 1's node 6 links back to this one */
  compose_frame(&compose, link, 0x2000, 1, 10000000);
  compose_thread(&compose, 2);
  compose_end(&compose);
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

/* A filter: 40 samples below main in excluded code, of them 10 of a worker's path that links there, and 5 that an
 * unfinished path has put below; 20 on a path without an included function; 15 of main itself. */
static void filtered(void)
{
  blame_begin(2600, "./filtered", NULL);
  compose.process.wall_ns = compose.process.cpu_ns = 750000000;
  compose.process.threads_max = 2;
  compose.process.notes = compose_string(&compose, "event: task-clock, 100 samples a second for each thread\n"
                                                   "Filtered: functions !exchange; skip-first 2 ms");
  uint32_t main_frame = charge(FORMAT_KIND_FRAME, 0, 0x1000, WORK, 15, 1, 1);
  uint32_t left_out = charge(FORMAT_KIND_FILTERED, main_frame, 0, WORK, 25, 1, 1);
  charge(FORMAT_KIND_FRAME, parallel_below(left_out), 0x1400, WORK, 5, 1, 1);
  charge(FORMAT_KIND_FILTERED, 0, 0, WORK, 20, 1, 1);
  compose_thread(&compose, 1);
  charge(FORMAT_KIND_FRAME, parallel_below(compose_node(&compose, FORMAT_KIND_LINK, 1, left_out, 0, NULL)), 0x2000,
         WORK, 10, 1, 1);
  compose_thread(&compose, 2);
  compose_end(&compose);
}

/* What the kernel counted: a serial function that touches pages, a region in which thread 1 creates thread 2, and what
 * followed the last samples.  Ticks of 4 ms. */
static void usage(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 2700, "./usage");
  compose.process.tick_ns = 4000000;
  time_metrics();
  for (unsigned i = 0; i < FORMAT_USAGES; i++)
    compose_metric(&compose, "usage", i <= FORMAT_USAGE_SYSTEM || i == FORMAT_USAGE_CREATING ? "ns" : "",
                   FORMAT_ROLE_USAGE + i, 0);
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  const uint64_t touching[] = {40, 400000000, 0, 100000000, 300000000, 70000, 5, 1, 2, 0, 0};
  const uint64_t body[] = {20, 200000000, 0, 190000000, 10000000, 3, 0, 0, 7, 0, 0};
  const uint64_t creating[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 50000};
  const uint64_t rest[] = {0, 0, 0, 1000000, 2000000, 4, 0, 1, 0, 0, 0};
  uint32_t main_frame = compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1190, 0, creating);
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1250, main_frame, touching);
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1330, parallel_below(main_frame), body);
  compose_root_values(&compose, rest);
  const uint64_t first[FORMAT_USAGES] = {291000000, 312000000, 70007, 5, 2, 9, 1, 50000};
  memcpy(compose.thread.usage, first, sizeof first);
  compose.thread.cpu_ns = 604000000;
  compose_thread(&compose, 1);
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x1330, parallel_below(link_to(main_frame)), body);
  memcpy(compose.thread.usage, &body[3], sizeof compose.thread.usage);
  compose.thread.cpu_ns = 200000000;
  compose_thread(&compose, 2);
  compose_end(&compose);
}

int main(int argc, char **argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: make_golden DIRECTORY\n");
    return 2;
  }
  golden_into(argv[1]);
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
  golden_graphs();
  golden_constructs();
  golden_traces();
  golden_locks();
  golden_mpi();
  golden_messages();
  golden_devices();
  golden_marks();
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
  filtered();
  save("filtered", 2600);
  usage();
  save("usage", 2700);
  hostile();
  save("hostile", 400);
  damaged();
  return 0;
}
