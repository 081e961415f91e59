#include "tests/support/replay_log_builder.h"

#include "hpcprof-lite/input/log_reader.h"

struct compose_log log_reader_log;
struct compose compose;
uint64_t now;
static struct {
  uint32_t tasks, regions, joins;
} made[COMPOSE_THREADS + 1];
char path[64];
static char measurement[64];

/* ---- a program, record by record in the order of time ---- */

void begin(void)
{
  log_begin(&log_reader_log);
  memset(made, 0, sizeof made);
  now = 1000;
}

void u(uint32_t thread, uint64_t work)
{
  log_at(&log_reader_log, thread, now);
  log_run(&log_reader_log, thread, work);
  now += work + 1;
}

struct name implicit(uint32_t thread, struct name region, uint32_t size)
{
  put(thread, GRAPHLOG_IMPLICIT, region.thread, region.number, size, 0);
  return (struct name){thread, ++made[thread].tasks};
}

struct name region(uint32_t thread, enum row row)
{
  put(thread, GRAPHLOG_REGION, row);
  return (struct name){thread, ++made[thread].regions};
}

struct name task(uint32_t thread, struct name creator, unsigned flags)
{
  put(thread, GRAPHLOG_TASK, creator.thread, creator.number, TASK, flags);
  return (struct name){thread, ++made[thread].tasks};
}

void on_task(uint32_t thread, enum graphlog_op op, struct name task)
{
  put(thread, op, task.thread, task.number);
}

void wait_begin(uint32_t thread, struct name task, enum graphlog_wait kind)
{
  put(thread, GRAPHLOG_WAIT, task.thread, task.number, kind, 0);
}

void wait_end(uint32_t thread, struct name task, enum graphlog_wait kind)
{
  put(thread, GRAPHLOG_WAIT_END, task.thread, task.number, kind);
}

struct name new_join(uint32_t thread)
{
  return (struct name){thread, ++made[thread].joins};
}

void on_join(uint32_t thread, enum graphlog_op op, struct name task, struct name join)
{
  put(thread, op, task.thread, task.number, join.thread, join.number);
}

/* The thread runs a task with an amount of work from its start to its end, and then continues another task. */
void run_task(uint32_t thread, struct name task, uint64_t work, struct name next)
{
  on_task(thread, GRAPHLOG_SWITCH, task);
  u(thread, work);
  on_task(thread, GRAPHLOG_TASK_END, task);
  on_task(thread, GRAPHLOG_SWITCH, next);
}

void barrier(uint32_t threads, const struct name *team)
{
  for (uint32_t i = 0; i < threads; i++)
    wait_begin(team[i].thread, team[i], GRAPHLOG_BARRIER);
  for (uint32_t i = 0; i < threads; i++)
    wait_end(team[i].thread, team[i], GRAPHLOG_BARRIER);
}

/* Begins a region of threads first, first + 1, …, which the first one creates. */
void fork_team(uint32_t first, uint32_t threads, struct name *team)
{
  struct name in = region(first, PARALLEL);
  for (uint32_t i = 0; i < threads; i++)
    team[i] = implicit(first + i, in, threads);
}

void begin_team(uint32_t threads, struct name *team)
{
  begin();
  implicit(1, none, 1);
  fork_team(1, threads, team);
}

void join_team(uint32_t threads, const struct name *team)
{
  barrier(threads, team);
  for (uint32_t i = threads; i-- > 0;)
    on_task(team[i].thread, GRAPHLOG_IMPLICIT_END, team[i]);
  put(team[0].thread, GRAPHLOG_REGION_END, PARALLEL);
}

/* ---- replay ---- */

struct problems problems;
static struct replay_result last; /* whose arrays the caller reads */
struct attribution attribution;

void save(enum compose_form form)
{
  log_compose(&log_reader_log, form, &compose);
  snprintf(measurement, sizeof measurement, "/tmp/hpcrun-lite-replay-%d.hpcrun", (int)getpid());
  snprintf(path, sizeof path, "/tmp/hpcrun-lite-replay-%d.graph", (int)getpid());
  assert_true(compose_write(&compose, path));
}

/* Replays the saved log; returns false if a damaged file yields nothing. */
bool replay_file(struct replay_request *request, struct replay_result *result)
{
  struct log_reader *streams = log_reader_open(measurement, &problems);
  replay_result_release(&last);
  request->directives = ROWS;
  request->attribution = &attribution;
  if (!streams)
    return false;
  assert_int_equal(replay_log(request, streams, &last), 0);
  *result = last;
  log_reader_close(streams);
  return true;
}

struct replay_result ask(struct replay_request request)
{
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_int_equal(result.lost.invalid, 0);
  assert_int_equal(result.lost.joins + result.lost.tasks + result.lost.constructs + result.lost_contributions, 0);
  if (problems.count)
    fail_msg("%s", problems.lines[0]);
  return result;
}

struct replay_result measured(void)
{
  return ask((struct replay_request){.burdened = true});
}

int end(void **state)
{
  (void)state;
  replay_result_release(&last);
  attribution_release(&attribution);
  problems_release(&problems);
  unlink(path);
  return 0;
}

void expect(uint64_t work, double span)
{
  static const enum compose_form forms[] = {COMPOSE_PACKED, COMPOSE_LIVE, COMPOSE_ZSTD};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    save(forms[i]);
    struct replay_result result = measured();
    assert_int_equal(result.work, work);
    if (result.span != span)
      fail_msg("span %g instead of %g", result.span, span);
  }
}

void expect_row(enum row row, uint64_t instances, uint64_t work, double span)
{
  struct replay_result result = measured();
  const struct instances_total *found = &result.directives[row];
  assert_int_equal(found->instances, instances);
  assert_true(found->work.at[0] == (double)work);
  if (found->span.at[0] != span)
    fail_msg("row %d: span %g instead of %g", row, found->span.at[0], span);
}

const struct name none;

void chunks(uint32_t threads, const struct name *team, uint32_t count, uint64_t (*work)(uint32_t))
{
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP, LOOP, (int)count);
  for (uint32_t i = 0; i < count; i++) {
    put(team[i % threads].thread, GRAPHLOG_CHUNK, (int)i, 1);
    u(team[i % threads].thread, work(i));
  }
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP_END);
}

uint64_t growing(uint32_t i)
{
  return i + 1;
}

uint64_t ten(uint32_t i)
{
  (void)i;
  return 10;
}

void loop_program(uint32_t threads)
{
  struct name team[COMPOSE_THREADS];
  begin();
  struct name first = implicit(1, none, 1);
  u(1, 10);
  fork_team(1, threads, team);
  chunks(threads, team, 16, growing);
  join_team(threads, team);
  u(1, 10);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
}

double by_row[REPLAY_SCENARIOS][ROWS];
double by_part[REPLAY_SCENARIOS][64];

struct replay_request scenarios(uint32_t count)
{
  struct replay_request request = {.scenarios_count = count};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < ROWS; j++)
      by_row[i][j] = 1;
    for (uint32_t j = 0; j < 64; j++)
      by_part[i][j] = 1;
    request.scenarios[i] = (struct replay_scenario){by_row[i], by_part[i]};
  }
  return request;
}
