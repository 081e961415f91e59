/* RT: wait sites: how intervals of waiting are split, and shares in them. */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/barrier.h"
#include "tests/unit/rt_threads.h"

enum { THREADS = 3, SEARCH = 2500, SHORT = 20000 };
static const uint64_t second = 2500000000; /* ticks */
static struct measured_thread threads[THREADS];

static struct thread_state *thread(unsigned i)
{
  return (struct thread_state *)&threads[i];
}
static struct format_thread records[THREADS];
static struct thread_state *const master = (struct thread_state *)&threads[0], *const worker =
                                                                                   (struct thread_state *)&threads[1];

/* Addresses in the program, which name sites. */
static const void *const region_code = (const void *)0x1200, *const barrier = (const void *)0x1300,
                         *const tasks = (const void *)0x1400, *const lock = (const void *)0x1500;

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 7;
  sampling_process.share_metric = 6;
  rt.epoch = 7;
  atomic_store(&rt.closed, true); /* no unwinds: the contexts of waits are not sought */
  memset(records, 0, sizeof records);
  region_start();
  modules_start("");
  for (uint32_t i = 0; i < THREADS; i++)
    rt_thread_init(thread(i), i + 1, &records[i]);
  worker->worker = true;
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  atomic_store(&rt.closed, false);
  return 0;
}

/* The master begins a region with another thread. */
static uint64_t fork_region(void)
{
  uint64_t handle = region_begin(master, 0);
  region_innermost(master)->team = 2;
  region_set_code(master, region_code);
  waiting_unpark(worker);
  sampling_of(worker)->base_region = handle;
  return handle;
}

/* The runtime tells a worker at the next fork that its wait, and its part of the region, are over. */
static void leave_region(void)
{
  waiting_end(worker);
  sampling_of(worker)->base_region = 0;
  waiting_park(worker);
  waiting_unpark(worker);
}

static void end_region(void)
{
  region_note_end(master, sampling_of(master)->barrier_left, rt_ticks(), 0);
  region_end(master);
}

/* The current wait of the thread began so many ticks ago. */
static void began_before(struct thread_state *t, uint64_t ticks)
{
  t->idle_since = rt_ticks() - ticks;
}

static const struct format_wait *site_at(const struct thread_state *t, uint32_t kind, const void *code)
{
  for (uint32_t i = 0; i < sampling_of(t)->waits.count; i++) {
    const struct format_wait *wait = table_at(&sampling_of(t)->waits, i);
    if (wait->kind == kind && wait->key == ((uint64_t)code << 3 | kind))
      return wait;
  }
  return NULL;
}

/* Some time passes between two readings of the counter: at most half a second, also where other programs run. */
enum { PASSED = 1250000000 };

static void assert_near(uint64_t ticks, uint64_t expected)
{
  assert_in_range(ticks, expected, expected + PASSED);
}

static void assert_split(const struct format_wait *wait, uint64_t idle, uint64_t runtime)
{
  assert_non_null(wait);
  assert_near(wait->idle, idle);
  assert_near(wait->runtime, runtime);
  assert_int_equal(wait->since, 0);
}

static void a_barrier_is_waiting_until_the_last_arrival(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  began_before(worker, 10 * second);
  region_team((uint32_t)handle)->last_idle[0] = rt_ticks() - 3 * second; /* the other thread's arrival */
  waiting_end(worker);
  assert_split(site_at(worker, FORMAT_WAIT_BARRIER, barrier), 7 * second, 3 * second);
  assert_near(worker->idle_ticks, 7 * second);
  /* the last thread to arrive does not wait */
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  began_before(master, 2 * second);
  region_team((uint32_t)handle)->last_idle[0] = master->idle_since;
  waiting_end(master);
  assert_split(site_at(master, FORMAT_WAIT_BARRIER, barrier), 0, 2 * second);
}

static void arrivals_are_noted_by_all_threads(void **state)
{
  (void)state;
  uint64_t handle = fork_region(), before = rt_ticks();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  uint64_t first = region_team((uint32_t)handle)->last_idle[0];
  assert_in_range(first, before, rt_ticks());
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  assert_true(region_team((uint32_t)handle)->last_idle[0] > first);
}

