/* Calls of MPI: which count, and where a call is at the place of an earlier one (mpi_calls). */
#include "hpcrun-lite/rt/sampling/mpi_calls.c"
#include "tests/unit/rt_threads.h"

enum { WORDS = 64, CODE = 0x1234 };
static struct measured_thread states;
static struct format_thread record;
static uint64_t stack[WORDS];
static struct thread_state *const t = (struct thread_state *)&states;

static uint64_t sp_at(unsigned word)
{
  return (uint64_t)&stack[word];
}

/* A thread that has called a function from a place that is known by two return addresses. */
static int begin(void **state)
{
  (void)state;
  const struct context_return returns[] = {{sp_at(9), CODE}, {sp_at(20), 0x5678}};
  arena_reset();
  atomic_store(&rt.module_generation, 0);
  memset(&record, 0, sizeof record);
  memset(stack, 0, sizeof stack);
  rt_thread_init(t, 1, &record);
  t->stack_low = sp_at(0);
  t->stack_high = sp_at(WORDS);
  stack[9] = CODE;
  stack[20] = 0x5678;
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  struct mpi_place found = {.function = MPI_FUNCTION_Send, .sp = sp_at(10)};
  found.row = mpi_table_find(mpi, MPI_FUNCTION_Send, 7);
  keep(ways_of(mpi, CODE, sp_at(10)), found, returns, 2);
  return 0;
}

static const struct format_mpi *row_called(enum mpi_function function, unsigned word)
{
  if (!mpi_calls_begin(t, function, CODE, sp_at(word)))
    return NULL;
  const struct format_mpi *row = sampling_of(t)->mpi.row;
  assert_true(mpi_calls_in(t) && row->since);
  mpi_calls_end(t, true, 3, 5);
  assert_true(!mpi_calls_in(t) && !row->since);
  return row;
}

static void a_call_at_a_known_place_has_its_row(void **state)
{
  (void)state;
  sampling_of(t)->mpi.unwound = AT_ONCE; /* no other context is unwound */
  sampling_of(t)->mpi.due = UINT64_MAX;
  for (unsigned i = 1; i <= 3; i++) {
    const struct format_mpi *row = row_called(MPI_FUNCTION_Send, 10);
    assert_int_equal(row->node, 7);
    assert_int_equal(row->calls, i);
  }
  assert_int_equal(row_called(MPI_FUNCTION_Recv, 10)->node, 0);
  assert_int_equal(row_called(MPI_FUNCTION_Send, 11)->node, 0);
  stack[20]++; /* the caller of the caller is another one */
  assert_int_equal(row_called(MPI_FUNCTION_Send, 10)->node, 0);
  stack[20]--;
  assert_int_equal(row_called(MPI_FUNCTION_Send, 10)->node, 7);
  atomic_fetch_add(&rt.module_generation, 1); /* code was unloaded */
  assert_int_equal(row_called(MPI_FUNCTION_Send, 10)->node, 0);
  assert_int_equal(record.mpi_calls, 8);
  assert_int_equal(record.mpi_sent, 8 * 3);
  assert_int_equal(record.mpi_received, 8 * 5);
}

static void calls_within_calls_and_waits_do_not_count(void **state)
{
  (void)state;
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, sp_at(10)));
  assert_null(row_called(MPI_FUNCTION_Isend, 5));
  mpi_calls_end(t, false, 9, 9);
  assert_int_equal(record.mpi_sent, 0);
  t->activity.idle = true;
  assert_null(row_called(MPI_FUNCTION_Send, 10));
  t->activity.idle = false;
  t->activity.call = RT_CALL_BLOCKS;
  assert_null(row_called(MPI_FUNCTION_Send, 10));
  t->activity.call = RT_CALL_NONE;
  rt_inside_inc(t);
  assert_null(row_called(MPI_FUNCTION_Send, 10));
  rt_inside_dec(t);
  assert_int_equal(record.mpi_calls, 1);
}

static void a_call_that_was_left_is_known_by_its_stack_pointer(void **state)
{
  (void)state;
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, sp_at(10)));
  mpi_calls_left(t, sp_at(5), false); /* within it */
  assert_true(mpi_calls_in(t));
  mpi_calls_left(t, sp_at(30), false);
  assert_false(mpi_calls_in(t));
  mpi_calls_end(t, true, 1, 1); /* nothing */
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, sp_at(10)));
  stack[9]++; /* something else was called from there */
  mpi_calls_left(t, sp_at(5), true);
  assert_false(mpi_calls_in(t));
  stack[9]--;
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, sp_at(10)));
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, sp_at(10))); /* again from there, so it was left */
  assert_int_equal(sampling_of(t)->mpi.row->calls, 3);
  mpi_calls_left(t, UINT64_MAX, false);
  assert_false(mpi_calls_in(t));
  assert_int_equal(record.mpi_calls, 4);
  assert_int_equal(record.mpi_sent, 0);
}

static void places_on_other_stacks_do_not_tell_that_a_call_was_left(void **state)
{
  (void)state;
  sampling_of(t)->mpi.unwound = AT_ONCE; /* there is no stack to unwind */
  sampling_of(t)->mpi.due = UINT64_MAX;
  uint64_t fibre = sp_at(WORDS) + 4096, other = fibre + 8192;
  assert_true(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, fibre));
  assert_false(mpi_calls_begin(t, MPI_FUNCTION_Send, CODE, other));
  assert_true(mpi_calls_in(t));
  mpi_calls_end(t, true, 3, 5);
  assert_int_equal(record.mpi_calls, 1);
  assert_int_equal(record.mpi_sent, 3);
}

static void rows_beyond_the_limit_are_one(void **state)
{
  (void)state;
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  for (uint32_t node = 1; node < 5000; node++)
    assert_non_null(mpi_table_find(mpi, MPI_FUNCTION_Send, node));
  const struct format_mpi *others = mpi_table_find(mpi, MPI_FUNCTION_Recv, 9999);
  assert_int_equal(others->function, 0);
  assert_ptr_equal(others, mpi_table_find(mpi, MPI_FUNCTION_Recv, 8888));
  assert_int_equal(mpi_table_find(mpi, MPI_FUNCTION_Send, 70)->node, 70);
  mpi_table_follow_merge(t, 70, 71);
  assert_int_equal(mpi_table_find(mpi, MPI_FUNCTION_Send, 7)->node, 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_call_at_a_known_place_has_its_row, begin),
      cmocka_unit_test_setup(calls_within_calls_and_waits_do_not_count, begin),
      cmocka_unit_test_setup(a_call_that_was_left_is_known_by_its_stack_pointer, begin),
      cmocka_unit_test_setup(places_on_other_stacks_do_not_tell_that_a_call_was_left, begin),
      cmocka_unit_test_setup(rows_beyond_the_limit_are_one, begin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
