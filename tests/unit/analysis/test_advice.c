/* Advice: which cause is found in the times of a region, and what it would gain. */
#include "hpcprof-lite/analysis/advice/advice.h"
#include "hpcprof-lite/analysis/advice/advice_nodes.h"
#include "tests/support/unit.h"

#include <math.h>

enum { REGION = 1, INNER, ENTRIES, THREADS = 2 };
static const uint64_t ms = 1000000;
static struct construct_entry entries[ENTRIES];
static struct construct_row lines[ENTRIES][THREADS];
static struct construct_thread members[2 * THREADS];
static struct construct_tree constructs;
static struct profile_directive directives[2];
static struct construct_tasks tasks;
static struct profile_process process;
static struct profile profile;
static struct tree tree;
static struct tree_columns columns;
static struct core_findings cores;
static struct kernel_findings kernel;
static struct advice_input input;
static struct advice advice;

/* A region of two threads with a construct in it: one works for 700 ms, the other one for 300 ms and waits. */
static int begin(void **state)
{
  (void)state;
  memset(entries, 0, sizeof entries);
  memset(lines, 0, sizeof lines);
  for (uint32_t i = 0; i < ENTRIES; i++) {
    entries[i] = (struct construct_entry){.parent = i ? i - 1 : MODEL_NONE,
                                          .end = ENTRIES,
                                          .depth = i,
                                          .region = i,
                                          .kind = i == REGION ? DIRECTIVE_PARALLEL : DIRECTIVE_FOR,
                                          .directive = i == INNER,
                                          .name = "f",
                                          .file = "a.c",
                                          .line = 10 * i,
                                          .threads = THREADS,
                                          .lines = lines[i],
                                          .lines_count = THREADS};
    lines[i][1].thread = 1;
  }
  entries[REGION].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 0, .wait = 400 * ms};
  entries[INNER].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 1000 * ms};
  lines[INNER][0].figures.own_body = 700 * ms;
  lines[INNER][1].figures.own_body = 300 * ms;
  lines[REGION][1].figures.wait = 400 * ms;
  constructs =
      (struct construct_tree){.entries = entries, .count = ENTRIES, .threads = members, .threads_count = THREADS};
  for (uint32_t i = 0; i < 2 * THREADS; i++)
    members[i] = (struct construct_thread){i / THREADS, i % THREADS, i};
  directives[1] = (struct profile_directive){.instances = 1, .iterations = 1000};
  tasks = (struct construct_tasks){.directive = 1};
  process = (struct profile_process){.usable = true, .cpus = 8, .threads_max = 2, .wall_ns = 1000 * ms};
  profile = (struct profile){.processes = &process, .processes_count = 1};
  profile.workspan.known = true;
  profile.workspan.directives = directives;
  profile.workspan.directives_count = 2;
  columns =
      (struct tree_columns){.idleness = MODEL_NONE, .work = MODEL_NONE, .overhead = MODEL_NONE, .mpi = MODEL_NONE};
  input = (struct advice_input){.profile = &profile,
                                .tree = &tree,
                                .columns = &columns,
                                .constructs = &constructs,
                                .cores = &cores,
                                .kernel = &kernel,
                                .elapsed_s = 1,
                                .samples = 1000,
                                .ns[TIMELINE_WORK] = 2000 * ms,
                                .all_ns = 2000 * ms,
                                .threads = 2,
                                .efficiency = 0.5};
  cores.count = 0;
  kernel = (struct kernel_findings){0};
  tree_init(&tree, 1, "run");
  return 0;
}

static int end(void **state)
{
  (void)state;
  advice_release(&advice);
  tree_release(&tree);
  return 0;
}

static void expect(enum advice_class class, double gain_s, uint32_t line)
{
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_equal(advice.found[0].class, class);
  assert_int_equal(advice.found[0].line, line);
  assert_in_range((uint64_t)(advice.found[0].gain_s * 1e6 + 0.5), (uint64_t)(gain_s * 1e6),
                  (uint64_t)(gain_s * 1e6) + 1);
  assert_true(advice.found[0].low_s <= advice.found[0].gain_s && advice.found[0].gain_s <= advice.found[0].high_s);
}

/* The gain on eight cores, of the first finding. */
static void expect_more(double gain_s, bool least)
{
  assert_int_equal(advice.more_cores, 8);
  assert_true(fabs(advice.found[0].more_s - gain_s) < 1e-6);
  assert_int_equal(advice.found[0].more_least, least);
}