static uint64_t last_idle(uint64_t handle)
{
  const struct region_team *team = region_team((uint32_t)handle);
  return region_last_idle(team, (struct barrier_members){.left = team->members}, (uint32_t)handle, 0);
}

static void give_slots(void)
{
  barrier_start();
  assert_true(barrier_start_thread(master) && barrier_start_thread(worker));
}

/* The thread turned idle at its last barrier of that parity so many ticks ago. */
static void arrived_before(struct thread_state *t, unsigned parity, uint64_t ticks)
{
  span_of(t)->arrivals->at[parity].idle_since = rt_ticks() - ticks;
}

static void arrivals_are_noted_in_lines_of_the_thread(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  struct region_team *team = region_team((uint32_t)handle), before;
  give_slots();
  for (int i = 0; i < 2; i++) { /* both parities: from now on the team knows its threads */
    waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
    waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
    waiting_end(worker);
    waiting_end(master);
  }
  memcpy(&before, team, sizeof before);
  waiting_begin(worker, FORMAT_WAIT_BARRIER, tasks);
  began_before(worker, 10 * second);
  arrived_before(worker, 0, 10 * second);
  waiting_begin(master, FORMAT_WAIT_BARRIER, tasks);
  arrived_before(master, 0, 3 * second);
  waiting_end(master);
  waiting_begin(master, FORMAT_WAIT_BARRIER, tasks); /* the next one is apart */
  waiting_end(worker);
  assert_memory_equal(&before, team, sizeof before);
  assert_split(site_at(worker, FORMAT_WAIT_BARRIER, tasks), 7 * second, 3 * second);
  arrived_before(worker, 0, 2 * second);
  assert_near(rt_ticks() - last_idle(handle), 2 * second);
}

/* Its arrival in this region still counts there. */
static void a_thread_goes_on_to_another_team(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  give_slots();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  began_before(worker, 10 * second);
  arrived_before(worker, 0, 10 * second);
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  arrived_before(master, 0, 3 * second);
  waiting_end(master);
  uint64_t inner = region_begin(master, 0);
  waiting_unpark(master);
  waiting_begin(master, FORMAT_WAIT_BARRIER, tasks);
  assert_int_equal(span_of(master)->arrivals->at[0].idle_team, (uint32_t)inner);
  assert_int_equal(last_idle(inner), master->idle_since);
  assert_near(rt_ticks() - last_idle(handle), 3 * second);
  waiting_end(worker);
  assert_split(site_at(worker, FORMAT_WAIT_BARRIER, barrier), 7 * second, 3 * second);
}

static uint64_t last_at_end(uint64_t handle)
{
  struct region_end end;
  assert_true(region_find_end(handle, region_team((uint32_t)handle), &end));
  return end.last_idle;
}

/* Also in a region on the same record at whose end the master does not wait: what it found out before is forgotten. */
static void the_end_of_a_region_names_its_last_arrival(void **state)
{
  (void)state;
  uint64_t handle = fork_region(), last_region = handle;
  give_slots();
  waiting_unpark(master);
  waiting_begin(worker, FORMAT_WAIT_REGION_END, NULL);
  waiting_begin(master, FORMAT_WAIT_REGION_END, NULL);
  waiting_end(master);
  end_region();
  assert_int_equal(last_at_end(handle), master->idle_since);
  leave_region();
  assert_int_equal((uint32_t)(handle = fork_region()), (uint32_t)last_region);
  waiting_unpark(master);
  waiting_begin(worker, FORMAT_WAIT_REGION_END, NULL);
  sampling_of(master)->barriers = 1;
  end_region();
  assert_int_equal(last_at_end(handle), worker->idle_since);
}

/* The thread that arrived last is already at the next barrier: its arrival there does not count here. */
static void the_next_barrier_is_apart(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  began_before(worker, 10 * second);
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  region_team((uint32_t)handle)->last_idle[0] = rt_ticks() - 3 * second;
  waiting_end(master);
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  waiting_end(worker);
  assert_split(site_at(worker, FORMAT_WAIT_BARRIER, barrier), 7 * second, 3 * second);
}

