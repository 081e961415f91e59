/* RT: the times of constructs: to which record and column each interval goes. */
#include "hpcrun-lite/rt/construct/construct_tasks.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "tests/support/unit.h"

enum {
  PARALLEL = FORMAT_DIRECTIVE_PARALLEL,
  LOOP = FORMAT_DIRECTIVE_FOR,
  SECTIONS = FORMAT_DIRECTIVE_SECTIONS,
  SINGLE = FORMAT_DIRECTIVE_SINGLE,
  BARRIER = FORMAT_DIRECTIVE_BARRIER,
  TASKWAIT = FORMAT_DIRECTIVE_TASKWAIT,
  GROUP = FORMAT_DIRECTIVE_TASKGROUP,
  CRITICAL = FORMAT_DIRECTIVE_CRITICAL,
  LOCK = FORMAT_DIRECTIVE_LOCK,
  TASK = FORMAT_DIRECTIVE_TASK,
  TASKLOOP = FORMAT_DIRECTIVE_TASKLOOP,
  EXEC = FORMAT_CONSTRUCT_TASK_EXEC
};
enum { ENTER = FORMAT_TIME_ENTER, BODY = FORMAT_TIME_BODY, WAIT = FORMAT_TIME_WAIT, EXIT = FORMAT_TIME_EXIT };

static struct measured_thread states[2];
static struct thread_state *const one = (struct thread_state *)&states[0];
static struct thread_state *const two = (struct thread_state *)&states[1];
static struct format_thread records[2];
static char initial, own, others, first, second; /* data words of tasks */

static void begin(struct thread_state *t, uint32_t index, bool worker)
{
  memset(t, 0, sizeof(struct measured_thread));
  t->index = index;
  t->worker = worker;
  t->record = &records[index - 1];
  construct_init(t);
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  memset(records, 0, sizeof records);
  begin(one, 1, false);
  begin(two, 2, true);
  construct_initial(one, &initial);
  return 0;
}

/* The only record of a construct with that directive below that parent. */
static const struct format_construct *record_of(const struct thread_state *t, uint32_t kind, uint32_t directive)
{
  const struct format_construct *found = NULL;
  for (uint32_t i = 1; i < construct_of(t)->records.count; i++) {
    const struct format_construct *at = table_at(&construct_of(t)->records, i);
    if (at->kind != kind || at->directive != directive)
      continue;
    assert_null(found);
    found = at;
  }
  assert_non_null(found);
  return found;
}

static const struct format_construct *parent_of(const struct thread_state *t, const struct format_construct *at)
{
  return table_at(&construct_of(t)->records, at->parent);
}

static void assert_times(const struct format_construct *at, uint64_t enter, uint64_t body, uint64_t wait, uint64_t exit)
{
  assert_int_equal(at->ticks[ENTER], enter);
  assert_int_equal(at->ticks[BODY], body);
  assert_int_equal(at->ticks[WAIT], wait);
  assert_int_equal(at->ticks[EXIT], exit);
}

/* All ticks but those in which locks were held: what the thread has lived. */
static uint64_t lived(const struct thread_state *t)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < construct_of(t)->records.count; i++) {
    const struct format_construct *at = table_at(&construct_of(t)->records, i);
    for (unsigned column = 0; column < FORMAT_TIMES; column++)
      sum += at->kind == LOCK && column == BODY ? 0 : at->ticks[column];
  }
  return sum;
}

static void region(uint64_t from)
{
  construct_region_begin(one, PARALLEL, 1, (struct construct_part){0}, false, from);
  construct_region_body(one, &own, from + 2);
}

