/* The map: what is added is found, removed keys are not; identities of few bits have different hashes. */
#include "hpcprof-lite/model/contexts.h"
#include "tests/support/unit.h"

enum { KEYS = 3000 };

static void added_keys_are_found_until_they_are_removed(void **state)
{
  (void)state;
  struct hash_map map = {0};
  assert_int_equal(hash_map_find(&map, 7), 0);
  for (uint32_t i = 1; i <= KEYS; i++)
    hash_map_add(&map, (uint64_t)i << 32, i);
  for (uint32_t i = 1; i <= KEYS; i += 2)
    hash_map_remove(&map, (uint64_t)i << 32);
  hash_map_remove(&map, 7);
  assert_int_equal(map.count, KEYS / 2);
  for (uint32_t i = 1; i <= KEYS; i++)
    assert_int_equal(hash_map_find(&map, (uint64_t)i << 32), i % 2 ? 0 : i);
  hash_map_release(&map);
}

static void a_cleared_index_is_empty_and_usable(void **state)
{
  (void)state;
  struct hash_map map = {0};
  hash_map_clear(&map);
  for (uint32_t turn = 1; turn <= 2; turn++) {
    for (uint32_t i = 1; i <= KEYS; i++) {
      assert_int_equal(hash_map_find(&map, i), 0);
      hash_map_add(&map, i, turn * i);
      assert_int_equal(hash_map_find(&map, i), turn * i);
    }
    hash_map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_int_equal(hash_map_find(&map, KEYS), 0);
  }
  hash_map_release(&map);
}

static void elements_of_one_key_come_one_after_the_other(void **state)
{
  (void)state;
  struct hash_map map = {0};
  uint32_t slot, sum = 0, count = 0;
  for (uint32_t i = 1; i <= 100; i++) {
    hash_map_add(&map, 5, i);
    hash_map_add(&map, 1000 + i, i);
  }
  for (uint32_t found = hash_map_first(&map, 5, &slot); found; found = hash_map_next(&map, 5, &slot)) {
    sum += found;
    count++;
  }
  assert_int_equal(count, 100);
  assert_int_equal(sum, 5050);
  hash_map_release(&map);
}

/* A hostile file chooses modules and offsets of the children of one context: hashes that mixed the two by exclusive or
 * took 11 s for 80,000 of them. */
static void contexts_have_different_keys(void **state)
{
  (void)state;
  struct contexts contexts;
  contexts_init(&contexts);
  for (uint32_t i = 0; i < KEYS; i++)
    assert_true(contexts_add(&contexts, &(struct context_node){.kind = CONTEXT_FRAME, .module = i, .offset = i}) ==
                i + 1);
  for (uint32_t i = 0; i < contexts.map.slots; i++) {
    uint32_t slot, found = 0;
    uint64_t key = contexts.map.keys[i];
    for (uint32_t number = key ? hash_map_first(&contexts.map, key, &slot) : 0; number;
         number = hash_map_next(&contexts.map, key, &slot))
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
  return UNIT_RUN(argc, argv, "map", tests, NULL, NULL);
}
