/* RT: counts of busy and idle threads, threads in use, blame stored with locks. */
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "tests/unit/rt_threads.h"

enum { THREADS = 7 };
static struct measured_thread threads[THREADS];

static struct thread_state *thread(unsigned i)
{
  return (struct thread_state *)&threads[i];
}
static struct format_thread records[THREADS];
static int runtime_state; /* the state of the thread as the runtime reports it */

static int get_state(uint64_t *wait_id)
{
  *wait_id = 0;
  return runtime_state;
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 6;
  sampling_process.time_event = -1; /* no calls are unwound */
  rt.epoch = 7;
  sampling_process.wall = false;
  sampling_process.get_state = get_state;
  sampling_process.runtime_apart = true;
  runtime_state = 1;
  atomic_store(&sampling_process.in_use, 0);
  atomic_store(&sampling_process.in_use_max, 0);
  memset(records, 0, sizeof records);
  region_start();
  live_threads_start();
  blame_start();
  modules_start("");
  for (uint32_t i = 0; i < THREADS; i++) {
    rt_thread_init(thread(i), i + 1, &records[i]);
    assert_true(live_threads_add(thread(i)));
  }
  return 0;
}

/* Thread 0 is the program's, the others are workers of the runtime that wait for work.  Further threads have ended. */
static void start_openmp(unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    blame_openmp_begin(thread(i), i > 0);
    rt_set_idle(thread(i), i > 0);
  }
  for (unsigned i = count; i < THREADS; i++)
    live_threads_remove(thread(i));
}

static void set_team(int count)
{
  struct format_region *region = region_innermost(thread(0));
  blame_in_use(count - (int)region->team);
  region->team = (uint32_t)count;
}

static struct format_region *end_region(void)
{
  blame_in_use(1 - (int)region_innermost(thread(0))->team);
  return region_end(thread(0));
}

/* Thread 0 begins a region with the first `count` threads. */
static uint64_t fork_region(unsigned count)
{
  uint64_t handle = region_begin(thread(0), 0);
  set_team((int)count);
  for (unsigned i = 0; i < count; i++) {
    sampling_of(thread(i))->base_region = i ? handle : 0;
    sampling_of(thread(i))->waiting_key = 88; /* of its next wait in the region */
    rt_set_idle(thread(i), false);
  }
  return handle;
}

/* in_use: busy threads, and those that are idle inside a region. */
static void assert_share(struct thread_state *t, uint64_t busy, uint64_t in_use)
{
  struct blame share = blame_share(t, 1260000);
  uint64_t idle_ns = 0;
  for (int i = 0; i < BLAME_SITES; i++)
    idle_ns += share.waits[i].key == WAITING_PARKED ? 0 : share.waits[i].ns;
  assert_int_equal(share.time_ns, 1260000);
  assert_int_equal(share.per_busy_ns, 1260000 / busy);
  assert_int_equal(idle_ns, 1260000 * (in_use - busy) / busy);
  assert_in_range(share.in_use_ns, 1260000, 1260000 * THREADS / busy);
}

static void assert_parked(struct thread_state *t, uint64_t parked)
{
  struct blame share = blame_share(t, 1260000);
  for (int i = 0; i < BLAME_SITES; i++)
    if (share.waits[i].key == WAITING_PARKED && share.waits[i].ns) {
      assert_int_equal(share.waits[i].ns, 1260000 * parked);
      return;
    }
  assert_int_equal(parked, 0);
}

static void a_thread_alone_is_busy(void **state)
{
  (void)state;
  assert_share(thread(0), THREADS, THREADS); /* before OpenMP knows a thread, all count */
  start_openmp(1);
  assert_share(thread(0), 1, 1);
}

static void parked_workers_are_not_in_use(void **state)
{
  (void)state;
  start_openmp(4);
  assert_share(thread(0), 1, 1);
  assert_parked(thread(0), 3);
  fork_region(4);
  assert_parked(thread(0), 0);
  assert_share(thread(0), 4, 4);
  rt_set_idle(thread(2), true);
  rt_set_idle(thread(3), true);
  assert_share(thread(0), 2, 4);
  rt_set_idle(thread(1), true);
  assert_share(thread(0), 1, 4);
  assert_null(end_region());
  assert_share(thread(0), 1, 1); /* the runtime has not reported the end of the region to them yet */
  fork_region(2);
  assert_share(thread(0), 2, 2); /* for threads 2 and 3 the other region has not ended yet */
}