static void a_region_has_four_parts_in_both_threads(void **state)
{
  (void)state;
  region(10);
  construct_join(two, PARALLEL, 1, construct_region_record(one), (struct construct_part){0}, &others, 10, 15);
  construct_wait_begin(two, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 20);
  construct_wait_begin(one, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 30);
  construct_wait_end(one, 32);
  construct_part(one, true, 33);
  construct_region_end(one, 36);
  construct_of(two)->region_left = 32;
  construct_of(two)->region_end = 36;
  construct_of(two)->waited_runtime = 2;
  construct_part(two, false, 100);
  assert_times(record_of(one, PARALLEL, 1), 2, 18, 2, 4);
  const struct format_construct *part = record_of(two, PARALLEL, 1);
  assert_times(part, 5, 5, 12, 4);
  assert_int_equal(part->wait_own, 2);
  assert_int_equal(part->flags, FORMAT_CONSTRUCT_LINK);
  assert_int_equal(part->owner, 1);
  assert_int_equal(part->link, 1);
  construct_join(two, PARALLEL, 1, construct_region_record(one), (struct construct_part){0}, &others, 90, 100);
  assert_int_equal(lived(one), 36);
  assert_int_equal(lived(two), 100);
}

static void a_worker_that_leaves_a_region_before_its_end_waits_no_longer(void **state)
{
  (void)state;
  region(10);
  construct_join(two, PARALLEL, 1, construct_region_record(one), (struct construct_part){0}, &others, 10, 15);
  construct_wait_begin(two, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 20);
  construct_wait_end(two, 30);
  trace_of(two)->states = true;
  construct_part(two, false, 47);
  assert_int_equal(trace_of(two)->own, 17);
  assert_times(record_of(two, PARALLEL, 1), 5, 5, 10, 17);
}

static void an_end_that_is_not_known_is_counted(void **state)
{
  (void)state;
  region(10);
  construct_join(two, PARALLEL, 1, construct_region_record(one), (struct construct_part){0}, &others, 10, 15);
  construct_wait_begin(two, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 20);
  construct_part(two, false, 100);
  assert_times(record_of(two, PARALLEL, 1), 5, 5, 0, 0);
  assert_int_equal(record_of(two, PARALLEL, 1)->unended, 1);
}

static void tasks_in_a_barrier_are_no_waiting(void **state)
{
  (void)state;
  uint64_t ran;
  region(0);
  construct_task_created(one, &first, 2, 0, false, 5);
  construct_wait_begin(one, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 10);
  construct_task_begin(one, NULL, &first, 2, true, false, 0, 13);
  assert_true(construct_task_leave(one, &own, true, &ran, 20));
  construct_wait_end(one, 21);
  assert_int_equal(ran, 7);
  assert_times(record_of(one, PARALLEL, 1), 2, 8, 4, 0);
  const struct format_construct *exec = record_of(one, EXEC, 2);
  assert_times(exec, 0, 7, 0, 0);
  assert_int_equal(exec->flags, FORMAT_CONSTRUCT_IN_WAIT);
  const struct format_tasks *tasks = table_at(&construct_of(one)->tasks, 0);
  assert_int_equal(tasks->created, 1);
  assert_int_equal(tasks->started_at - tasks->created_at, 8);
  assert_int_equal(tasks->ended, 1);
  assert_int_equal(tasks->histogram[7], 1);
}

/* It waits on while it obtains memory for the task. */
static void a_task_may_begin_late(void **state)
{
  (void)state;
  uint64_t ran;
  region(0);
  construct_task_created(one, &first, 2, 0, false, 5);
  construct_wait_begin(one, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 10);
  construct_task_begin(one, NULL, &first, 2, true, false, 0, 13);
  construct_task_delayed(one, true, 17);
  assert_true(construct_task_leave(one, &own, true, &ran, 20));
  construct_task_delayed(one, true, 20); /* it runs no task */
  construct_wait_end(one, 21);
  assert_int_equal(ran, 3);
  assert_times(record_of(one, PARALLEL, 1), 2, 8, 8, 0);
  assert_times(record_of(one, EXEC, 2), 0, 3, 0, 0);
  assert_int_equal(((const struct format_tasks *)table_at(&construct_of(one)->tasks, 0))->started_at, 17);
}

