/* The index: what is added is found, removed keys are not; identities of few bits have different hashes. */
#include "hpcprof-lite/model/contexts.h"
#include "tests/support/unit.h"

enum { KEYS = 3000 };

static void added_keys_are_found_until_they_are_removed(void **state)
{
  (void)state;
  struct index index = {0};
  assert_int_equal(index_find(&index, 7), 0);
  for (uint32_t i = 1; i <= KEYS; i++)
    index_add(&index, (uint64_t)i << 32, i);
  for (uint32_t i = 1; i <= KEYS; i += 2)
    index_remove(&index, (uint64_t)i << 32);
  index_remove(&index, 7);
  assert_int_equal(index.count, KEYS / 2);
  for (uint32_t i = 1; i <= KEYS; i++)
    assert_int_equal(index_find(&index, (uint64_t)i << 32), i % 2 ? 0 : i);
  index_release(&index);
}

static void a_cleared_index_is_empty_and_usable(void **state)
{
  (void)state;
  struct index index = {0};
  index_clear(&index);
  for (uint32_t turn = 1; turn <= 2; turn++) {
    for (uint32_t i = 1; i <= KEYS; i++) {
      assert_int_equal(index_find(&index, i), 0);
      index_add(&index, i, turn * i);
      assert_int_equal(index_find(&index, i), turn * i);
    }
    index_clear(&index);
    assert_int_equal(index.count, 0);
    assert_int_equal(index_find(&index, KEYS), 0);
  }
  index_release(&index);
}

static void elements_of_one_key_come_one_after_the_other(void **state)
{
  (void)state;
  struct index index = {0};
  uint32_t slot, sum = 0, count = 0;
  for (uint32_t i = 1; i <= 100; i++) {
    index_add(&index, 5, i);
    index_add(&index, 1000 + i, i);
  }
  for (uint32_t found = index_first(&index, 5, &slot); found; found = index_next(&index, 5, &slot)) {
    sum += found;
    count++;
  }
  assert_int_equal(count, 100);
  assert_int_equal(sum, 5050);
  index_release(&index);
}

/* A hostile file chooses modules and offsets of the children of one context: hashes that mixed the two by exclusive or
 * took 11 s for 80,000 of them. */
static void contexts_have_different_keys(void **state)
{
  (void)state;
  struct contexts contexts;
  contexts_init(&contexts);
  for (uint32_t i = 0; i < KEYS; i++)
    assert_true(contexts_add(&contexts, 0, CONTEXT_FRAME, i, i) == i + 1);
  for (uint32_t i = 0; i < contexts.index.slots; i++) {
    uint32_t slot, found = 0;
    uint64_t key = contexts.index.keys[i];
    for (uint32_t number = key ? index_first(&contexts.index, key, &slot) : 0; number;
         number = index_next(&contexts.index, key, &slot))
      found++;
    assert_in_range(found, key != 0, 1);
  }
  contexts_release(&contexts);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(added_keys_are_found_until_they_are_removed),
      cmocka_unit_test(a_cleared_index_is_empty_and_usable),
      cmocka_unit_test(elements_of_one_key_come_one_after_the_other),
      cmocka_unit_test(contexts_have_different_keys),
  };
  return UNIT_RUN(argc, argv, "index", tests, NULL, NULL);
}