/* A thread that is the master of an inner region is as far in the outer one afterwards as before. */
static void barriers_of_an_inner_region_are_apart(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  waiting_end(master);
  region_begin(master, 0);
  waiting_unpark(master);
  for (int i = 0; i < 4; i++) {
    waiting_begin(master, FORMAT_WAIT_BARRIER, tasks);
    waiting_end(master);
  }
  assert_int_equal(sampling_of(master)->barriers, 4);
  end_region();
  assert_int_equal(sampling_of(master)->barriers, 1);
}

/* The worker arrives 10 s ago, the master 8 s ago; the master leaves 7 s ago, and ends the region 5 s ago. */
static void the_end_of_a_region_is_split_in_four(void **state)
{
  (void)state;
  uint64_t handle = fork_region(), now = rt_ticks();
  struct region_team *team = region_team((uint32_t)handle);
  waiting_begin(worker, FORMAT_WAIT_BARRIER, NULL); /* the runtime names no address: the region's end */
  worker->idle_since = now - 10 * second;
  team->last_idle[0] = now - 8 * second;
  sampling_of(master)->barriers = 1; /* the master arrived at it, too */
  region_note_end(master, now - 7 * second, rt_ticks(), 0);
  team->ends[(handle >> 32) % REGION_ENDS].end = now - 5 * second;
  region_end(master);
  leave_region();
  assert_split(site_at(worker, FORMAT_WAIT_REGION_END, region_code), 4 * second, second);
  assert_near(site_at(worker, FORMAT_WAIT_PARKED, NULL)->idle, 5 * second);
  assert_near(worker->idle_ticks, 9 * second); /* without the runtime's second */
  assert_false(worker->activity.idle);
}

/* In a region with tasks libomp ends a worker's wait before the master ends the region. */
static void a_worker_may_leave_before_the_region_ends(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, region_code);
  began_before(worker, 10 * second);
  waiting_begin(master, FORMAT_WAIT_REGION_END, NULL); /* the last one to arrive */
  waiting_end(worker);
  assert_split(site_at(worker, FORMAT_WAIT_REGION_END, region_code), 10 * second, 0);
}

/* CTL reads the waits at the end of the process, while threads go on. */
static void after_the_end_nothing_is_counted(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  waiting_lock_begin(master, lock);
  atomic_store(&rt.waits, RT_WAITS_ENDED);
  waiting_end(worker);
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  waiting_task(worker, false);
  waiting_park(worker);
  waiting_unpark(worker);
  waiting_lock_end(master);
  waiting_begin(master, FORMAT_WAIT_BARRIER, barrier);
  waiting_lock_begin(worker, lock);
  atomic_store(&rt.waits, 0);
  assert_true(worker->activity.idle && !worker->activity.lockwait);
  assert_true(master->activity.lockwait && !master->activity.idle);
  assert_int_equal(sampling_of(worker)->waiting->kind, FORMAT_WAIT_BARRIER);
  assert_true(sampling_of(worker)->waiting->since);
  for (uint32_t i = 0; i < sampling_of(worker)->waits.count; i++) {
    const struct format_wait *wait = table_at(&sampling_of(worker)->waits, i);
    assert_true(wait->kind == FORMAT_WAIT_PARKED || !wait->count);
  }
}

static void a_region_that_has_not_ended_parks_nobody(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, region_code);
  began_before(worker, 10 * second);
  region_team((uint32_t)handle)->last_idle[0] = rt_ticks() - 4 * second;
  struct waiting_interval open = waiting_open_interval(worker, rt_ticks());
  assert_near(open.idle, 6 * second);
  assert_near(open.runtime, 4 * second);
  assert_int_equal(open.parked, 0);
  assert_int_equal(sampling_of(worker)->waiting->idle, 0); /* nothing was changed */
}

/* Later instances of the region have replaced what was noted about its end. */
static void an_end_that_is_forgotten_counts_as_parked(void **state)
{
  (void)state;
  uint64_t handle = fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, region_code);
  began_before(worker, 6 * second);
  end_region();
  struct region_end end;
  assert_true(region_find_end(handle, region_team((uint32_t)handle), &end));
  for (int i = 0; i < REGION_ENDS; i++) {
    region_begin(master, 0);
    region_innermost(master)->team = 2;
    end_region();
  }
  assert_false(region_find_end(handle, region_team((uint32_t)handle), &end));
  leave_region();
  assert_near(site_at(worker, FORMAT_WAIT_PARKED, NULL)->idle, 6 * second);
  assert_split(site_at(worker, FORMAT_WAIT_REGION_END, region_code), 0, 0);
}

