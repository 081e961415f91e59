#include "tests/golden/golden_graphs.h"

#include "tests/golden/golden_records.h"
#include "tests/support/compose_log.h"

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
  blame_begin(1000, "./graph", "s");
  compose.process.threads_max = 3;
  compose.process.regions = 10;
  compose.process.span = ms(400);
  compose.process.span_burdened = ms(500);
  uint32_t parallel = compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 10, ms(780), ms(200));
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 10, ms(700), ms(175));
  uint32_t critical = compose_directive(&compose, FORMAT_DIRECTIVE_CRITICAL, 1, 0x1210, 300, ms(60), ms(60));
  uint32_t single = compose_directive(&compose, FORMAT_DIRECTIVE_SINGLE, 1, 0x1220, 10, ms(20), ms(20));
  uint32_t region = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 2, ms(50), ms(25));
  compose_directive(&compose, FORMAT_DIRECTIVE_BARRIER, 1, 0x1230, 30, 0, 0);
  compose.directives[loop].iterations = 1000;
  compose.directives[critical].lock_bound = ms(65);
  compose.directives[region].name = compose_string(&compose, "phase 1");
  uint32_t main_frame = frame_below(0, 0x1000);
  uint32_t own = charge(FORMAT_KIND_FRAME, main_frame, 0x1010, WORK, 4, 1, 1);
  uint32_t setup = charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 16, 1, 1);
  uint32_t solve = charge(FORMAT_KIND_FRAME, main_frame, 0x1100, WORK, 2, 1, 1);
  uint32_t body = charge(FORMAT_KIND_FRAME, parallel_below(solve), 0x1200, WORK, 2, 3, 3);
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

  body = region_body(link_to(solve), 0x1200);
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
  blame_begin(1200, "./units", "units");
  compose.process.span = compose.process.span_burdened = 10;
  compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 1, 100, 10);
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 1, 100, 10);
  uint32_t critical = compose_directive(&compose, FORMAT_DIRECTIVE_CRITICAL, 1, 0x1210, 10, 70, 70);
  compose.directives[loop].iterations = 10;
  compose.directives[critical].lock_bound = 73;
  uint32_t solve = frame_below(frame_below(0, 0x1000), 0x1100);
  uint32_t body = region_body(solve, 0x1200);
  compose_contribution(&compose, loop, 1, body, 3);
  compose_contribution(&compose, critical, 1, body, 7);
  graph_thread(1, 60);
  graph_thread(2, 40);
  compose_end(&compose);
}

/* An inconsistent graph: kinds, modules, directives, threads and nodes that do not exist, sums that exceed the span. */
static void graph_hostile(void)
{
  blame_begin(1300, "./lies", "s");
  compose.process.span = ms(100);
  compose.process.span_burdened = 1;
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

static struct compose_log graph_log;
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

static void recorded_barrier(void)
{
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER, 0);
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_WAIT_END, thread, thread == 1 ? 2 : 1, GRAPHLOG_BARRIER);
}

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
  recorded_barrier();
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_LOOP, ROW_FOR, 8);
  for (uint32_t i = 0; i < 8; i++) {
    recorded(i % 2 + 1, GRAPHLOG_CHUNK, (int)i, 1);
    recorded_work(i % 2 + 1, sampled || i == 0 ? NODE_KERNEL : 0, 5 * scale);
  }
  for (uint32_t thread = 1; thread <= 2; thread++)
    recorded(thread, GRAPHLOG_LOOP_END);
  recorded_barrier();
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
  blame_begin(1400, "./recorded", unit);
  compose.process.span = compose.process.span_burdened = span * scale;
  compose.process.tick_scale = 1ULL << 31; /* half a nanosecond */
  compose.process.cost_fork = compose.process.cost_join = scale > 1 ? 500000 : 0;
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
    uint32_t solve = frame_below(main_frame, 0x1100);
    uint32_t body = region_body(solve, 0x1200);
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

static void save_log(const char *name, uint32_t pid, enum compose_form form)
{
  log_compose(&graph_log, form, &compose);
  save_as(name, pid, "graph");
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

void golden_graphs(void)
{
  graph();
  save("graph", 1000);
  save("graphs", 1000);
  graph_second();
  save("graphs", 1100);
  units();
  save("units", 1200);
  graph_hostile();
  save("lies", 1300);
  recorded_runs();
}