static void a_sampled_region_ends_too(void **state)
{
  (void)state;
  start_openmp(2);
  uint64_t handle = fork_region(2);
  uint32_t filtered;
  assert_int_not_equal(region_base(thread(1), handle, &filtered), CCT_NONE);
  rt_set_idle(thread(1), true);
  assert_share(thread(0), 1, 2);
  struct format_region *region = end_region();
  assert_non_null(region);
  region_publish(thread(0), region, CCT_ROOT, 0);
  region_close(thread(0));
  assert_false(region_open(handle));
  assert_share(thread(0), 1, 1);
  region_resolve(thread(1));
}

/* A sample counts as one busy thread, also where it finds none. */
static void all_can_be_idle(void **state)
{
  (void)state;
  start_openmp(3);
  fork_region(2);
  rt_set_idle(thread(0), true);
  rt_set_idle(thread(1), true);
  assert_share(thread(1), 1, 3);
}

/* The list of places is full: the last one takes the rest, and nothing is lost. */
static void all_places_count(void **state)
{
  (void)state;
  start_openmp(7);
  fork_region(7);
  for (unsigned i = 1; i < 7; i++) {
    sampling_of(thread(i))->waiting_key = 80 + i;
    rt_set_idle(thread(i), true);
  }
  assert_share(thread(0), 1, 7);
  assert_int_equal(blame_share(thread(0), 100).waits[0].ns, 100);
  assert_int_equal(blame_share(thread(0), 100).waits[BLAME_SITES - 1].ns, 200);
}

/* What a sample of the thread has of the waiting of parked threads. */
static void assert_parked_at(struct thread_state *t, uint64_t key, uint64_t ns)
{
  struct blame share = blame_share(t, 1260000);
  assert_int_equal(share.waits[0].key, key);
  assert_int_equal(share.waits[0].ns, ns);
  assert_int_equal(share.waits[1].ns, 0);
  assert_int_equal(share.in_use_ns, share.per_busy_ns * 3);
}

/* A thread that OpenMP does not know is busy while it runs, and never in use.  Beside it nothing is serial. */
static void threads_outside_openmp_are_workers(void **state)
{
  (void)state;
  struct thread_state *outside = thread(5);
  start_openmp(3);
  assert_parked_at(thread(0), WAITING_PARKED, 2 * 1260000);
  assert_true(live_threads_add(outside));
  assert_int_equal(thread(0)->record->beside_ns, 0);
  assert_parked_at(thread(0), WAITING_PARKED, 1260000);
  assert_parked_at(outside, WAITING_PARKED, 1260000);
  assert_int_equal(thread(0)->record->beside_ns, 630000);
  assert_int_equal(thread(0)->record->outside_ns, 1260000 + 630000);
  assert_int_equal(outside->record->beside_ns, 630000);
  assert_true(blame_blocked(outside));
  assert_parked_at(thread(0), WAITING_PARKED, 2 * 1260000);
  blame_unblocked(outside);
  rt_change_lockwait(outside, true, rt_ticks());
  assert_parked_at(thread(0), WAITING_PARKED, 2 * 1260000);
  rt_change_lockwait(outside, false, rt_ticks());
  assert_true(blame_blocked(thread(0))); /* the initial thread waits for it: one thread runs */
  assert_parked_at(outside, WAITING_PARKED, 2 * 1260000);
  assert_int_equal(outside->record->beside_ns, 630000); /* no more than before */
  assert_int_equal(thread(0)->record->beside_ns, 630000);
}

static void lock_waiters_are_busy(void **state)
{
  (void)state;
  start_openmp(3);
  fork_region(3);
  rt_change_lockwait(thread(1), true, rt_ticks());
  rt_set_idle(thread(2), true);
  assert_share(thread(0), 2, 3);
  rt_change_lockwait(thread(2), true, rt_ticks()); /* waits for a lock inside another wait */
  assert_share(thread(0), 3, 3);
}

static void blocked_threads_are_left_out_unless_wall_time_drives(void **state)
{
  (void)state;
  start_openmp(3);
  fork_region(3);
  assert_true(blame_blocked(thread(1)));
  assert_false(blame_blocked(thread(1)));
  assert_share(thread(0), 2, 2);
  blame_unblocked(thread(1));
  assert_share(thread(0), 3, 3);
  rt_set_idle(thread(1), true);
  assert_false(blame_blocked(thread(1))); /* a wait inside the runtime */
  rt_set_idle(thread(1), false);
  sampling_process.wall = true;
  assert_true(blame_blocked(thread(1)));
  assert_share(thread(0), 3, 3);
  rt_set_idle(thread(2), true);
  assert_share(thread(0), 2, 3);
  blame_unblocked(thread(1));
  assert_share(thread(1), 2, 3);
}