static void a_task_at_once_is_below_its_creation(void **state)
{
  (void)state;
  uint64_t ran;
  region(0);
  construct_task_created(one, &first, 2, ompt_task_undeferred, false, 5);
  construct_task_begin(one, NULL, &first, 2, true, false, 0, 5);
  assert_true(construct_task_leave(one, &own, true, &ran, 9));
  assert_ptr_equal(parent_of(one, record_of(one, EXEC, 2)), record_of(one, TASK, 2));
  assert_int_equal(record_of(one, EXEC, 2)->flags, 0);
  assert_int_equal(((const struct format_tasks *)table_at(&construct_of(one)->tasks, 0))->undeferred, 1);
}

/* A task that waits in a taskwait runs a child of its own construct: recursion has one record. */
static void recursion_is_folded(void **state)
{
  (void)state;
  uint64_t ran;
  region(0);
  construct_wait_begin(one, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 10);
  construct_task_begin(one, NULL, &first, 2, true, false, 0, 10);
  construct_wait_begin(one, CONSTRUCT_WAIT_OWN, TASKWAIT, 3, NULL, 12);
  construct_task_begin(one, NULL, &second, 2, true, true, 0, 15);
  assert_true(construct_task_leave(one, &first, true, &ran, 19));
  assert_int_equal(ran, 4);
  construct_wait_end(one, 20);
  assert_true(construct_task_leave(one, &own, true, &ran, 26));
  assert_int_equal(ran, 8); /* neither waiting nor the other task */
  assert_int_equal(record_of(one, EXEC, 2)->count, 2);
  assert_times(record_of(one, EXEC, 2), 0, 12, 0, 0);
  assert_times(record_of(one, TASKWAIT, 3), 0, 0, 4, 0);
  const struct format_tasks *tasks = table_at(&construct_of(one)->tasks, 0);
  assert_int_equal(tasks->elsewhere, 1);
  assert_int_equal(tasks->suspended, 1);
  assert_int_equal(tasks->shortest, 4);
  assert_int_equal(tasks->longest, 8);
  assert_int_equal(lived(one), 26);
}

/* Thread one begins an untied task, and leaves it; thread two goes on with it. */
static void an_untied_task_moves_on(void **state)
{
  (void)state;
  uint64_t ran;
  region(0);
  construct_join(two, PARALLEL, 1, construct_region_record(one), (struct construct_part){0}, &others, 0, 2);
  construct_wait_begin(one, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 10);
  construct_wait_begin(two, CONSTRUCT_WAIT_REGION, BARRIER, 0, NULL, 10);
  construct_task_begin(one, NULL, &first, 2, true, false, 0, 10);
  assert_true(construct_task_leave(one, &own, false, &ran, 13));
  assert_int_equal(ran, 3);
  assert_false(construct_task_leave(two, &first, false, &ran, 20)); /* it is not in this stack */
  construct_task_begin(two, NULL, &first, 2, false, true, 3, 20);
  assert_true(construct_task_leave(two, &others, true, &ran, 25));
  assert_int_equal(ran, 8);
  assert_times(record_of(one, EXEC, 2), 0, 3, 0, 0);
  assert_times(record_of(two, EXEC, 2), 0, 5, 0, 0);
  assert_int_equal(record_of(one, EXEC, 2)->count + record_of(two, EXEC, 2)->count, 1);
}