static void test_unequal_work(void **state)
{
  (void)state;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  expect_more(0.05, true);
  input.ns[TIMELINE_TOOL] = 140 * ms; /* a tenth of the region's 1400 ms: so much of the waiting is this tool's */
  expect(ADVICE_IMBALANCE, 0.18, 20);
  assert_string_equal(advice.found[0].confidence, "high");
  input.without_core = 0.06;
  input.ns[TIMELINE_CORE_WAIT] = 300 * ms;
  input.ns[TIMELINE_IDLE] = 400 * ms;
  entries[REGION].directive = 1;
  directives[1].work = 1000 * ms; /* processor time, which waiting for a core does not change */
  directives[1].span = 700 * ms;
  profile.workspan.is_time = true;
  expect(ADVICE_IMBALANCE, 0.18, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  assert_int_equal(advice.found[advice.count - 1].class, ADVICE_UNFIT);
}

static void test_few_pieces(void **state)
{
  (void)state;
  directives[1].iterations = 3;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  expect_more(1.0 / 3 - 1.0 / 8, true); /* one third of 1 s instead of one eighth */
  directives[1].iterations = 8;         /* four for each thread */
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* Three chunks of 300 iterations.  Of as many chunks as threads there could be more; of as many iterations not. */
static void test_few_chunks(void **state)
{
  (void)state;
  struct construct_figures *loop = &entries[INNER].sum;
  directives[1].iterations = 900;
  loop->schedule = SCHEDULE_DYNAMIC;
  loop->chunk_size = loop->chunk_most = 300;
  loop->longest_ns = 350 * ms;
  loop->longest_iterations = 300;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  assert_non_null(strstr(advice.found[0].evidence, "3 pieces of up to 300 iterations for 2 threads"));
  assert_non_null(strstr(advice.found[0].remedy->text, "smaller N"));
  loop->chunk_most = 450;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  loop->chunk_most = 1;
  directives[1].iterations = 2;
  loop->longest_iterations = 0; /* not known */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
}

/* A loop with a dynamic schedule waits for its longest piece, or for something that is not known. */
static void test_a_long_piece(void **state)
{
  (void)state;
  struct construct_figures *loop = &entries[INNER].sum;
  loop->schedule = SCHEDULE_DYNAMIC;
  loop->chunk_size = loop->chunk_most = loop->longest_iterations = 1;
  loop->longest_first = 60;
  loop->longest_ns = 600 * ms; /* of 700 ms that the run takes */
  expect(ADVICE_LAST_PIECE, 0.1, 20);
  assert_non_null(strstr(advice.found[0].evidence, "The longest iteration (60) takes 0.600 s"));
  assert_true(fabs(advice.found[0].high_s - 0.2) < 1e-9); /* divided */
  loop->longest_ns = 400 * ms;                            /* no longer than half of the work */
  expect(ADVICE_LAST_PIECE, 0.2, 20);
  loop->longest_ns = 695 * ms; /* first or not: it takes as long */
  expect(ADVICE_LAST_PIECE, 0.2, 20);
  assert_true(fabs(advice.found[0].low_s - 0.1) < 1e-9);
  loop->longest_iterations = loop->chunk_most = 100;
  directives[1].iterations = 2000;
  loop->longest_ns = 600 * ms;
  expect(ADVICE_LAST_PIECE, 0.1, 20);
  assert_non_null(strstr(advice.found[0].remedy->text, "smaller chunks"));
  loop->schedule = SCHEDULE_GUIDED;
  loop->longest_iterations = 500; /* a quarter of them takes more than half of the time */
  expect(ADVICE_LAST_PIECE, 0.1, 20);
  assert_non_null(strstr(advice.found[0].evidence, "the mean of as many iterations is 0.250 s"));
  loop->longest_iterations = 1400; /* the first chunk of equal iterations */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_not_equal(advice.found[0].class, ADVICE_LAST_PIECE);
  loop->schedule = SCHEDULE_DYNAMIC;
  loop->longest_iterations = 100;
  loop->longest_ns = 150 * ms; /* the others waited for longer than that */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
}

/* One of a hundred tasks. */
static void test_a_long_task(void **state)
{
  (void)state;
  entries[INNER].kind = CONSTRUCT_TASK_EXEC;
  entries[INNER].sum.count = 100;
  process.constructs.tasks = &tasks;
  process.constructs.tasks_count = 1;
  tasks.created = 100;
  tasks.longest_ns = 600 * ms;
  expect(ADVICE_LAST_PIECE, 0.1, 20);
  tasks.longest_ns = 10 * ms;
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
}

/* In GCC's code, a region with a static loop has no loop. */
static void test_unseen_loop(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_BARRIER;
  entries[INNER].sum = (struct construct_figures){.count = 2, .executions = 1};
  entries[REGION].sum.own_body = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 10);
  assert_null(strstr(advice.found[0].evidence, "collapse(2)"));
  profile.workspan.unseen = UNSEEN_INLINED;
  expect(ADVICE_IMBALANCE, 0.2, 10);
  assert_non_null(strstr(advice.found[0].evidence, "collapse(2)"));
}

static void test_unknown_chunks(void **state)
{
  (void)state;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_int_not_equal(advice.found[advice.count - 1].class, ADVICE_UNFIT);
  profile.workspan.unseen = UNSEEN_CHUNKS;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_int_equal(advice.found[advice.count - 1].class, ADVICE_UNFIT);
  assert_non_null(strstr(advice.found[advice.count - 1].evidence, "Chunks of loops are not known"));
}

/* A runtime that does not count the sections. */
static void test_sections(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_SECTIONS;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  entries[INNER].sum.chosen = 8;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* One thread runs for 600 ms while the other one waits 400 ms of it. */
static void test_masked(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_MASKED;
  entries[INNER].sum.own_body = 300 * ms;
  expect(ADVICE_SERIAL, 0.15, 20); /* the master's time; the rest is another reason's */
  entries[INNER].sum.own_body = 600 * ms;
  expect(ADVICE_SERIAL, 0.2, 20);
  entries[INNER].sum.own_body = 200 * ms; /* not the most of it */
  expect(ADVICE_IMBALANCE, 0.2, 10);
}

/* The other thread waits as long in another phase. */
static void test_waiting_that_cancels_out(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_BARRIER;
  entries[INNER].sum = (struct construct_figures){.count = 4, .executions = 2, .wait = 400 * ms};
  entries[REGION].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 1000 * ms};
  for (uint32_t i = 0; i < THREADS; i++) {
    lines[INNER][i].figures = (struct construct_figures){.wait = 200 * ms};
    lines[REGION][i].figures = (struct construct_figures){.own_body = 500 * ms};
  }
  expect(ADVICE_BARRIER, 0.2, 20);
  assert_true(advice.found[0].more_s < 0); /* not known */
  lines[REGION][0].figures.own_body = 700 * ms;
  lines[REGION][1].figures.own_body = 300 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

static void test_dependences(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_TASK;
  process.constructs.tasks = &tasks;
  process.constructs.tasks_count = 1;
  tasks.created = 10;
  tasks.dependent = 6;
  entries[REGION].directive = 1;
  profile.workspan.is_time = true;
  entries[REGION].directive = 1;
  directives[1].work = 1000 * ms;
  directives[1].span = 800 * ms;
  expect(ADVICE_DEPENDENCES, 0.2, 10);
  expect_more(0.8 - 1.0 / 8, false);
  tasks.dependent = 5;
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_not_equal(advice.found[0].class, ADVICE_DEPENDENCES);
}

static void test_locks(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_CRITICAL;
  entries[INNER].sum.enter = 600 * ms;
  lines[INNER][0].figures.enter = lines[INNER][1].figures.enter = 300 * ms;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  entries[INNER].sum.body = 500 * ms;
  expect(ADVICE_CONTENTION, 0.3, 20);
  expect_more(0.5 - 1.0 / 8, true); /* one holder at a time, instead of the work of 1 s on eight cores */
}

static void sample_in(const char *name, uint32_t line, uint64_t work_ns, uint64_t overhead_ns)
{
  struct tree_row row = {.kind = ROW_PARALLEL, .name = name, .file = line ? "a.c" : "", .line = line};
  tree_release(&tree);
  tree_init(&tree, 2, "run");
  uint32_t at = tree_append(&tree, &row);
  columns.work = 0;
  columns.overhead = 1;
  tree_value(&tree, at, columns.work, work_ns);
  tree_value(&tree, at, columns.overhead, overhead_ns);
  tree_inclusive(&tree);
}

static void sample(uint64_t work_ns, uint64_t overhead_ns)
{
  sample_in("parallel", 10, work_ns, overhead_ns);
}

/* Without debug information the name tells to which region samples belong. */
static void test_samples_by_name(void **state)
{
  (void)state;
  entries[REGION].line = 0;
  entries[REGION].file = "";
  entries[REGION].name = "f+0x12";
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  sample_in("parallel @ f+0x12 [f._omp_fn.0]", 0, 400 * ms, 300 * ms);
  expect(ADVICE_CHUNK_OVERHEAD, 0.4, 20);
  sample_in("parallel @ f+0x123", 0, 400 * ms, 300 * ms);
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_not_equal(advice.found[0].class, ADVICE_CHUNK_OVERHEAD);
}

/* 1000 tasks of 30 us.  A tenth of the time, threads had no core: that is not the tasks' fault, but may be. */
static void test_small_tasks(void **state)
{
  (void)state;
  entries[REGION].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 970 * ms};
  entries[INNER].kind = CONSTRUCT_TASK_EXEC;
  entries[INNER].sum = (struct construct_figures){.count = 1000, .own_body = 30 * ms};
  lines[REGION][0].figures = lines[REGION][1].figures = (struct construct_figures){.own_body = 485 * ms};
  lines[INNER][0].figures = lines[INNER][1].figures = (struct construct_figures){.own_body = 15 * ms};
  sample(200 * ms, 600 * ms);
  expect(ADVICE_TASK_OVERHEAD, 0.4, 20);
  double low_s = advice.found[0].low_s;
  sample(200 * ms, 400 * ms); /* the rest is waiting, which may be due to this tool */
  expect(ADVICE_TASK_OVERHEAD, 0.4, 20);
  assert_true(fabs(advice.found[0].low_s - low_s * 2 / 3) < 1e-9);
  input.without_core = 0.06;
  input.ns[TIMELINE_CORE_WAIT] = 200 * ms;
  input.ns[TIMELINE_OVERHEAD] = 400 * ms;
  input.ns[TIMELINE_IDLE] = 400 * ms;
  expect(ADVICE_TASK_OVERHEAD, 0.35, 20);
  assert_true(advice.found[0].high_s >= 0.4);
}

/* The runtime's time belongs to the handing out of iterations, or to the locks if these enter one each. */
static void test_many_entries(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  struct construct_row enter = {.figures.enter = 60 * ms};
  memcpy(more, entries, sizeof entries);
  more[ENTRIES] = entries[INNER];
  more[ENTRIES].parent = INNER;
  more[ENTRIES].region = ENTRIES;
  more[ENTRIES].kind = DIRECTIVE_CRITICAL;
  more[ENTRIES].line = 30;
  more[ENTRIES].lines = &enter;
  more[ENTRIES].lines_count = 1;
  more[ENTRIES].sum = (struct construct_figures){.count = 499, .enter = 60 * ms};
  more[0].end = more[REGION].end = more[INNER].end = more[ENTRIES].end = ENTRIES + 1;
  more[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  constructs.entries = more;
  constructs.count = ENTRIES + 1;
  sample(400 * ms, 300 * ms);
  expect(ADVICE_CHUNK_OVERHEAD, 0.4, 20); /* between 300 and 500 ms of 1060 / 2 without the 30 for the lock */
  more[ENTRIES].sum.count = 501;
  expect(ADVICE_CONTENTION, 0.03, 30);
}

static void test_what_runs_outside(void **state)
{
  (void)state;
  struct profile_thread thread = {.blocked_ns = 400 * ms, .flags = THREAD_OPENMP};
  entries[REGION].sum.wait = 0;
  input.serial_s = 0.3;
  expect(ADVICE_SERIAL, 0.3, 0);
  expect_more(0.6 * 7 / 8, false);
  struct profile_thread outside = {.core_wait_ns = 100 * ms}; /* a thread that would have run beside it */
  process.threads = &outside;
  process.threads_count = 1;
  expect(ADVICE_SERIAL, 0.2, 0);
  process.threads = &thread;
  process.threads_count = 1;
  expect(ADVICE_SERIAL, 0.3, 0); /* where it was blocked is not known */
  input.blocked.all_s = 0.3;     /* outside regions */
  expect(ADVICE_BLOCKING, 0.3, 0);
  input.blocked.all_s = 0.5;
  expect(ADVICE_BLOCKING, 0.4, 0); /* half of it was in the serial part's loss */
  assert_int_equal(advice.found[1].class, ADVICE_SERIAL);
  assert_in_range((uint64_t)(advice.found[1].gain_s * 1e6 + 0.5), 100000, 100001);
  input.by_wall = true; /* it also slept in regions */
  thread.wall_ns = 1000 * ms;
  thread.region_ns = 750 * ms;
  expect(ADVICE_BLOCKING, 0.25, 0);
  /* two begin regions, too, and are still for half of their time: the first one waits for them meanwhile */
  struct profile_thread three[] = {thread, {.flags = THREAD_OPENMP}, {.flags = THREAD_OPENMP}};
  for (int i = 1; i < 3; i++) {
    three[i].wall_ns = 200 * ms;
    three[i].blocked_ns = 60 * ms;
    three[i].lockwait_ns = 40 * ms;
    three[i].region_ns = 150 * ms;
  }
  process.threads = three;
  process.threads_count = 3;
  input.serial_s = 0;
  expect(ADVICE_BLOCKING, 0.05, 0);
  assert_non_null(strstr(advice.found[0].evidence, "other threads that begin regions worked"));
}

/* What is blocked for longer than everything else takes can only be hidden in part. */
static void test_long_blocking(void **state)
{
  (void)state;
  struct profile_thread thread = {.blocked_ns = 800 * ms, .flags = THREAD_OPENMP};
  input.efficiency = 0.99;
  input.blocked.all_s = 0.8;
  process.threads = &thread;
  process.threads_count = 1;
  entries[REGION].sum.wait = 0;
  expect(ADVICE_BLOCKING, 0.2, 0);
  assert_in_range((uint64_t)(advice.found[0].high_s * 1e6 + 0.5), 800000, 800001);
  assert_true(fabs(advice.found[0].explained_s - 0.8) < 1e-9);
  process.threads_max = 1; /* a shell that waits for a program */
  expect(ADVICE_NONE, 0, 0);
  process.threads_max = 2;
  thread.flags = 0; /* a thread of which OpenMP knows nothing */
  expect(ADVICE_NONE, 0, 0);
}

static void test_missing_cores(void **state)
{
  (void)state;
  input.without_core = 0.06;
  entries[REGION].directive = 1;
  directives[1].work = 1000 * ms;
  directives[1].span = 700 * ms;
  profile.workspan.is_time = true;
  input.ns[TIMELINE_IDLE] = 400 * ms;
  input.ns[TIMELINE_CORE_WAIT] = 210 * ms; /* so long another thread may wait: 105 ms of elapsed time */
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_in_range((uint64_t)(advice.found[0].low_s * 1e6 + 0.5), 55000, 55001);
  input.ns[TIMELINE_CORE_WAIT] = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_true(advice.found[0].low_s == 0);
  input.ns[TIMELINE_IDLE] = 100 * ms; /* the rest was waiting for threads without a core */
  expect(ADVICE_IMBALANCE, 0.05, 20);
}

static void test_more_threads_than_cores(void **state)
{
  (void)state;
  struct profile_thread threads[] = {{.run_delay_ns = 250 * ms, .cpu_ns = 500 * ms, .work_ns = 500 * ms},
                                     {.run_delay_ns = 250 * ms, .cpu_ns = 500 * ms, .work_ns = 200 * ms}};
  process.threads = threads;
  process.threads_count = 2;
  process.threads_max = 2;
  process.cpus = 1;
  expect(ADVICE_OVERSUBSCRIPTION, 0.3, 0);
  assert_int_equal(advice.count, 1); /* a thread that waits leaves its core to the other one */
  threads[0].cpu_ns = 300 * ms;      /* for 200 ms another program had the core, as it would beside one thread */
  expect(ADVICE_OVERSUBSCRIPTION, 0.1, 0);
  threads[1].cpu_ns = 400 * ms; /* the threads did nothing but their work */
  expect(ADVICE_IMBALANCE, 0.2, 20);
  threads[0].cpu_ns = threads[1].cpu_ns = 500 * ms;
  profile.workspan.is_time = true;
  profile.workspan.span = 800 * ms; /* which no number of threads makes shorter */
  expect(ADVICE_OVERSUBSCRIPTION, 0.2, 0);
  profile.workspan.span = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20); /* nothing to gain there: the regions count again */
  profile.workspan.span = 0;
  threads[0].run_delay_ns = threads[1].run_delay_ns = 0;
  threads[0].cpu_ns = 1200 * ms; /* no thread ever waited for a core */
  expect(ADVICE_IMBALANCE, 0.2, 20);
  threads[0].run_delay_ns = 400 * ms;
  threads[0].cpu_ns = 200 * ms; /* less than one ready at a time: others took the core */
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* Four threads on two cores, one of which has half of the work: two of them on a core take 700 of the 1000 ms. */
static void test_one_long_thread(void **state)
{
  (void)state;
  struct profile_thread threads[4];
  for (int i = 0; i < 4; i++)
    threads[i] =
        (struct profile_thread){.run_delay_ns = 300 * ms, .cpu_ns = 500 * ms, .work_ns = (i == 2 ? 550 : 150) * ms};
  process.threads = threads;
  process.threads_count = process.threads_max = 4;
  process.cpus = 2;
  expect(ADVICE_OVERSUBSCRIPTION, 0.45, 0);
  assert_true(fabs(advice.found[0].low_s - 0.225) < 1e-9);
  threads[1].work_ns = 350 * ms;
  expect(ADVICE_OVERSUBSCRIPTION, 0.4, 0);
  assert_true(fabs(advice.found[0].low_s - 0.1) < 1e-9);
}

/* Sets the figures of each thread to those of the first process's. */
static void copy_process(struct profile_process *processes, struct construct_row copies[ENTRIES][2 * THREADS])
{
  processes[0] = processes[1] = process;
  profile.processes = processes;
  profile.processes_count = 2;
  constructs.threads_count = 2 * THREADS;
  for (uint32_t i = 0; i < ENTRIES; i++) {
    for (uint32_t j = 0; j < 2 * THREADS; j++) {
      copies[i][j] = lines[i][j % THREADS];
      copies[i][j].thread = j;
    }
    entries[i].lines = copies[i];
    entries[i].lines_count = 2 * THREADS;
    construct_figures_add(&entries[i].sum, &entries[i].sum);
  }
}

/* Two processes of two threads: at the same time they lose what one loses; one after the other, both. */
static void test_several_processes(void **state)
{
  (void)state;
  struct profile_process processes[2];
  static struct construct_row copies[ENTRIES][2 * THREADS];
  copy_process(processes, copies);
  directives[1].iterations = 10; /* more than four for each of two threads */
  expect(ADVICE_IMBALANCE, 0.2, 20);
  processes[1].start_ns = 999 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  processes[1].start_ns = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.4, 20);
  copies[REGION][3].figures.wait = 0; /* only one of them waits */
  entries[REGION].sum.wait = 400 * ms;
  processes[1].start_ns = 0;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* The same with a process of one thread: a team has two all the same. */
static void test_a_process_of_one_thread(void **state)
{
  (void)state;
  struct profile_process processes[2];
  static struct construct_row copies[ENTRIES][2 * THREADS];
  copy_process(processes, copies);
  processes[1].threads_max = 1;
  for (uint32_t i = 0; i < ENTRIES; i++) {
    entries[i].lines_count = THREADS + 1;
    copies[i][THREADS].figures = (struct construct_figures){.own_body = i == INNER ? 1000 * ms : 0};
  }
  entries[REGION].sum.wait = 400 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_non_null(strstr(advice.found[0].evidence, "(2 threads)"));
}

/* A region that both of two processes open takes as long each time as in one. */
static void test_small_regions_of_processes(void **state)
{
  (void)state;
  struct profile_process processes[2];
  static struct construct_row copies[ENTRIES][2 * THREADS];
  entries[REGION].sum.executions = 300; /* of 2.3 ms each */
  entries[REGION].sum.enter = 400 * ms;
  lines[REGION][1].figures.enter = 400 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  copy_process(processes, copies);
  expect(ADVICE_IMBALANCE, 0.2, 20);
  entries[REGION].sum.executions = 1200;
  expect(ADVICE_REGION_OVERHEAD, 0.2, 10);
}

static bool has(enum advice_class class)
{
  uint32_t i = 0;
  while (i < advice.count && advice.found[i].class != class)
    i++;
  return i < advice.count;
}

/* A region that takes 0.7 s with two threads, and less with one. */
static void test_fewer_threads(void **state)
{
  (void)state;
  struct region_threads regions[ENTRIES] = {
      [REGION] = {
          .best = 1,
          .gain_s = 0.3,
          .times = {
              .executions = 10, .threads = 2, .work_s = 0.5, .span_s = 0.25, .elapsed_s = 0.7, .further_s = 0.055}}};
  input.region_threads = (struct region_threads_list){regions, ENTRIES};
  expect(ADVICE_REGION_THREADS, 0.3, 10);
  assert_true(has(ADVICE_IMBALANCE)); /* as an alternative */
  assert_string_equal(
      advice.found[0].evidence,
      "10 executions take 0.700 s with 2 threads, and would take 0.500 s with num_threads(1): 0.500 s "
      "of work, the longest chain of it 0.250 s, and 0.550 s for starting and ending them.  That number "
      "is best for all regions of 1 % or more");
  input.ns[TIMELINE_IDLE] = 1400 * ms; /* 0.7 s for each thread, of which starts take 0.55 s */
  expect(ADVICE_REGION_THREADS, 0.3, 10);
  assert_int_equal((int)(1e3 * advice.found[0].loss_s + 0.5), 550);
  input.ns[TIMELINE_CORE_WAIT] = 200 * ms; /* a tenth of all time */
  expect(ADVICE_REGION_THREADS, 0.27, 10);
  input.ns[TIMELINE_CORE_WAIT] = 0;
  regions[REGION].times.inflation = 1;
  expect(ADVICE_REGION_THREADS, 0.3, 10);
  assert_non_null(strstr(advice.found[0].evidence, "0.500 s of work (0.250 s with one thread)"));
  regions[REGION].gain_s = 0.1;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_true(has(ADVICE_REGION_THREADS));
  regions[REGION].gain_s = 0.3;
  entries[REGION].sum.executions = 10000; /* so short that threads arrive at different times by chance */
  expect(ADVICE_REGION_THREADS, 0.3, 10);
  assert_false(has(ADVICE_IMBALANCE));
  entries[REGION].sum.executions = 1;
  regions[REGION].gain_s = 0.009;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_false(has(ADVICE_REGION_THREADS));
  regions[REGION].best = regions[REGION].times.threads = 2;
  regions[REGION].gain_s = 0;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* Where the same time could also be saved by putting small regions together, what gains more is reported. */
static void test_fewer_threads_or_regions(void **state)
{
  (void)state;
  struct region_threads regions[ENTRIES] = {
      [REGION] = {.best = 1, .gain_s = 0.3, .times = {.executions = 1200, .threads = 2, .elapsed_s = 0.7}}};
  input.region_threads = (struct region_threads_list){regions, ENTRIES};
  entries[REGION].sum.executions = 1200;
  entries[REGION].sum.enter = 400 * ms;
  lines[REGION][1].figures.enter = 400 * ms;
  for (int fewer = 0; fewer < 2; fewer++) {
    regions[REGION].gain_s = fewer ? 0.21 : 0.19;
    expect(fewer ? ADVICE_REGION_THREADS : ADVICE_REGION_OVERHEAD, fewer ? 0.21 : 0.2, 10);
    assert_false(has(fewer ? ADVICE_REGION_OVERHEAD : ADVICE_REGION_THREADS));
    assert_int_equal(!strstr(advice.found[0].evidence, "With num_threads(1) it would be 0.190 s shorter"), fewer);
  }
  input.ns[TIMELINE_IDLE] = 2000 * ms;
  input.without_core = 0.06; /* what a start takes beyond 10 us is waiting for a core */
  regions[REGION].gain_s = 0.3;
  regions[REGION].times.further_s = 20e-6;
  expect(ADVICE_REGION_THREADS, 0.3 - 1200 * 10e-6, 10);
  regions[REGION].times.further_s = 270e-6;
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_false(has(ADVICE_REGION_THREADS));
}

/* A second loop, which follows the first one in the region. */
static void add_second(struct construct_entry more[ENTRIES + 1])
{
  memcpy(more, entries, sizeof entries);
  more[INNER].end = ENTRIES;
  more[ENTRIES] = entries[INNER];
  more[ENTRIES].parent = REGION;
  more[ENTRIES].region = ENTRIES;
  more[ENTRIES].line = 30;
  more[ENTRIES].lines_count = 0;
  more[0].end = more[REGION].end = more[ENTRIES].end = ENTRIES + 1;
  constructs.entries = more;
  constructs.count = ENTRIES + 1;
}

/* The loop at whose end threads wait is named, not that with most work. */
static void test_two_loops(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  struct construct_row second[THREADS] = {{.figures.own_body = 448 * ms}, {.thread = 1, .figures.own_body = 52 * ms}};
  add_second(more);
  more[ENTRIES].lines = second;
  more[ENTRIES].lines_count = THREADS;
  more[REGION].sum.wait = 0;
  more[INNER].sum.wait = 4 * ms;
  more[ENTRIES].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 500 * ms, .wait = 396 * ms};
  more[ENTRIES].directive = 0;
  directives[1].iterations = 3; /* of the other loop */
  expect(ADVICE_IMBALANCE, 0.198, 30);
  more[REGION].sum.wait = 396 * ms; /* at the region's end, after the loop with nowait */
  more[ENTRIES].sum.wait = 0;
  expect(ADVICE_IMBALANCE, 0.198, 30);
  more[ENTRIES].sum.wait = 1 * ms; /* neither loop */
  lines[REGION][0].figures.own_body = 300 * ms;
  expect(ADVICE_IMBALANCE, 0.15, 10); /* no more than the work differs */
  lines[REGION][0].figures.own_body = 0;
  expect(ADVICE_NONE, 0, 0); /* it does not differ: other threads woke up late, for example */
}

static void test_two_singles(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  add_second(more);
  more[REGION].sum.wait = 0;
  more[INNER].kind = more[ENTRIES].kind = DIRECTIVE_SINGLE;
  more[INNER].sum.wait = 100 * ms;
  more[ENTRIES].sum.wait = 300 * ms;
  expect(ADVICE_SERIAL, 0.15, 30);
  assert_int_equal(advice.found[1].line, 20);
  assert_true(fabs(advice.found[1].gain_s - 0.05) < 1e-9);
}

/* Waiting at a barrier counts once, and also where a loop has more of it. */
static void test_barrier_and_loop(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  add_second(more);
  more[REGION].sum.wait = 0;
  more[INNER].sum.wait = 300 * ms;
  more[ENTRIES].kind = DIRECTIVE_BARRIER;
  more[ENTRIES].sum = (struct construct_figures){.count = 2, .executions = 1, .wait = 100 * ms};
  lines[INNER][0].figures.own_body = 900 * ms;
  lines[INNER][1].figures.own_body = 100 * ms;
  expect(ADVICE_IMBALANCE, 0.15, 20);
  more[INNER].sum.wait = 100 * ms;
  more[ENTRIES].sum.wait = 300 * ms;
  lines[REGION][0].figures.own_body = 300 * ms;
  expect(ADVICE_IMBALANCE, 0.15, 30);
  assert_int_equal(advice.found[1].line, 20);
}

/* Two locks, each of which gains less than 1 %. */
static void test_many_small_findings(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  add_second(more);
  more[REGION].sum.wait = 0;
  more[INNER].kind = more[ENTRIES].kind = DIRECTIVE_CRITICAL;
  more[INNER].sum.enter = 14 * ms;
  more[ENTRIES].sum.enter = 16 * ms;
  expect(ADVICE_CONTENTION, 0.015, 30); /* the larger one */
  assert_int_equal(advice.found[0].places, 2);
  assert_non_null(strstr(advice.found[0].evidence, "1 %: f (a.c:30, 0.008 s), f (a.c:20, 0.007 s)"));
  assert_int_equal(advice.count, 1);
  more[INNER].sum.enter = 2 * ms; /* below 1 % */
  expect(ADVICE_NONE, 0, 0);
  input.ns[TIMELINE_WORK] = 1000 * ms; /* but the threads are used for 50 % */
  input.ns[TIMELINE_IDLE] = 1000 * ms;
  expect(ADVICE_UNEXPLAINED, 0, 0);
  assert_false(advice.unfit_first);
}

/* Iterations of 10 ns, for each of which this tool takes 50 ns. */
static void test_chunks_that_only_this_tool_sees(void **state)
{
  (void)state;
  struct profile_thread thread = {.cpu_ns = 1200 * ms};
  process.threads = &thread;
  process.threads_count = 1;
  directives[1].iterations = 20000000;
  input.ns[TIMELINE_TOOL] =
      1000 * ms; /* of the region's 1400 ms: two sevenths are left of the loop's 500 ms on each thread */
  input.samples = 5;
  entries[REGION].sum.wait = 0;
  entries[INNER].sum.own_body = 1400 * ms;
  expect(ADVICE_CHUNK_OVERHEAD, 0.2, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  assert_in_range((uint64_t)(advice.found[0].high_s * 1e6 + 0.5), 700000, 700001); /* with this tool's time */
  expect_more(0.05, true);
  input.ns[TIMELINE_TOOL] = 300 * ms; /* less than the program needs */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_int_not_equal(advice.found[0].class, ADVICE_CHUNK_OVERHEAD);
}

/* A schedule of the graph tells that a quarter of the waiting is avoidable, then nothing of it. */
static void test_a_forecast_from_the_graph(void **state)
{
  (void)state;
  input.efficiency = 0.99;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_string_equal(advice_basis(&advice.found[0]), "times");
  advice_enter(&advice, &advice.found[0], 0.05);
  advice_rank(&input, &advice);
  assert_string_equal(advice_basis(&advice.found[0]), "graph");
  assert_true(fabs(advice.found[0].gain_s - 0.05) < 1e-9 && fabs(advice.found[0].low_s - 0.04) < 1e-9);
  expect_more(0.0125, true);
  advice_enter(&advice, &advice.found[0], 3); /* no more than the threads wait */
  assert_true(fabs(advice.found[0].gain_s - 0.05) < 1e-9);
  advice_enter(&advice, &advice.found[0], -1);
  advice_rank(&input, &advice);
  assert_int_equal(advice.count, 1);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
  assert_non_null(strstr(advice.found[0].evidence, "'hpcrun-lite --scaling 1,2 PROGRAM'"));
}

static void test_what_a_change_applies_to(void **state)
{
  (void)state;
  bool selected[2] = {false};
  expect(ADVICE_IMBALANCE, 0.2, 20);
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[1]); /* the loop */
  selected[0] = selected[1] = false;
  entries[INNER].kind = DIRECTIVE_SINGLE;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[0] && !selected[1]);
  advice.found[0].class = ADVICE_CREATION;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[1]);
  selected[0] = selected[1] = false;
  advice.found[0].region = INNER;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(!selected[0] && !selected[1]);
}

