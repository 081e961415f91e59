/* What threads did in MPI, from the logs of kept measurements, along lanes that the test invents. */
#include "tests/support/unit.h"

#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/timeline/mpi_events.h"

#include <string.h>

enum { LANES_MAX = 4 };

static const uint64_t ms = 1000000;

static struct profile profile;
static struct timeline_lane lanes[LANES_MAX];
static struct timeline timeline;
static struct problems problems;
static struct mpi_events *events;

/* Reads measurements; each process has one lane, that of its first thread. */
static void read_files(const char *const *names, uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
  char *paths[LANES_MAX];
  for (uint32_t i = 0; i < count; i++)
    assert_true(asprintf(&paths[i], "%s/tests/golden/%s.hpcrun", unit_source(), names[i]) > 0);
  assert_int_equal(merge_files(paths, count, 1, BASELINE_THREAD, NULL, &profile), 0);
  assert_int_equal(profile.processes_usable, count);
  timeline = (struct timeline){.lanes = lanes,
                               .lanes_count = count,
                               .origin_ns = profile.processes[0].start_ns,
                               .from_ns = from_ns,
                               .to_ns = to_ns};
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (struct timeline_lane){.process = i, .start_ns = 0, .end_ns = 800 * ms};
    free(paths[i]);
  }
  events = mpi_events_read(&profile, &timeline, &problems);
}

static void release(void)
{
  mpi_events_free(events);
  problems_release(&problems);
  profile_release(&profile);
}

static const char *const job[] = {"messages/node1-4300-1", "messages/node1-4301-1", "messages/node1-4302-1"};

static void check_event(struct mpi_events_reader *reader, enum mpi_event_kind kind, uint64_t at_ms)
{
  const struct mpi_event *event = mpi_events_peek(reader);
  assert_non_null(event);
  assert_int_equal(event->kind, kind);
  assert_in_range(event->time_ns, at_ms * ms - 100, at_ms * ms + 100);
  mpi_events_skip(reader);
}

/* Rank 0 sends 4000 bytes at 100 ms, is in MPI_Barrier from 110 to 201 ms, and gets 16 bytes from rank 2 at 252 ms. */
static void a_lane_has_its_events_in_order(void **unused)
{
  struct mpi_events_reader reader;
  (void)unused;
  read_files(job, 3, 0, UINT64_MAX);
  assert_non_null(events);
  assert_int_equal(problems.count, 0);
  mpi_events_open(events, 0, &reader);
  check_event(&reader, MPI_EVENT_CALL, 100);
  const struct mpi_event *send = mpi_events_peek(&reader);
  assert_int_equal(send->peer, 1);
  assert_int_equal(send->tag, 5);
  assert_int_equal(send->bytes, 4000);
  assert_int_equal(mpi_events_communicators(events)->all[send->communicator].origin, GRAPHLOG_MPI_WORLD);
  check_event(&reader, MPI_EVENT_SEND, 100);
  check_event(&reader, MPI_EVENT_RETURN, 101);
  check_event(&reader, MPI_EVENT_CALL, 110);
  check_event(&reader, MPI_EVENT_COLLECTIVE_BEGIN, 110);
  check_event(&reader, MPI_EVENT_COLLECTIVE_END, 201);
  check_event(&reader, MPI_EVENT_RETURN, 201);
  assert_int_equal(mpi_events_peek(&reader)->function, MPI_FUNCTION_Recv);
  check_event(&reader, MPI_EVENT_CALL, 250);
  assert_int_equal(mpi_events_peek(&reader)->peer, 2);
  check_event(&reader, MPI_EVENT_RECEIVED, 252);
  check_event(&reader, MPI_EVENT_RETURN, 252);
  assert_null(mpi_events_peek(&reader));
  release();
}

/* From rank 0 to 1, and from 2 to 0; nobody has received the third one. */
static void messages_have_both_ends(void **unused)
{
  struct mpi_events_reader reader;
  uint32_t count = 0;
  (void)unused;
  read_files(job, 3, 0, UINT64_MAX);
  mpi_arrows_open(events, &reader);
  for (const struct mpi_arrow *arrow; (arrow = mpi_arrows_peek(&reader)); count++) {
    assert_int_equal(arrow->from, count ? 2 : 0);
    assert_int_equal(arrow->to, count ? 0 : 1);
    assert_true(arrow->from_ns < arrow->to_ns);
    mpi_events_skip(&reader);
  }
  assert_int_equal(count, 2);
  assert_int_equal(mpi_events_ranks(events), 3);
  assert_int_equal(mpi_events_lane(events, 2), 2);
  release();
}

/* A part that begins in the barrier: its call goes on, the operation itself is not shown. */
static void a_part_begins_in_a_call(void **unused)
{
  struct mpi_events_reader reader;
  (void)unused;
  read_files(job, 3, 150 * ms, 251 * ms);
  mpi_events_open(events, 0, &reader);
  check_event(&reader, MPI_EVENT_CALL, 150);
  check_event(&reader, MPI_EVENT_RETURN, 201);
  check_event(&reader, MPI_EVENT_CALL, 250);
  check_event(&reader, MPI_EVENT_RETURN, 251);
  assert_null(mpi_events_peek(&reader));
  release();
}

static void a_rank_without_a_lane_is_known(void **unused)
{
  (void)unused;
  read_files(job, 2, 0, UINT64_MAX);
  assert_int_equal(mpi_events_ranks(events), 3);
  assert_int_equal(mpi_events_lane(events, 2), MODEL_NONE);
  release();
}

/* Whatever a log has, what exports get is in order, and its ranks and communicators exist. */
static void hostile_logs_give_what_can_be_exported(void **unused)
{
  static const char *const hostile[] = {"messages-hostile/node1-4310-1"};
  struct mpi_events_reader reader;
  uint64_t last_ns = 0;
  uint32_t count = 0;
  (void)unused;
  read_files(hostile, 1, 0, UINT64_MAX);
  assert_non_null(events);
  assert_int_equal(problems.count, 1);
  mpi_events_open(events, 0, &reader);
  for (const struct mpi_event *event; (event = mpi_events_peek(&reader)); count++) {
    assert_true(event->time_ns >= last_ns && event->time_ns <= lanes[0].end_ns);
    last_ns = event->time_ns;
    if (event->communicator) {
      assert_true(mpi_events_usable(events, event->communicator));
      assert_true(event->peer == MODEL_NONE || event->peer < 3);
    }
    assert_true(event->function < MPI_FUNCTIONS);
    mpi_events_skip(&reader);
  }
  assert_true(count > 0);
  release();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lane_has_its_events_in_order), cmocka_unit_test(messages_have_both_ends),
      cmocka_unit_test(a_part_begins_in_a_call), cmocka_unit_test(a_rank_without_a_lane_is_known),
      cmocka_unit_test(hostile_logs_give_what_can_be_exported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