static void the_barrier_after_a_construct_belongs_to_it(void **state)
{
  (void)state;
  region(0);
  construct_work_begin(one, LOOP, 2, 5);
  construct_work_end(one, LOOP, 9);
  assert_true(construct_wait_is_known(one, CONSTRUCT_WAIT_WORKSHARING, NULL, 10));
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 10);
  construct_of(one)->waited_runtime = 1;
  construct_wait_end(one, 14);
  assert_times(record_of(one, LOOP, 2), 0, 4, 4, 0);
  assert_int_equal(record_of(one, LOOP, 2)->wait_own, 1);
  construct_wait_begin(one, CONSTRUCT_WAIT_OWN, BARRIER, 3, NULL, 15);
  construct_wait_end(one, 16);
  assert_times(record_of(one, BARRIER, 3), 0, 0, 1, 0);
  assert_int_equal(record_of(one, BARRIER, 3)->count, 1);
}

/* Copyprivate has two barriers at one address; the one of a loop without iterations is at another one-> */
static void a_barrier_elsewhere_belongs_to_no_construct(void **state)
{
  (void)state;
  const void *here = (void *)0x1000, *there = (void *)0x2000;
  region(0);
  construct_single_other(one, 2, 5);
  for (uint64_t now = 5; now < 9; now += 2) {
    construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 3, here, now);
    construct_wait_end(one, now + 1);
  }
  assert_false(construct_wait_is_known(one, CONSTRUCT_WAIT_WORKSHARING, there, 10));
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 3, there, 10);
  construct_wait_end(one, 14);
  assert_times(record_of(one, SINGLE, 2), 0, 0, 2, 0);
  assert_times(record_of(one, BARRIER, 3), 0, 0, 4, 0);
  assert_int_equal(record_of(one, BARRIER, 3)->count, 1);
}

static void a_barrier_without_an_address_is_not_counted(void **state)
{
  (void)state;
  region(0);
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 3, NULL, 5);
  construct_wait_end(one, 9);
  assert_times(record_of(one, BARRIER, 3), 0, 0, 4, 0);
  assert_int_equal(record_of(one, BARRIER, 3)->count, 0);
}

/* It is counted when the task is created. */
static void a_task_waits_for_its_dependences(void **state)
{
  (void)state;
  region(0);
  construct_wait_begin(one, CONSTRUCT_WAIT_OWN, TASK, 3, (void *)0x1000, 5);
  construct_wait_end(one, 9);
  assert_times(record_of(one, TASK, 3), 0, 0, 4, 0);
  assert_int_equal(record_of(one, TASK, 3)->count, 0);
}

/* A task that goes on in another thread has the same taskgroups, which count once. */
static void taskgroups_go_on_with_their_task(void **state)
{
  (void)state;
  region(0);
  construct_group_reopen(one, GROUP, 2);
  construct_group_reopen(one, TASKLOOP, 3);
  construct_wait_begin(one, CONSTRUCT_WAIT_GROUP, SINGLE, 0, NULL, 8);
  construct_wait_end(one, 12);
  construct_group_end(one, 12);
  construct_wait_begin(one, CONSTRUCT_WAIT_GROUP, SINGLE, 0, NULL, 13);
  construct_wait_end(one, 15);
  construct_group_end(one, 15);
  assert_int_equal(record_of(one, TASKLOOP, 3)->ticks[WAIT], 4);
  assert_int_equal(record_of(one, GROUP, 2)->ticks[WAIT], 2);
  assert_int_equal(record_of(one, TASKLOOP, 3)->count + record_of(one, GROUP, 2)->count, 0);
}

/* GCC's code announces no end of a single construct, and cancelled loops have none. */
static void the_next_barrier_ends_a_construct(void **state)
{
  (void)state;
  region(0);
  construct_work_begin(one, SINGLE, 2, 5);
  assert_true(construct_wait_is_known(one, CONSTRUCT_WAIT_WORKSHARING, NULL, 9));
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 9);
  construct_wait_end(one, 10);
  assert_times(record_of(one, SINGLE, 2), 0, 4, 1, 0);
  construct_single_other(one, 2, 12);
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 12);
  construct_wait_end(one, 20);
  assert_times(record_of(one, SINGLE, 2), 0, 4, 9, 0);
  assert_int_equal(record_of(one, SINGLE, 2)->count, 2);
  assert_int_equal(record_of(one, SINGLE, 2)->chosen, 1);
}