static void a_region_of_one_thread_has_no_noted_end(void **state)
{
  (void)state;
  uint64_t handle = region_begin(master, 0);
  struct region_end end;
  region_innermost(master)->team = 1;
  end_region();
  assert_false(region_find_end(handle, region_team((uint32_t)handle), &end));
  assert_null(region_team(0));
  assert_null(region_team((uint32_t)REGION_NO_RECORD));
}

static void the_search_for_a_task_is_the_runtimes(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  began_before(worker, 10 * second);
  waiting_task(worker, false);
  const struct format_wait *wait = site_at(worker, FORMAT_WAIT_TASKS, tasks);
  assert_near(wait->idle, 10 * second - SEARCH);
  assert_int_equal(wait->runtime, SEARCH);
  assert_false(worker->activity.idle);
  waiting_task(worker, true); /* the task ends, the wait goes on */
  assert_true(worker->activity.idle);
  worker->idle_since = rt_ticks();
  waiting_end(worker);
  assert_int_equal(wait->count, 2);
  assert_in_range(wait->runtime, SEARCH, 2 * SEARCH);
}

/* In a barrier, too, a thread that is given a task did not wait for the last arrival. */
static void a_task_in_a_barrier_ends_an_interval(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  began_before(worker, second);
  waiting_task(worker, false);
  assert_near(site_at(worker, FORMAT_WAIT_BARRIER, barrier)->idle, second - SEARCH);
}

/* A wait of SHORT ticks has ended, after `ended` other ones at its site. */
static void assert_search(enum format_wait_kind kind, const void *code, uint64_t ended)
{
  const struct format_wait *wait = site_at(worker, kind, code);
  assert_near(wait->idle, (ended + 1) * (uint64_t)(SHORT - SEARCH));
  assert_int_equal(wait->runtime, (ended + 1) * SEARCH);
  assert_int_equal(wait->count, ended + 1);
  assert_int_equal(wait->since, 0);
  assert_int_equal(construct_of(worker)->waited_runtime, SEARCH);
  assert_false(worker->activity.idle);
}

static void short_waits_for_tasks_are_split_likewise(void **state)
{
  (void)state;
  fork_region();
  uint64_t before = worker->idle_ticks;
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  began_before(worker, SHORT);
  waiting_task(worker, false);
  assert_search(FORMAT_WAIT_TASKS, tasks, 0);
  waiting_task(worker, true);
  began_before(worker, SHORT);
  waiting_end(worker);
  assert_search(FORMAT_WAIT_TASKS, tasks, 1);
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  began_before(worker, SHORT);
  waiting_task(worker, false);
  assert_search(FORMAT_WAIT_BARRIER, barrier, 0);
  assert_int_equal(worker->idle_ticks - before, site_at(worker, FORMAT_WAIT_TASKS, tasks)->idle +
                                                    site_at(worker, FORMAT_WAIT_BARRIER, barrier)->idle);
}

/* A task that runs in a taskwait waits itself, in a chain deeper than the array of open waits. */
static void nested_waits_count_once(void **state)
{
  (void)state;
  enum { DEEP = 40 };
  uint64_t code = 0x2000;
  for (unsigned i = 0; i < DEEP; i++) {
    waiting_begin(worker, FORMAT_WAIT_TASKS, (const void *)(code + i));
    began_before(worker, second);
    waiting_task(worker, false);
  }
  assert_int_equal(sampling_of(worker)->wait_depth, DEEP);
  for (unsigned i = DEEP; i-- > 0;) {
    waiting_task(worker, true);
    began_before(worker, second);
    waiting_end(worker);
  }
  assert_int_equal(sampling_of(worker)->wait_depth, 0);
  uint64_t all = 0;
  for (uint32_t i = 0; i < sampling_of(worker)->waits.count; i++)
    all += ((const struct format_wait *)table_at(&sampling_of(worker)->waits, i))->idle;
  assert_near(all, 2 * DEEP * (second - SEARCH));
  const struct format_wait *inner = site_at(worker, FORMAT_WAIT_TASKS, (const void *)(code + 5));
  assert_int_equal(inner->count, 2);
  assert_near(inner->idle, 2 * (second - SEARCH));
  waiting_end(worker); /* one too many does no harm */
  assert_int_equal(sampling_of(worker)->wait_depth, 0);
}