/* 30 tasks of 4 ms on node 0, 20 of 6 ms on node 2, 19 of 9 ms, which are too few, on node 1. */
static void test_tasks_far_from_their_data(void **state)
{
  (void)state;
  static struct advice_node nodes[2 * ADVICE_NODES_MAX];
  static const uint32_t node[] = {0, 2, 1}, count[] = {30, 20, 19};
  static const double exec_s[] = {4e-3, 6e-3, 9e-3};
  memset(nodes, 0, sizeof nodes);
  for (int i = 0; i < 3; i++)
    for (uint32_t j = 0; j < count[i]; j++)
      advice_node_add(&nodes[ADVICE_NODES_MAX + node[i]], exec_s[i]);
  input.efficiency = 0.99;
  entries[REGION].sum.wait = 0;
  entries[INNER].kind = CONSTRUCT_TASK_EXEC;
  expect(ADVICE_NONE, 0, 0);
  advice_nodes_find(&input, nodes, &advice);
  advice_rank(&input, &advice);
  assert_int_equal(advice.count, 1);
  assert_int_equal(advice.found[0].class, ADVICE_LOCALITY);
  assert_true(fabs(advice.found[0].gain_s - 0.02) < 1e-9); /* 20 x 2 ms on two threads */
  assert_int_equal(advice.found[0].line, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  assert_string_equal(advice_basis(&advice.found[0]), "graph");
  for (int i = 0; i < 10; i++) /* then the difference may be chance */
    advice_node_add(&nodes[ADVICE_NODES_MAX + i % 3], i % 2 ? 0.1 : 0);
  advice_release(&advice);
  advice_compute(&input, &advice);
  advice_nodes_find(&input, nodes, &advice);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
}

/* A chunk that is longer than others decides in one of two places of a loop; and where it hits other threads each time,
 * it still does, although the waits cancel out. */
static void test_a_long_piece_in_two_places(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  struct construct_row second[THREADS] = {{.figures.own_body = 300 * ms}, {.thread = 1, .figures.own_body = 700 * ms}};
  add_second(more);
  more[ENTRIES].region = INNER;
  more[ENTRIES].lines = second;
  more[ENTRIES].lines_count = THREADS;
  more[INNER].sum.schedule = more[ENTRIES].sum.schedule = SCHEDULE_DYNAMIC;
  more[INNER].sum.chunk_most = more[ENTRIES].sum.chunk_most = 1;
  more[INNER].sum.longest_ns = 100 * ms;
  more[ENTRIES].sum.longest_ns = 500 * ms;
  more[INNER].sum.longest_iterations = more[ENTRIES].sum.longest_iterations = 1;
  more[ENTRIES].sum.longest_first = 7;
  more[REGION].sum.wait = 0;
  more[INNER].sum.wait = more[ENTRIES].sum.wait = 400 * ms;
  directives[1].instances = 2;
  directives[1].iterations = 200;
  expect(ADVICE_LAST_PIECE, 0.4, 20);
  assert_non_null(strstr(advice.found[0].evidence, "The longest iteration (7) takes 0.500 s, the mean is 0.010 s"));
}

/* Threads of two processes that work equally, in teams of two and of four. */
static void test_teams_of_different_size(void **state)
{
  (void)state;
  static struct construct_row rows[2][6];
  static struct construct_thread all[6];
  struct profile_process processes[2] = {process, process};
  processes[1].threads_max = 4;
  memset(rows, 0, sizeof rows);
  for (uint32_t i = 0; i < 6; i++) {
    all[i] = (struct construct_thread){i >= 2, i < 2 ? i : i - 2, i};
    rows[0][i].thread = rows[1][i].thread = i;
    rows[1][i].figures.own_body = 500 * ms;
    rows[0][i].figures.wait = 100 * ms;
  }
  profile.processes = processes;
  profile.processes_count = 2;
  constructs.threads = all;
  constructs.threads_count = 6;
  entries[REGION].lines = rows[0];
  entries[INNER].lines = rows[1];
  entries[REGION].lines_count = entries[INNER].lines_count = 6;
  entries[REGION].sum = (struct construct_figures){.count = 6, .executions = 2, .wait = 600 * ms};
  entries[INNER].sum = (struct construct_figures){.count = 6, .executions = 2, .own_body = 3000 * ms};
  advice_compute(&input, &advice);
  assert_int_not_equal(advice.found[0].class, ADVICE_IMBALANCE);
}

/* Two findings that share 200 ms of the threads' time, and what neither explains. */
static void test_the_loss_adds_up(void **state)
{
  (void)state;
  static const uint64_t lost_ms[TIMELINE_CATEGORIES] = {
      [TIMELINE_IDLE] = 500,     [TIMELINE_OVERHEAD] = 40,   [TIMELINE_BLOCKED] = 60,
      [TIMELINE_CORE_WAIT] = 20, [TIMELINE_LOCK_WAIT] = 100, [TIMELINE_TOOL] = 80};
  double sum_s = 0;
  input.serial_s = 0.15; /* 300 ms of idle time; the region's 400 ms are 100 ms more than is left */
  input.ns[TIMELINE_WORK] = 2000 * ms;
  for (unsigned i = 1; i < TIMELINE_CATEGORIES; i++) {
    input.ns[i] = lost_ms[i] * ms;
    input.ns[TIMELINE_WORK] -= input.ns[i];
  }
  input.all_blocked = (struct advice_blocked){.function = "f", .file = "a.c", .s = 0.05, .all_s = 0.05};
  advice_compute(&input, &advice);
  for (uint32_t i = 0; i < advice.count; i++)
    sum_s += advice.found[i].loss_s;
  double per = advice.elapsed_s / 1.92; /* of threads that live for 2 s, 80 ms are the tool's */
  assert_true(fabs(advice.loss_s - 0.72 * per) < 1e-9 && fabs(sum_s - advice.loss_s) < 1e-9);
  assert_int_equal(advice.found[0].class, ADVICE_IMBALANCE);
  assert_true(fabs(advice.found[0].loss_s - advice.found[0].gain_s) < 1e-9);
  assert_int_equal(advice.found[1].class, ADVICE_SERIAL);
  assert_true(fabs(advice.found[0].loss_s + advice.found[1].loss_s - 0.5 * per) < 1e-9); /* no more than all idleness */
  assert_true(advice.found[1].loss_s < advice.found[1].gain_s);
  assert_int_equal(advice.found[2].class, ADVICE_UNEXPLAINED); /* blocked in places that are not known */
  assert_true(fabs(advice.found[2].loss_s - 0.01 * per) < 1e-9);
  assert_int_equal(advice.found[3].class, ADVICE_OTHER);
  assert_non_null(strstr(advice.found[3].evidence, "0.040 s in the OpenMP runtime, 0.100 s waiting for locks"));
  assert_null(advice_much_unexplained(&advice));
  input.rest_ns = 200 * ms;
  advice_rank(&input, &advice);
  assert_ptr_equal(advice_much_unexplained(&advice), &advice.found[2]);
}

static const struct advice_finding *find(enum advice_class class)
{
  for (uint32_t i = 0; i < advice.count; i++)
    if (advice.found[i].class == class)
      return &advice.found[i];
  return NULL;
}

static void test_nothing(void **state)
{
  (void)state;
  input.efficiency = 0.99;
  entries[REGION].sum.wait = 15 * ms; /* below 1 % */
  expect(ADVICE_NONE, 0, 0);
  assert_non_null(strstr(advice.found[0].evidence, "'hpcrun-lite --scaling 1,2 PROGRAM'"));
  input.threads = 1;
  expect(ADVICE_NONE, 0, 0);
  assert_non_null(strstr(advice.found[0].evidence, "Only one thread used OpenMP, so that none could"));
  input.threads = 2;
  uint64_t samples = input.samples;
  input.samples = 0;
  input.rest_ns = 100 * ms; /* of that time, nothing is known of what its threads did */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_null(find(ADVICE_NONE));
  input.rest_ns = 0; /* they slept all the time */
  expect(ADVICE_NONE, 0, 0);
  input.samples = samples;
  constructs.count = 0; /* -p off */
  expect(ADVICE_UNFIT, 0, 0);
  assert_true(advice.unfit_first);
  assert_int_equal(advice.count, 1);
  input.threads = 0;
  expect(ADVICE_UNFIT, 0, 0);
  input.elapsed_s = 0;
  input.all_ns = 0; /* of nothing, no part is much */
  expect(ADVICE_UNFIT, 0, 0);
  assert_int_equal(advice.count, 1);
  input.samples = 1;
  input.by_wall = true; /* samples of CPU time would not show what sleeps */
  expect(ADVICE_UNFIT, 0, 0);
  assert_int_equal(advice.count, 2);
  assert_non_null(strstr(advice.found[1].evidence, "1 sample is too few"));
  assert_non_null(strstr(advice.found[1].evidence, "-e wall@f1000"));
}

/* ---- causes outside OpenMP ---- */

static void expect_none_of(enum advice_class class)
{
  for (uint32_t i = 0; i < advice.count; i++)
    assert_int_not_equal(advice.found[i].class, class);
}

/* Two threads on one of two CPUs, for all of 1 s. */
static void bind_to_one(const uint64_t *mask)
{
  static struct profile_thread threads[2];
  static char host[] = "node";
  for (int i = 0; i < 2; i++)
    threads[i] = (struct profile_thread){
        .flags = THREAD_OPENMP, .mask = {1}, .mask_cpus = 1, .wall_ns = 1000 * ms, .run_delay_ns = 500 * ms};
  process.threads = threads;
  process.threads_count = 2;
  process.host = host;
  cores.count = 1;
  cores.found[0] = (struct core_finding){
      .kind = CORES_BINDING, .threads = 2, .cpus = 1, .could = 2, .mask = mask, .text = "shared", .settings = "X=1"};
}

static void test_binding(void **state)
{
  static const uint64_t mask[PROFILE_MASK_WORDS] = {1};
  (void)state;
  bind_to_one(mask);
  expect(ADVICE_BINDING, 0.5, 0);
  assert_string_equal(advice.found[0].evidence, "shared; they were ready to run without a core for 1.000 s (X=1)");
  assert_non_null(strstr(advice.found[0].remedy->text, "OMP_PROC_BIND"));
  expect_none_of(ADVICE_IMBALANCE); /* a thread that waits leaves its CPU to the other one */
  cores.found[0].mask = NULL;
  expect(ADVICE_BINDING, 0.5, 0);
  assert_non_null(strstr(advice.found[0].remedy->text, "taskset"));
  assert_null(strstr(advice.found[0].remedy->text, "OMP_NUM_THREADS"));
  cores.found[0].could = 1; /* there is no other CPU */
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* Two ranks that were started with half of the machine each have what they can have. */
static void test_binding_of_ranks(void **state)
{
  struct profile_process ranks[2];
  (void)state;
  bind_to_one(NULL);
  ranks[0] = ranks[1] = process;
  ranks[1].rank = 1;
  profile.processes = ranks;
  profile.processes_count = profile.processes_usable = 1;
  expect(ADVICE_BINDING, 0.5, 0);
  profile.processes_usable = 2;
  advice_release(&advice);
  advice_compute(&input, &advice);
  expect_none_of(ADVICE_BINDING);
}

static void test_quota(void **state)
{
  (void)state;
  cores.count = 1;
  cores.found[0] = (struct core_finding){.kind = CORES_QUOTA, .text = "quota"};
  process.throttled_ns = 800 * ms; /* of two threads */
  expect(ADVICE_QUOTA, 0.4, 0);
  process.quota_milli = 1500; /* with all of two CPUs, it would take three quarters of the time */
  expect(ADVICE_QUOTA, 0.25, 0);
  process.throttled_ns = 0;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* A thread outside OpenMP sleeps all the time, which loses nothing that is not known.  Where threads ran without
 * samples, no loss is known. */
static void test_sleep_outside_openmp(void **state)
{
  struct profile_thread threads[] = {{.flags = THREAD_OPENMP}, {.blocked_ns = 600 * ms}};
  (void)state;
  process.flags = PROCESS_OMPT;
  process.threads = threads;
  process.threads_count = 2;
  input.ns[TIMELINE_BLOCKED] = 700 * ms;
  input.ns[TIMELINE_WORK] = 1300 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  const struct advice_finding *other = find(ADVICE_OTHER), *unexplained = find(ADVICE_UNEXPLAINED);
  assert_non_null(other);
  assert_non_null(strstr(other->evidence, "0.600 s blocked in threads outside OpenMP"));
  assert_true(fabs(other->loss_s - 0.3) < 1e-9);
  assert_non_null(unexplained);
  assert_true(fabs(unexplained->loss_s - 0.05) < 1e-9); /* what the other one slept has no place */
  process.flags = 0;
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_true(fabs(find(ADVICE_UNEXPLAINED)->loss_s - 0.35) < 1e-9);
  input.samples = 0; /* all is known: they hardly ran */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_true(fabs(find(ADVICE_UNEXPLAINED)->loss_s - 0.35) < 1e-9);
  input.rest_ns = 100 * ms;
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_true(advice.loss_s < 0 && !find(ADVICE_UNEXPLAINED));
  input.rest_ns = 0;
  threads[0].cpu_ns = 100 * ms; /* without OpenMP, time in no category is not computed */
  advice_release(&advice);
  advice_compute(&input, &advice);
  assert_true(advice.loss_s < 0 && !find(ADVICE_UNEXPLAINED));
}

/* A pool of eight threads without OpenMP. */
static void test_quota_of_other_threads(void **state)
{
  static struct profile_thread threads[8];
  (void)state;
  for (int i = 0; i < 8; i++)
    threads[i] = (struct profile_thread){.wall_ns = 1000 * ms, .cpu_ns = 500 * ms, .mask_cpus = 8};
  process.threads = threads;
  process.threads_count = 8;
  process.threads_max = 1;
  cores.count = 1;
  cores.found[0] = (struct core_finding){.kind = CORES_QUOTA, .text = "quota"};
  process.throttled_ns = 4000 * ms;
  process.quota_milli = 2000;
  expect(ADVICE_QUOTA, 0.5, 0);
  process.throttled_ns = 8000 * ms;
  expect(ADVICE_QUOTA, 0.75, 0); /* two of eight CPUs do a quarter of the work */
  for (int i = 4; i < 8; i++)
    threads[i].cpu_ns = 0; /* they sleep */
  expect(ADVICE_QUOTA, 0.5, 0);
}

/* Four ranks of two threads each in one group, which has four CPUs. */
static void test_quota_of_a_group(void **state)
{
  struct profile_process ranks[4];
  (void)state;
  process.limits = (char[]){"OMP_NUM_THREADS=2\ncgroup=/job\nX=1"};
  process.host = (char[]){"node"};
  process.throttled_ns = 1600 * ms;
  process.quota_milli = 4000;
  cores.count = 4;
  for (uint32_t i = 0; i < 4; i++) {
    ranks[i] = process;
    cores.found[i] = (struct core_finding){.kind = CORES_QUOTA, .process = i, .pid = i, .text = "quota"};
  }
  profile.processes = ranks;
  profile.processes_count = profile.processes_usable = 4;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  expect(ADVICE_QUOTA, 0.2, 0);
  assert_string_equal(advice.found[0].evidence, "quota; 4 processes share it; process 0");
  assert_true(advice.count == 1 || advice.found[1].class != ADVICE_QUOTA);
  ranks[2].throttled_ns = 2400 * ms; /* it ran for longer */
  expect(ADVICE_QUOTA, 0.3, 0);
  assert_string_equal(advice.found[0].evidence, "quota; 4 processes share it; process 2");
  ranks[3].limits = (char[]){"cgroup=/job2"}; /* another group: its two threads were stopped for all of its time */
  ranks[3].quota_milli = 1000;
  expect(ADVICE_QUOTA, 0.5, 0);
  assert_string_equal(advice.found[0].evidence, "quota; process 3");
  assert_int_equal(advice.found[1].class, ADVICE_QUOTA); /* the quota leaves out a third of six CPUs */
  assert_true(fabs(advice.found[1].gain_s - 1.0 / 3) < 1e-9);
}

/* Threads created for each of 200 executions: the others begin after 2 ms; the calls take 100 ms of all.  The master
 * works for 0.3 s of 1 s. */
static void create_threads(void)
{
  entries[REGION].sum = (struct construct_figures){
      .count = 400, .executions = 200, .body = 600 * ms, .created = 199, .creating = 100 * ms, .wait = 400 * ms};
  lines[REGION][0].figures = (struct construct_figures){.count = 200,
                                                        .executions = 200,
                                                        .enter = 200 * ms,
                                                        .own_body = 300 * ms,
                                                        .body = 300 * ms,
                                                        .wait = 500 * ms,
                                                        .wait_own = 50 * ms};
  lines[REGION][1].figures = (struct construct_figures){.count = 200, .enter = 400 * ms, .wait = 300 * ms};
  kernel = (struct kernel_findings){.count = 1, .at_once = 2, .found[0] = {.kind = KERNEL_CHURN, .size = 199}};
}

static void test_threads_that_come_and_go(void **state)
{
  (void)state;
  create_threads();
  expect(ADVICE_CHURN, (0.1 + 0.5) / 2, 10);
  assert_true(fabs(advice.found[0].low_s - 0.05) < 1e-9 && fabs(advice.found[0].high_s - 0.55) < 1e-9);
  assert_true(fabs(advice.found[0].explained_s - 0.5) < 1e-9);
  assert_non_null(strstr(advice.found[0].evidence, "199 threads were created in 200 executions"));
  expect_none_of(ADVICE_IMBALANCE);          /* threads wait for less than that */
  lines[REGION][0].figures.enter = 600 * ms; /* masters begin even later */
  lines[REGION][0].figures.wait = 100 * ms;
  expect(ADVICE_CHURN, (0.1 + 0.6) / 2, 10);
  lines[REGION][1].figures.enter = 1000 * ms;
  expect(ADVICE_CHURN, (0.1 + 0.7) / 2, 10); /* the master is not in it for longer than that beside its work */
  kernel.count = 0;                          /* no more than lived at once */
  advice_release(&advice);
  advice_compute(&input, &advice);
  expect_none_of(ADVICE_CHURN);
}

/* Another thread works longest: that it began late explains a part of the waiting only. */
static void test_unequal_work_of_new_threads(void **state)
{
  (void)state;
  create_threads();
  entries[REGION].sum.creating = 20 * ms;
  lines[REGION][0].figures.enter = 30 * ms;
  lines[REGION][0].figures.wait = 670 * ms;
  lines[REGION][1].figures.enter = 20 * ms;
  advice_release(&advice);
  advice_compute(&input, &advice);
  const struct advice_finding *churn = find(ADVICE_CHURN), *unequal = find(ADVICE_IMBALANCE);
  assert_non_null(churn);
  assert_non_null(unequal);
  assert_true(fabs(churn->gain_s - 0.03) < 1e-9 && fabs(churn->explained_s - 0.04) < 1e-9);
  assert_true(fabs(unequal->gain_s - 0.2 * (1 - 0.2)) < 1e-9);
}

/* ---- the kernel and MPI ---- */

enum { WORK, SYSTEM, FAULTS, IDLE, USER, COLUMNS };

/* A tree with those columns, and the program's main function. */
static void begin_rows(void)
{
  tree_release(&tree);
  tree_init(&tree, COLUMNS, "run");
  columns = (struct tree_columns){.work = WORK,
                                  .system_cpu = SYSTEM,
                                  .page_faults = FAULTS,
                                  .idleness = IDLE,
                                  .user_cpu = USER,
                                  .overhead = MODEL_NONE,
                                  .created = MODEL_NONE,
                                  .creating = MODEL_NONE,
                                  .blocked = MODEL_NONE,
                                  .mpi = MODEL_NONE};
  kernel.tick_ns = 4 * ms;
  profile.processes_usable = profile.processes_count;
  struct tree_row row = {.kind = ROW_FUNCTION, .name = "main", .file = "a.c", .module = MODEL_NONE};
  tree_append(&tree, &row);
}

static void add_row(enum tree_kind kind, const char *name, const uint64_t values[COLUMNS])
{
  struct tree_row row = {.parent = 1, .kind = kind, .name = name, .file = "a.c", .line = 10, .module = MODEL_NONE};
  uint32_t at = tree_append(&tree, &row);
  for (uint32_t i = 0; i < COLUMNS; i++)
    tree_value(&tree, at, i, values[i]);
}

/* Serial code that touches memory is in the kernel for a quarter of its time: the rest is serial. */
static void test_faults_in_serial_code(void **state)
{
  (void)state;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  input.serial_s = 0.4;
  process.peak_memory_bytes = 1 << 20;
  begin_rows();
  add_row(ROW_FUNCTION, "fill",
          (uint64_t[]){[WORK] = 800 * ms, [SYSTEM] = 200 * ms, [USER] = 600 * ms, [FAULTS] = 10000, [IDLE] = 800 * ms});
  tree_inclusive(&tree);
  expect(ADVICE_SERIAL, 0.3, 0);
  const struct advice_finding *found = find(ADVICE_KERNEL);
  assert_non_null(found);
  assert_true(fabs(found->gain_s - 0.2) < 1e-9 && fabs(found->explained_s - 0.1) < 1e-6);
}

/* A thread that std::thread has started opens the regions: the C++ library calls the program. */
static void test_serial_code_below_a_library(void **state)
{
  static const struct {
    enum tree_kind kind;
    uint32_t parent, module;
    const char *name;
  } rows[] = {{ROW_FUNCTION, 0, 0, "libstdc++.so.6+0xd4490"},
              {ROW_FUNCTION, 2, MODEL_NONE, "drive"},
              {ROW_PARALLEL, 3, MODEL_NONE, "parallel"},
              {ROW_FUNCTION, 3, MODEL_NONE, "read_input"}};
  struct catalog_module modules[] = {{.path = (char[]){"/usr/lib/libstdc++.so.6"}}};
  (void)state;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  input.serial_s = 0.4;
  profile.catalog.modules = modules;
  profile.catalog.modules_count = 1;
  begin_rows();
  for (uint32_t i = 0; i < 4; i++) {
    struct tree_row row = {.parent = rows[i].parent,
                           .kind = rows[i].kind,
                           .name = rows[i].name,
                           .file = "a.c",
                           .line = 10 * i,
                           .module = rows[i].module};
    uint32_t at = tree_append(&tree, &row);
    tree_value(&tree, at, IDLE, i == 3 ? 800 * ms : 0);
  }
  tree_inclusive(&tree);
  expect(ADVICE_SERIAL, 0.4, 30);
  assert_string_equal(advice.found[0].name, "read_input");
}

static void test_calls_in_serial_code(void **state)
{
  (void)state;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  input.serial_s = 0.4;
  begin_rows();
  add_row(ROW_FUNCTION, "copy",
          (uint64_t[]){[WORK] = 800 * ms, [SYSTEM] = 700 * ms, [USER] = 100 * ms, [IDLE] = 800 * ms});
  tree_inclusive(&tree);
  expect(ADVICE_KERNEL, 0.7, 10);
  const struct advice_finding *found = find(ADVICE_SERIAL);
  assert_non_null(found);
  assert_true(fabs(found->gain_s - 0.05) < 1e-9);
}

/* A region that is called in two places: a quarter of its time was in the kernel. */
static void test_faults_in_a_region(void **state)
{
  (void)state;
  process.peak_memory_bytes = 1 << 20;
  begin_rows();
  for (uint64_t system_ms = 100; system_ms <= 150; system_ms += 50)
    add_row(ROW_PARALLEL, "parallel",
            (uint64_t[]){[WORK] = 500 * ms, [SYSTEM] = system_ms * ms, [USER] = 300 * ms, [FAULTS] = 10000});
  tree_inclusive(&tree);
  expect(ADVICE_IMBALANCE, 0.2 * 0.75, 20);
  const struct advice_finding *found = find(ADVICE_KERNEL);
  assert_non_null(found);
  assert_true(fabs(found->explained_s - 0.2 * 0.25) < 1e-6);
}

/* Two places that each gain less than 1 %: their sum names them, and says no more than each of them. */
static void test_calls_in_small_places(void **state)
{
  (void)state;
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  begin_rows();
  kernel.tick_ns = ms / 10;
  add_row(ROW_FUNCTION, "copy", (uint64_t[COLUMNS]){[WORK] = 10 * ms, [SYSTEM] = 9 * ms, [USER] = 1 * ms});
  add_row(ROW_PARALLEL, "parallel", (uint64_t[COLUMNS]){[WORK] = 20 * ms, [SYSTEM] = 16 * ms, [USER] = 4 * ms});
  tree_inclusive(&tree);
  expect(ADVICE_KERNEL, 0.009 + 0.008, 10);
  const struct advice_finding *found = &advice.found[0];
  assert_non_null(strstr(found->evidence, "In 2 places"));
  assert_non_null(strstr(found->evidence, "copy (a.c:10, 0.009 s), f (a.c:10, 0.008 s)"));
  assert_string_equal(found->confidence, "low");
  assert_string_equal(found->reason, "the program may need these calls");
  assert_true(found->low_s == 0 && found->explained_s > 0 && found->explained_s < 1e-6);
}

/* Four ranks without timed regions, each of which waits for 0.2 s of 1 s. */
static void test_mpi_without_regions(void **state)
{
  (void)state;
  struct profile_process ranks[4] = {process, process, process, process};
  entries[REGION].sum.wait = lines[REGION][1].figures.wait = 0;
  profile.processes = ranks;
  profile.processes_count = 4;
  begin_rows();
  add_row(ROW_FUNCTION, "MPI_Barrier", (uint64_t[COLUMNS]){[WORK] = 800 * ms});
  tree_inclusive(&tree);
  expect(ADVICE_MPI, 0.1, 10);
  assert_true(fabs(advice.found[0].high_s - 0.2) < 1e-9);
  assert_non_null(strstr(advice.found[0].evidence, "0.800 s of all ranks"));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_unequal_work, begin, end),
      cmocka_unit_test_setup_teardown(test_few_pieces, begin, end),
      cmocka_unit_test_setup_teardown(test_few_chunks, begin, end),
      cmocka_unit_test_setup_teardown(test_a_long_piece, begin, end),
      cmocka_unit_test_setup_teardown(test_a_long_task, begin, end),
      cmocka_unit_test_setup_teardown(test_unseen_loop, begin, end),
      cmocka_unit_test_setup_teardown(test_unknown_chunks, begin, end),
      cmocka_unit_test_setup_teardown(test_sections, begin, end),
      cmocka_unit_test_setup_teardown(test_masked, begin, end),
      cmocka_unit_test_setup_teardown(test_waiting_that_cancels_out, begin, end),
      cmocka_unit_test_setup_teardown(test_dependences, begin, end),
      cmocka_unit_test_setup_teardown(test_locks, begin, end),
      cmocka_unit_test_setup_teardown(test_many_entries, begin, end),
      cmocka_unit_test_setup_teardown(test_small_tasks, begin, end),
      cmocka_unit_test_setup_teardown(test_what_runs_outside, begin, end),
      cmocka_unit_test_setup_teardown(test_long_blocking, begin, end),
      cmocka_unit_test_setup_teardown(test_missing_cores, begin, end),
      cmocka_unit_test_setup_teardown(test_more_threads_than_cores, begin, end),
      cmocka_unit_test_setup_teardown(test_chunks_that_only_this_tool_sees, begin, end),
      cmocka_unit_test_setup_teardown(test_a_forecast_from_the_graph, begin, end),
      cmocka_unit_test_setup_teardown(test_what_a_change_applies_to, begin, end),
      cmocka_unit_test_setup_teardown(test_tasks_far_from_their_data, begin, end),
      cmocka_unit_test_setup_teardown(test_several_processes, begin, end),
      cmocka_unit_test_setup_teardown(test_a_process_of_one_thread, begin, end),
      cmocka_unit_test_setup_teardown(test_small_regions_of_processes, begin, end),
      cmocka_unit_test_setup_teardown(test_fewer_threads, begin, end),
      cmocka_unit_test_setup_teardown(test_fewer_threads_or_regions, begin, end),
      cmocka_unit_test_setup_teardown(test_two_loops, begin, end),
      cmocka_unit_test_setup_teardown(test_two_singles, begin, end),
      cmocka_unit_test_setup_teardown(test_barrier_and_loop, begin, end),
      cmocka_unit_test_setup_teardown(test_many_small_findings, begin, end),
      cmocka_unit_test_setup_teardown(test_one_long_thread, begin, end),
      cmocka_unit_test_setup_teardown(test_samples_by_name, begin, end),
      cmocka_unit_test_setup_teardown(test_a_long_piece_in_two_places, begin, end),
      cmocka_unit_test_setup_teardown(test_teams_of_different_size, begin, end),
      cmocka_unit_test_setup_teardown(test_the_loss_adds_up, begin, end),
      cmocka_unit_test_setup_teardown(test_binding, begin, end),
      cmocka_unit_test_setup_teardown(test_binding_of_ranks, begin, end),
      cmocka_unit_test_setup_teardown(test_quota, begin, end),
      cmocka_unit_test_setup_teardown(test_sleep_outside_openmp, begin, end),
      cmocka_unit_test_setup_teardown(test_quota_of_other_threads, begin, end),
      cmocka_unit_test_setup_teardown(test_quota_of_a_group, begin, end),
      cmocka_unit_test_setup_teardown(test_threads_that_come_and_go, begin, end),
      cmocka_unit_test_setup_teardown(test_unequal_work_of_new_threads, begin, end),
      cmocka_unit_test_setup_teardown(test_faults_in_serial_code, begin, end),
      cmocka_unit_test_setup_teardown(test_serial_code_below_a_library, begin, end),
      cmocka_unit_test_setup_teardown(test_calls_in_serial_code, begin, end),
      cmocka_unit_test_setup_teardown(test_faults_in_a_region, begin, end),
      cmocka_unit_test_setup_teardown(test_calls_in_small_places, begin, end),
      cmocka_unit_test_setup_teardown(test_mpi_without_regions, begin, end),
      cmocka_unit_test_setup_teardown(test_nothing, begin, end),
  };
  return UNIT_RUN(argc, argv, "advice", tests, NULL, NULL);
}