static void threads_without_a_section_wait_for_others(void **state)
{
  (void)state;
  struct rt_gomp_task task = {0};
  rt_gomp_task = &task;
  region(0);
  for (int executed = 0; executed < 2; executed++) {
    construct_work_begin(one, SECTIONS, 2, 10);
    if (executed)
      construct_sections(one, 1);
    construct_work_end(one, SECTIONS, 10);
    construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 10);
    construct_wait_end(one, executed ? 30 : 15);
  }
  const struct format_construct *sections = record_of(one, SECTIONS, 2);
  assert_int_equal(sections->ticks[WAIT], 20);
  rt_gomp_task = NULL;
  assert_int_equal(sections->wait_spare, 5);
  assert_int_equal(sections->chosen, 1);
}

/* As libomp does: once for each thread. */
static void sections_that_are_announced_together(void **state)
{
  (void)state;
  region(0);
  for (uint64_t executed = 0; executed < 4; executed += 3) {
    construct_work_begin(one, SECTIONS, 2, 10);
    construct_sections(one, executed);
    construct_work_end(one, SECTIONS, 10);
    construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 10);
    construct_wait_end(one, executed ? 30 : 15);
  }
  const struct format_construct *sections = record_of(one, SECTIONS, 2);
  assert_int_equal(sections->wait_spare, 5);
  assert_int_equal(sections->chosen, 3);
  construct_sections(one, 2); /* in no sections */
  assert_int_equal(sections->chosen, 3);
}

static void the_longest_chunk_is_kept_without_its_waits(void **state)
{
  (void)state;
  region(0);
  construct_work_begin(one, LOOP, 2, 10);
  construct_chunk_begin(one, construct_open_loop(one), 0, 4, 10);
  construct_chunk_begin(one, construct_open_loop(one), 4, 3, 18); /* 7 ticks, and 5 in which it waits for a lock */
  construct_acquire(one, 20);
  construct_acquired(one, CRITICAL, 3, 77, 25);
  construct_released(one, CRITICAL, 77, 26);
  construct_chunk_begin(one, construct_open_loop(one), 8, 2, 30);
  construct_work_end(one, LOOP, 36);
  construct_wait_begin(one, CONSTRUCT_WAIT_WORKSHARING, BARRIER, 0, NULL, 36);
  construct_wait_end(one, 90);
  const struct format_construct *loop = record_of(one, LOOP, 2);
  assert_int_equal(loop->longest, 8);
  assert_int_equal(loop->longest_first, 0);
  assert_int_equal(loop->longest_iterations, 4);
  assert_int_equal(loop->chunk_least, 2);
  assert_int_equal(loop->chunk_most, 4);
}

static void a_chunk_that_others_follow_unseen_has_no_time(void **state)
{
  (void)state;
  region(0);
  construct_work_begin(one, LOOP, 2, 10);
  construct_schedule(one, FORMAT_SCHEDULE_STATIC, 5, true);
  construct_chunk_begin(one, construct_open_loop(one), 0, 5, 10);
  construct_work_end(one, LOOP, 36);
  const struct format_construct *loop = record_of(one, LOOP, 2);
  assert_int_equal(loop->longest_iterations, 0);
  assert_int_equal(loop->chunk_most, 5);
  assert_int_equal(loop->schedule, FORMAT_SCHEDULE_STATIC);
  assert_int_equal(loop->chunk_size, 5);
}