/* A wait inside a wait, without a task between them: the outer one stops meanwhile. */
static void a_wait_within_a_wait_ends_an_interval(void **state)
{
  (void)state;
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  began_before(worker, 3 * second);
  waiting_begin(worker, FORMAT_WAIT_TASKS, barrier);
  assert_true(worker->activity.idle);
  assert_near(site_at(worker, FORMAT_WAIT_TASKS, tasks)->idle, 3 * second - SEARCH);
  began_before(worker, second);
  waiting_end(worker);
  assert_near(site_at(worker, FORMAT_WAIT_TASKS, barrier)->idle, second - SEARCH);
}

static uint64_t acquire_for(uint64_t ticks)
{
  const struct format_wait *wait = site_at(worker, FORMAT_WAIT_LOCK, lock);
  uint64_t before = wait ? wait->idle : 0;
  waiting_lock_begin(worker, lock);
  worker->lock_since = rt_ticks() - ticks;
  waiting_lock_end(worker);
  return site_at(worker, FORMAT_WAIT_LOCK, lock)->idle - before;
}

/* The first acquisition takes long, because the lock is not free: then nothing is known of its cost, but its limit. */
static void the_fastest_acquisition_did_not_wait(void **state)
{
  (void)state;
  enum { COST_MOST = 5000 };
  assert_near(acquire_for(10 * second), 10 * second - COST_MOST);
  assert_int_equal(sampling_of(worker)->lock_cost, COST_MOST);
  assert_near(acquire_for(10), 0);
  assert_near(acquire_for(second), second - COST_MOST);
  sampling_of(worker)->lock_cost = second;
  assert_int_equal(acquire_for(2 * second), 0);
  assert_near(acquire_for(10 * second), 9 * second);
  const struct format_wait *wait = site_at(worker, FORMAT_WAIT_LOCK, lock);
  assert_int_equal(worker->lockwait_ticks, wait->idle);
  assert_near(wait->runtime, 3 * second);
  assert_int_equal(waiting_lock_end(worker), 0); /* not begun */
  assert_int_equal(wait->count, 5);
}

/* Where the clock goes in steps, some acquisitions seem to take no time.  One of several, since the thread may be
 * switched out. */
static void steps_of_the_clock_are_no_waits(void **state)
{
  (void)state;
  enum { TRIES = 1000, SHORT = 128 };
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < TRIES; i++)
    acquire_for(0);
  for (int i = 0; i < TRIES && least; i++) {
    uint64_t waited = acquire_for(SHORT);
    least = waited < least ? waited : least;
  }
  assert_int_equal(least, 0);
}

/* Measuring is paused for the second half of the waits. */
static void waits_are_without_pauses(void **state)
{
  (void)state;
  enum { SEARCH = 5000 }; /* more than the search for a task takes */
  uint64_t now = rt_ticks();
  sampling_of(worker)->lock_cost = 1;
  rt_pause_at(RT_PAUSED_PROGRAM, true, now - 5 * second);
  rt_pause_at(RT_PAUSED_PROGRAM, false, now);
  assert_near(acquire_for(10 * second), 5 * second - 1);
  assert_int_equal(worker->lockwait_ticks, site_at(worker, FORMAT_WAIT_LOCK, lock)->idle);
  fork_region();
  uint64_t before = worker->idle_ticks;
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  worker->idle_since = rt_ticks() - 10 * second;
  waiting_end(worker);
  assert_near(site_at(worker, FORMAT_WAIT_TASKS, tasks)->idle, 5 * second - SEARCH);
  assert_near(worker->idle_ticks - before, 5 * second - SEARCH);
  atomic_store(&rt.pauses, 0);
  atomic_store(&rt.waits, 0);
}