static void the_most_threads_in_use_are_kept(void **state)
{
  struct format_process process = {.threads_max = 1};
  (void)state;
  atomic_store(&rt.record, &process);
  start_openmp(4);
  assert_int_equal(sampling_process.in_use_max, 1);
  fork_region(3);
  assert_int_equal(sampling_process.in_use, 3);
  region_begin(thread(0), 0); /* a nested region of two threads: one is new */
  set_team(2);
  assert_int_equal(sampling_process.in_use_max, 4);
  end_region();
  assert_int_equal(sampling_process.in_use, 3);
  assert_true(blame_blocked(thread(0)));
  assert_int_equal(sampling_process.in_use, 2);
  blame_unblocked(thread(0));
  end_region();
  for (unsigned i = 0; i < 4; i++)
    blame_openmp_end(thread(i));
  assert_int_equal(sampling_process.in_use, 0);
  assert_int_equal(sampling_process.in_use_max, 4);
  assert_int_equal(process.threads_max, atomic_load(&sampling_process.in_use_max)); /* at once */
  atomic_store(&rt.record, NULL);
}

static void a_thread_that_ends_blocked_is_not_in_use(void **state)
{
  (void)state;
  start_openmp(2);
  fork_region(2);
  assert_true(blame_blocked(thread(1)));
  blame_openmp_end(thread(1));
  end_region();
  assert_int_equal(sampling_process.in_use, 1);
  assert_true(blame_blocked(thread(0)));
  blame_openmp_end(thread(0));
  assert_int_equal(sampling_process.in_use, 0);
}

static void blame_goes_to_the_release(void **state)
{
  (void)state;
  const struct blame one = {1000, 500, 750, 1, {{0}}}, other = {30, 10, 20, 1, {{0}}};
  assert_false(blame_pending(0xabc0));
  assert_true(blame_wait(0xabc0, 8, &one));
  assert_true(blame_wait(0xabc0, 16, &other)); /* another place */
  assert_true(blame_pending(0xabc0));
  assert_false(blame_pending(0xabd0));
  assert_int_equal(blame_left(), 2);
  struct blame taken = blame_take(0xabc0);
  assert_int_equal(taken.waits[0].key, 8);
  assert_int_equal(taken.waits[0].ns, 1000);
  assert_int_equal(taken.waits[1].key, 16);
  assert_int_equal(taken.waits[1].ns, 30);
  assert_int_equal(taken.time_ns, 1030);
  assert_int_equal(taken.per_busy_ns, 510);
  assert_int_equal(taken.in_use_ns, 770);
  assert_int_equal(taken.samples, 2);
  assert_false(blame_pending(0xabc0));
  assert_int_equal(blame_take(0xabc0).samples, 0);
  assert_int_equal(blame_left(), 0);
}

/* Two locks in one slot: the blame of the second is refused until that of the first is taken. */
static void collisions_lose_and_do_not_mix(void **state)
{
  (void)state;
  const struct blame one = {1000, 500, 750, 1, {{0}}};
  uint64_t first = 0x1000, second = first;
  do
    second += 16;
  while (blame_entry(second) != blame_entry(first));
  assert_true(blame_wait(first, 8, &one));
  assert_false(blame_wait(second, 8, &one));
  assert_false(blame_pending(second));
  assert_int_equal(blame_take(second).samples, 0);
  assert_int_equal(blame_take(first).samples, 1);
  assert_true(blame_wait(second, 8, &one));
  assert_int_equal(blame_take(second).samples, 1);
  assert_false(blame_wait(0, 8, &one)); /* no lock */
}

static void a_state_is_repaired_at_the_second_sample(void **state)
{
  (void)state;
  start_openmp(2);
  fork_region(2);
  runtime_state = ompt_state_wait_barrier;
  blame_check(thread(1), 0);
  assert_false(thread(1)->activity.idle);
  rt_set_idle(thread(1), true); /* a callback in between, which corrects the state */
  rt_set_idle(thread(1), false);
  blame_check(thread(1), 0);
  assert_false(thread(1)->activity.idle);
  blame_check(thread(1), 0);
  assert_true(thread(1)->activity.idle);
  assert_int_equal(records[1].lost[FORMAT_LOST_STATES], 1);
  blame_check(thread(1), 0);
  blame_check(thread(1), 0);
  assert_true(thread(1)->activity.idle);
  assert_int_equal(records[1].lost[FORMAT_LOST_STATES], 1);
}