static void schedules_that_differ_are_mixed(void **state)
{
  (void)state;
  static const struct {
    enum format_schedule schedule;
    uint64_t size;
  } loops[] = {{FORMAT_SCHEDULE_DYNAMIC, 4},
               {FORMAT_SCHEDULE_UNKNOWN, 0},
               {FORMAT_SCHEDULE_DYNAMIC, 8},
               {FORMAT_SCHEDULE_GUIDED, 8},
               {FORMAT_SCHEDULE_DYNAMIC, 4}};
  static const struct {
    enum format_schedule schedule;
    uint64_t size;
  } known[] = {{FORMAT_SCHEDULE_DYNAMIC, 4},
               {FORMAT_SCHEDULE_DYNAMIC, 4},
               {FORMAT_SCHEDULE_DYNAMIC, FORMAT_CHUNKS_DIFFER},
               {FORMAT_SCHEDULE_MIXED, FORMAT_CHUNKS_DIFFER},
               {FORMAT_SCHEDULE_MIXED, FORMAT_CHUNKS_DIFFER}};
  region(0);
  for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
    construct_work_begin(one, LOOP, 2, 10);
    construct_schedule(one, loops[i].schedule, loops[i].size, false);
    construct_work_end(one, LOOP, 10);
    const struct format_construct *loop = record_of(one, LOOP, 2);
    assert_int_equal(loop->schedule, known[i].schedule);
    assert_int_equal(loop->chunk_size, known[i].size);
  }
}

static void a_taskgroup_waits_at_its_end(void **state)
{
  (void)state;
  region(0);
  construct_group_begin(one, 2, 5);
  construct_wait_begin(one, CONSTRUCT_WAIT_GROUP, SINGLE, 0, NULL, 8);
  construct_wait_end(one, 12);
  construct_group_end(one, 13);
  construct_group_end(one, 14); /* there is none */
  assert_times(record_of(one, GROUP, 2), 0, 4, 4, 0);
  construct_region_end(one, 15);
  assert_times(record_of(one, PARALLEL, 1), 2, 5, 0, 0);
}

/* A taskloop has a taskgroup, which the runtime announces first.  One in which a task was created before is apart. */
static void a_taskgroup_may_be_that_of_a_taskloop(void **state)
{
  (void)state;
  region(0);
  construct_group_begin(one, 2, 5);
  construct_taskloop_begin(one, 3, construct_new_group(one), 6);
  construct_taskloop_end(one, 9);
  construct_wait_begin(one, CONSTRUCT_WAIT_GROUP, SINGLE, 0, NULL, 10);
  construct_wait_end(one, 14);
  construct_group_end(one, 15);
  assert_times(record_of(one, TASKLOOP, 3), 0, 6, 4, 0);
  assert_times(record_of(one, GROUP, 2), 0, 0, 0, 0);
  assert_int_equal(record_of(one, GROUP, 2)->count, 0);
  construct_group_begin(one, 2, 20);
  construct_task_created(one, &first, 4, 0, false, 20);
  construct_taskloop_begin(one, 3, construct_new_group(one), 22);
  construct_taskloop_end(one, 25);
  construct_group_end(one, 26);
  assert_int_equal(record_of(one, GROUP, 2)->count, 1);
  assert_int_equal(record_of(one, GROUP, 2)->ticks[BODY], 3);
  construct_region_end(one, 30);
  assert_int_equal(lived(one), 30);
}

static void locks_are_held_across_constructs(void **state)
{
  (void)state;
  region(0);
  construct_acquire(one, 10);
  construct_acquired(one, LOCK, 2, 0x100, 14);
  construct_acquired(one, LOCK, 3, 0x200, 20);
  construct_released(one, LOCK, 0x100, 30);
  construct_acquired(one, CRITICAL, 4, 0x300, 32);
  construct_released(one, CRITICAL, 0x300, 35);
  construct_released(one, LOCK, 0x200, 40);
  construct_region_end(one, 41);
  assert_times(record_of(one, LOCK, 2), 4, 16, 0, 0);
  assert_times(record_of(one, LOCK, 3), 0, 20, 0, 0);
  assert_times(record_of(one, CRITICAL, 4), 0, 3, 0, 0);
  assert_ptr_equal(parent_of(one, record_of(one, CRITICAL, 4)), record_of(one, PARALLEL, 1));
  assert_int_equal(lived(one), 41);
}