static void a_lock_within_a_barrier_is_apart(void **state)
{
  (void)state;
  fork_region();
  waiting_begin(worker, FORMAT_WAIT_BARRIER, barrier);
  waiting_lock_begin(worker, lock);
  assert_int_equal(waiting_lock_key(worker), (uint64_t)lock << 3 | FORMAT_WAIT_LOCK);
  waiting_in_tool(worker, 7);
  waiting_lock_end(worker);
  waiting_in_tool(worker, 5);
  assert_int_equal(site_at(worker, FORMAT_WAIT_LOCK, lock)->tool_ns, 7);
  assert_int_equal(site_at(worker, FORMAT_WAIT_BARRIER, barrier)->tool_ns, 5);
}

static void parked_workers_forget_open_waits(void **state)
{
  (void)state;
  waiting_begin(worker, FORMAT_WAIT_TASKS, tasks);
  waiting_task(worker, false);
  waiting_park(worker);
  assert_int_equal(sampling_of(worker)->wait_depth, 0);
  began_before(worker, second);
  struct waiting_interval open = waiting_open_interval(worker, rt_ticks());
  assert_near(open.idle, second);
  assert_ptr_equal(sampling_of(worker)->waiting, table_at(&sampling_of(worker)->waits, 0));
  waiting_unpark(worker);
  assert_near(site_at(worker, FORMAT_WAIT_PARKED, NULL)->idle, second);
  assert_int_equal(waiting_open_interval(worker, rt_ticks()).idle, 0);
}

/* Without room for another site, waits count at that of parked threads, and nothing is lost. */
static void sites_without_room_count_as_parked(void **state)
{
  (void)state;
  enum { MORE = 5000, MOST = 4096 };
  for (uint64_t i = 0; i < MORE; i++) {
    waiting_begin(worker, FORMAT_WAIT_TASKS, (const void *)(0x10000 + 16 * i));
    began_before(worker, SEARCH + 1000);
    waiting_end(worker);
  }
  assert_int_equal(sampling_of(worker)->waits.count, MOST);
  uint64_t count = 0;
  for (uint32_t i = 0; i < MOST; i++)
    count += ((const struct format_wait *)table_at(&sampling_of(worker)->waits, i))->count;
  assert_int_equal(count, MORE);
  assert_int_equal(((const struct format_wait *)table_at(&sampling_of(worker)->waits, 0))->count, MORE - (MOST - 1));
}

/* ---- shares ---- */

static uint64_t key_of(uint64_t code)
{
  return code << 3 | FORMAT_WAIT_BARRIER;
}

static uint64_t share_of(struct thread_state *t, uint32_t node, uint64_t key)
{
  uint32_t value = cct_node(t, node)->value;
  uint64_t sum = 0,
           next = value ? ((uint64_t *)table_at(&sampling_of(t)->values, value))[sampling_process.share_metric] : 0;
  for (unsigned left = 100; next && left; left--) {
    const struct format_share *share = table_at(&sampling_of(t)->shares, (uint32_t)next);
    if (((const struct format_wait *)table_at(&sampling_of(t)->waits, share->wait))->key == key)
      sum += share->ns;
    next = share->next;
  }
  return sum;
}

static uint32_t frame(struct thread_state *t, uint32_t parent, uint32_t offset)
{
  return cct_child(t, parent, (struct cct_key){FORMAT_KIND_FRAME, 1, offset});
}

static void shares_add_up_by_site(void **state)
{
  (void)state;
  uint32_t one = frame(worker, CCT_ROOT, 1), two = frame(worker, CCT_ROOT, 2);
  for (int i = 0; i < 10; i++) {
    assert_true(waiting_share(worker, one, key_of(0x10), 3));
    assert_true(waiting_share(worker, one, WAITING_PARKED, 4));
    assert_true(waiting_share(worker, two, key_of(0x10), 5));
  }
  assert_int_equal(share_of(worker, one, key_of(0x10)), 30);
  assert_int_equal(share_of(worker, one, WAITING_PARKED), 40);
  assert_int_equal(share_of(worker, two, key_of(0x10)), 50);
  assert_int_equal(sampling_of(worker)->shares.count, 1 + 3);
  const struct format_wait *parked = table_at(&sampling_of(worker)->waits, 0),
                           *other = table_at(&sampling_of(worker)->waits, 1);
  assert_int_equal(parked->key, WAITING_PARKED); /* always the first */
  assert_int_equal(parked->shared_ns, 40);
  assert_int_equal(other->shared_ns, 80);
}