static void parts_are_exact(void **state)
{
  (void)state;
  assert_int_equal(rt_scale(7, 3, 2), 10);
  assert_int_equal(rt_scale(1ull << 63, 6, 1ull << 63), 6);
  assert_int_equal(rt_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
  assert_int_equal(rt_scale(UINT64_MAX, 2, 1), UINT64_MAX);
  assert_int_equal(rt_scale(UINT64_MAX, 2, UINT64_MAX), 2);
  assert_int_equal(rt_scale(5, 0, 3), 0);
  assert_int_equal(rt_scale(5, 3, 0), 0);
}

/* A ring of records of switches, the last of which is of that kind. */
struct ring {
  struct perf_event_mmap_page page;
  char rest[4096 - sizeof(struct perf_event_mmap_page)];
  struct perf_event_header record;
};

static void set_last(struct thread_state *t, struct ring *ring, uint16_t misc)
{
  *ring = (struct ring){.page = {.data_head = 16}, .record = {.misc = misc}};
  sampling_of(t)->switches.ring = ring;
}

static void a_thread_that_was_woken_in_a_call_is_busy(void **state)
{
  (void)state;
  static struct ring ring;
  enum { GONE_ON = 0, ASLEEP = PERF_RECORD_MISC_SWITCH_OUT, READY = ASLEEP | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT };
  start_openmp(2);
  fork_region(2);
  blame_blocked(thread(1));
  assert_share(thread(0), 1, 1);
  assert_false(blame_any_ready(thread(0)));
  set_last(thread(1), &ring, ASLEEP);
  assert_share(thread(0), 1, 1);
  assert_false(blame_any_ready(thread(0)));
  set_last(thread(1), &ring, READY);
  assert_share(thread(0), 2, 2);
  assert_true(blame_any_ready(thread(0)));
  set_last(thread(1), &ring, GONE_ON);
  assert_share(thread(0), 2, 2);
  assert_false(blame_any_ready(thread(0)));
  sampling_of(thread(1))->switches.ring = NULL;
  blame_unblocked(thread(1));
}

static void a_thread_outside_that_was_woken_in_a_call_runs(void **state)
{
  (void)state;
  static struct ring ring;
  start_openmp(1);
  assert_true(live_threads_add(thread(1)));
  blame_blocked(thread(1));
  assert_int_equal(blame_share(thread(0), 1260000).per_busy_ns, 1260000);
  assert_int_equal(records[0].beside_ns, 0);
  set_last(thread(1), &ring, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  assert_int_equal(blame_share(thread(0), 1260000).per_busy_ns, 1260000 / 2);
  assert_int_equal(records[0].beside_ns, 1260000 / 2);
  sampling_of(thread(1))->switches.ring = NULL;
  blame_unblocked(thread(1));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_exact),
      cmocka_unit_test_setup(a_thread_alone_is_busy, setup),
      cmocka_unit_test_setup(parked_workers_are_not_in_use, setup),
      cmocka_unit_test_setup(a_sampled_region_ends_too, setup),
      cmocka_unit_test_setup(all_can_be_idle, setup),
      cmocka_unit_test_setup(all_places_count, setup),
      cmocka_unit_test_setup(threads_outside_openmp_are_workers, setup),
      cmocka_unit_test_setup(lock_waiters_are_busy, setup),
      cmocka_unit_test_setup(blocked_threads_are_left_out_unless_wall_time_drives, setup),
      cmocka_unit_test_setup(the_most_threads_in_use_are_kept, setup),
      cmocka_unit_test_setup(a_thread_that_ends_blocked_is_not_in_use, setup),
      cmocka_unit_test_setup(blame_goes_to_the_release, setup),
      cmocka_unit_test_setup(collisions_lose_and_do_not_mix, setup),
      cmocka_unit_test_setup(a_state_is_repaired_at_the_second_sample, setup),
      cmocka_unit_test_setup(a_thread_that_was_woken_in_a_call_is_busy, setup),
      cmocka_unit_test_setup(a_thread_outside_that_was_woken_in_a_call_runs, setup),
  };
  return UNIT_RUN(argc, argv, "blame", tests, NULL, NULL);
}