/* The tool's work for a lock in a critical construct belongs to the construct's body. */
static void a_late_begin_is_that_of_the_last_instance(void **state)
{
  (void)state;
  region(0);
  construct_acquired(one, CRITICAL, 2, 0x100, 10);
  construct_acquired_late(one, CRITICAL, 0x100, 13);
  construct_acquired(one, LOCK, 3, 0x200, 20);
  construct_acquired_late(one, LOCK, 0x200, 24);
  construct_released(one, LOCK, 0x200, 30);
  construct_released(one, CRITICAL, 0x100, 35);
  construct_region_end(one, 36);
  assert_times(record_of(one, CRITICAL, 2), 3, 22, 0, 0);
  assert_times(record_of(one, LOCK, 3), 0, 6, 0, 0);
  assert_int_equal(lived(one), 36);
}

static void nothing_is_added_while_measuring_is_paused(void **state)
{
  (void)state;
  region(0);
  construct_pause(one, 10);
  rt_pause_at(RT_PAUSED_PROGRAM, true, 10);
  construct_begin(one, GROUP, 2, 20);
  construct_pause(one, 30);
  rt_pause_at(RT_PAUSED_PROGRAM, false, 30);
  construct_end(one, GROUP, 32);
  assert_int_equal(lived(one), 12);
  assert_int_equal(record_of(one, GROUP, 2)->count, 1);
  atomic_store(&rt.pauses, 0);
}

static void a_pause_within_an_interval_is_left_out(void **state)
{
  (void)state;
  region(0);
  rt_pause_at(RT_PAUSED_PROGRAM, true, 20);
  rt_pause_at(RT_PAUSED_TIME_FILTER, true, 25);
  rt_pause_at(RT_PAUSED_PROGRAM, false, 28); /* the other reason is left */
  rt_pause_at(RT_PAUSED_TIME_FILTER, false, 30);
  rt_pause_at(RT_PAUSED_PROGRAM, true, 41);
  construct_begin(one, GROUP, 2, 45);
  assert_int_equal(lived(one), 31);
  construct_end(one, GROUP, 50);
  assert_int_equal(lived(one), 31);
  rt_pause_at(RT_PAUSED_PROGRAM, false, 60);
  construct_region_end(one, 70);
  assert_int_equal(lived(one), 41);
  atomic_store(&rt.pauses, 0);
}

static void a_pause_is_no_part_of_open_intervals_and_locks(void **state)
{
  (void)state;
  region(0);
  construct_acquire(one, 10);
  construct_acquired(one, LOCK, 6, 5, 10);
  rt_pause_at(RT_PAUSED_PROGRAM, true, 20);
  rt_pause_at(RT_PAUSED_PROGRAM, false, 50);
  assert_int_equal(construct_open_interval(one, 60).ticks, 20);
  construct_released(one, LOCK, 5, 60);
  assert_int_equal(record_of(one, LOCK, 6)->ticks[FORMAT_TIME_BODY], 20);
  atomic_store(&rt.pauses, 0);
}

static void many_pauses_within_an_interval_are_left_out(void **state)
{
  enum { PAUSES = 400 };
  (void)state;
  region(0);
  for (unsigned i = 1; i <= PAUSES; i++) {
    rt_pause_at(RT_PAUSED_PROGRAM, true, 10 * i);
    rt_pause_at(RT_PAUSED_PROGRAM, false, 10 * i + 3);
  }
  construct_region_end(one, 10 * PAUSES + 10);
  assert_int_equal(lived(one), 10 * PAUSES + 10 - 3 * PAUSES);
  atomic_store(&rt.pauses, 0);
}