static void follow_nothing(struct thread_state *t, uint32_t from, uint32_t to)
{
  (void)t, (void)from, (void)to;
}

/* root → a and root → b; b becomes a.  The record that is not needed any more is used again. */
static void shares_of_merged_nodes_add_up(void **state)
{
  (void)state;
  uint32_t a = frame(worker, CCT_ROOT, 1), b = frame(worker, CCT_ROOT, 2), c = frame(worker, CCT_ROOT, 3);
  waiting_share(worker, a, key_of(0x10), 1);
  waiting_share(worker, a, key_of(0x20), 2);
  waiting_share(worker, b, key_of(0x20), 4);
  waiting_share(worker, b, key_of(0x30), 8);
  uint32_t used = sampling_of(worker)->shares.count;
  cct_rekey(worker, b, (struct cct_key){FORMAT_KIND_FRAME, 1, 1}, follow_nothing);
  assert_int_equal(share_of(worker, a, key_of(0x10)), 1);
  assert_int_equal(share_of(worker, a, key_of(0x20)), 6);
  assert_int_equal(share_of(worker, a, key_of(0x30)), 8);
  waiting_share(worker, c, key_of(0x40), 16);
  assert_int_equal(sampling_of(worker)->shares.count, used);
  assert_int_equal(share_of(worker, c, key_of(0x40)), 16);
  assert_int_equal(share_of(worker, a, key_of(0x20)), 6);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_barrier_is_waiting_until_the_last_arrival, setup, teardown),
      cmocka_unit_test_setup_teardown(arrivals_are_noted_by_all_threads, setup, teardown),
      cmocka_unit_test_setup_teardown(arrivals_are_noted_in_lines_of_the_thread, setup, teardown),
      cmocka_unit_test_setup_teardown(a_thread_goes_on_to_another_team, setup, teardown),
      cmocka_unit_test_setup_teardown(the_end_of_a_region_names_its_last_arrival, setup, teardown),
      cmocka_unit_test_setup_teardown(the_next_barrier_is_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(barriers_of_an_inner_region_are_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(the_end_of_a_region_is_split_in_four, setup, teardown),
      cmocka_unit_test_setup_teardown(a_worker_may_leave_before_the_region_ends, setup, teardown),
      cmocka_unit_test_setup_teardown(after_the_end_nothing_is_counted, setup, teardown),
      cmocka_unit_test_setup_teardown(a_region_that_has_not_ended_parks_nobody, setup, teardown),
      cmocka_unit_test_setup_teardown(an_end_that_is_forgotten_counts_as_parked, setup, teardown),
      cmocka_unit_test_setup_teardown(a_region_of_one_thread_has_no_noted_end, setup, teardown),
      cmocka_unit_test_setup_teardown(the_search_for_a_task_is_the_runtimes, setup, teardown),
      cmocka_unit_test_setup_teardown(a_task_in_a_barrier_ends_an_interval, setup, teardown),
      cmocka_unit_test_setup_teardown(short_waits_for_tasks_are_split_likewise, setup, teardown),
      cmocka_unit_test_setup_teardown(nested_waits_count_once, setup, teardown),
      cmocka_unit_test_setup_teardown(a_wait_within_a_wait_ends_an_interval, setup, teardown),
      cmocka_unit_test_setup_teardown(the_fastest_acquisition_did_not_wait, setup, teardown),
      cmocka_unit_test_setup_teardown(steps_of_the_clock_are_no_waits, setup, teardown),
      cmocka_unit_test_setup_teardown(waits_are_without_pauses, setup, teardown),
      cmocka_unit_test_setup_teardown(a_lock_within_a_barrier_is_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(parked_workers_forget_open_waits, setup, teardown),
      cmocka_unit_test_setup_teardown(sites_without_room_count_as_parked, setup, teardown),
      cmocka_unit_test_setup_teardown(shares_add_up_by_site, setup, teardown),
      cmocka_unit_test_setup_teardown(shares_of_merged_nodes_add_up, setup, teardown),
  };
  return UNIT_RUN(argc, argv, "waiting", tests, NULL, NULL);
}