static void deep_stacks_unwind(void **state)
{
  (void)state;
  enum { DEPTH = 1000 };
  static char tasks[DEPTH + 1];
  uint64_t ran;
  region(0);
  for (int i = 1; i <= DEPTH; i++)
    construct_task_begin(one, NULL, &tasks[i], 2, true, false, 0, (uint64_t)(10 + i));
  for (int i = DEPTH; i > 0; i--)
    assert_true(construct_task_leave(one, i > 1 ? (void *)&tasks[i - 1] : (void *)&own, true, &ran, 3000));
  assert_ptr_equal(construct_of(one)->top->at, record_of(one, PARALLEL, 1));
  assert_int_equal(record_of(one, EXEC, 2)->count, DEPTH);
  assert_int_equal(lived(one), 3000);
}

static void executions_without_a_record_are_not_counted(void **state)
{
  (void)state;
  enum { RECORDS = 1 << 16 };
  region(0);
  for (uint32_t directive = 2; directive < RECORDS + 100; directive++) {
    construct_begin(one, FORMAT_DIRECTIVE_USER_REGION, directive, directive);
    construct_end(one, FORMAT_DIRECTIVE_USER_REGION, directive + 1);
  }
  assert_int_equal(construct_of(one)->records.count, RECORDS);
  assert_int_equal(record_of(one, PARALLEL, 1)->count, 1);
  assert_int_equal(lived(one), RECORDS + 100);
}

int main(void)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_region_has_four_parts_in_both_threads, setup),
      cmocka_unit_test_setup(a_worker_that_leaves_a_region_before_its_end_waits_no_longer, setup),
      cmocka_unit_test_setup(an_end_that_is_not_known_is_counted, setup),
      cmocka_unit_test_setup(tasks_in_a_barrier_are_no_waiting, setup),
      cmocka_unit_test_setup(a_task_may_begin_late, setup),
      cmocka_unit_test_setup(a_task_at_once_is_below_its_creation, setup),
      cmocka_unit_test_setup(recursion_is_folded, setup),
      cmocka_unit_test_setup(an_untied_task_moves_on, setup),
      cmocka_unit_test_setup(the_barrier_after_a_construct_belongs_to_it, setup),
      cmocka_unit_test_setup(a_barrier_elsewhere_belongs_to_no_construct, setup),
      cmocka_unit_test_setup(taskgroups_go_on_with_their_task, setup),
      cmocka_unit_test_setup(a_task_waits_for_its_dependences, setup),
      cmocka_unit_test_setup(a_barrier_without_an_address_is_not_counted, setup),
      cmocka_unit_test_setup(the_next_barrier_ends_a_construct, setup),
      cmocka_unit_test_setup(threads_without_a_section_wait_for_others, setup),
      cmocka_unit_test_setup(sections_that_are_announced_together, setup),
      cmocka_unit_test_setup(a_taskgroup_waits_at_its_end, setup),
      cmocka_unit_test_setup(a_taskgroup_may_be_that_of_a_taskloop, setup),
      cmocka_unit_test_setup(locks_are_held_across_constructs, setup),
      cmocka_unit_test_setup(a_late_begin_is_that_of_the_last_instance, setup),
      cmocka_unit_test_setup(nothing_is_added_while_measuring_is_paused, setup),
      cmocka_unit_test_setup(a_pause_within_an_interval_is_left_out, setup),
      cmocka_unit_test_setup(many_pauses_within_an_interval_are_left_out, setup),
      cmocka_unit_test_setup(a_pause_is_no_part_of_open_intervals_and_locks, setup),
      cmocka_unit_test_setup(deep_stacks_unwind, setup),
      cmocka_unit_test_setup(the_longest_chunk_is_kept_without_its_waits, setup),
      cmocka_unit_test_setup(a_chunk_that_others_follow_unseen_has_no_time, setup),
      cmocka_unit_test_setup(schedules_that_differ_are_mixed, setup),
      cmocka_unit_test_setup(executions_without_a_record_are_not_counted, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
