/* RT: the arena, the tree of a thread, and regions that are resolved late. */
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "tests/unit/rt_threads.h"

static struct measured_thread states[2];
static struct thread_state *const master = (struct thread_state *)&states[0];
static struct thread_state *const worker = (struct thread_state *)&states[1];
static uint32_t filtered;
static struct format_thread records[2];

static int setup(void **state)
{
  (void)state;
  arena_reset();
  sampling_process.metric_count = 6;
  rt.epoch = 41;
  memset(records, 0, sizeof records);
  region_start();
  rt_thread_init(master, 1, &records[0]);
  rt_thread_init(worker, 2, &records[1]);
  return 0;
}

static struct cct_key frame(uint32_t offset)
{
  return (struct cct_key){FORMAT_KIND_FRAME, 1, offset};
}

static uint64_t value_of(struct thread_state *t, uint32_t node, unsigned metric)
{
  uint32_t value = cct_node(t, node)->value;
  return value ? ((uint64_t *)table_at(&sampling_of(t)->values, value))[metric] : 0;
}

static void children_are_found_again(void **state)
{
  (void)state;
  uint32_t ids[5000];
  for (uint32_t i = 0; i < 5000; i++)
    ids[i] = cct_child(master, i ? ids[(i - 1) / 3] : CCT_ROOT, frame(i));
  for (uint32_t i = 5000; i-- > 0;)
    assert_int_equal(cct_child(master, i ? ids[(i - 1) / 3] : CCT_ROOT, frame(i)), ids[i]);
  assert_int_equal(sampling_of(master)->nodes.count, 5001);
}

/* The tables in memory are sound extents with every published record. */
static void tables_are_extents(void **state)
{
  (void)state;
  uint32_t node = CCT_ROOT;
  for (uint32_t i = 0; i < 1000; i++)
    assert_true(cct_add(master, node = cct_child(master, node, frame(i)), 1, i));
  uint32_t seen = 0;
  for (unsigned step = 0; step < TABLE_STEPS && sampling_of(master)->nodes.extents[step]; step++) {
    const struct format_extent *extent = sampling_of(master)->nodes.extents[step];
    assert_int_equal(extent->magic, FORMAT_MAGIC);
    assert_int_equal(extent->table, FORMAT_NODES);
    assert_int_equal(extent->owner, 1);
    assert_int_equal(extent->first, seen);
    seen += extent->count;
  }
  assert_int_equal(seen, 1001);
  assert_int_equal(value_of(master, node, 1), 999);
}

static unsigned moves;

static void count_move(struct thread_state *t, uint32_t from, uint32_t to)
{
  (void)t, (void)from, (void)to;
  moves++;
}

/* root → a → {x: 1, y: 2} and root → b → {x: 10 → z: 5}; b becomes a. */
static void merged_subtrees_add_up(void **state)
{
  (void)state;
  uint32_t a = cct_child(master, CCT_ROOT, frame(1)), b = cct_child(master, CCT_ROOT, frame(2));
  uint32_t ax = cct_child(master, a, frame(11)), ay = cct_child(master, a, frame(12)),
           bx = cct_child(master, b, frame(11));
  uint32_t bz = cct_child(master, bx, frame(13));
  cct_add(master, ax, 1, 1);
  cct_add(master, ay, 1, 2);
  cct_add(master, bx, 1, 10);
  cct_add(master, bz, 1, 5);
  moves = 0;
  cct_rekey(master, b, frame(1), count_move);
  assert_int_equal(moves, 2); /* b and its x */
  assert_int_equal(value_of(master, ax, 1), 11);
  assert_int_equal(value_of(master, ay, 1), 2);
  assert_int_equal(value_of(master, bz, 1), 5);
  assert_int_equal(cct_node(master, bz)->parent, ax);
  assert_int_equal(cct_child(master, ax, frame(13)), bz);
  assert_int_equal(cct_kind(master, b), FORMAT_KIND_FREE);
  uint32_t count = sampling_of(master)->nodes.count;
  uint32_t again = cct_child(master, CCT_ROOT, frame(3)); /* freed nodes are reused, with empty values */
  assert_int_equal(sampling_of(master)->nodes.count, count);
  assert_int_equal(value_of(master, again, 1), 0);
}

/* Critical paths may name a node that was merged into another: it leads to that other node, and is not reused. */
static void merged_subtrees_can_still_be_followed(void **state)
{
  (void)state;
  uint32_t a = cct_child(master, CCT_ROOT, frame(1)), b = cct_child(master, CCT_ROOT, frame(2));
  uint32_t ax = cct_child(master, a, frame(11)), bx = cct_child(master, b, frame(11));
  cct_add(master, bx, 1, 10);
  span_process.online = true;
  cct_rekey(master, b, frame(1), count_move);
  span_process.online = false;
  assert_int_equal(value_of(master, ax, 1), 10);
  assert_int_equal(cct_node(master, bx)->kind_what, FORMAT_KIND_LINK << 24 | master->index);
  assert_int_equal(cct_node(master, bx)->offset, ax);
  assert_int_equal(cct_node(master, bx)->parent, CCT_ROOT);
  uint32_t count = sampling_of(master)->nodes.count;
  assert_int_equal(cct_child(master, CCT_ROOT, frame(3)), b);
  cct_child(master, CCT_ROOT, frame(4));
  assert_int_equal(sampling_of(master)->nodes.count, count + 1);
}

static void unsampled_regions_cost_nothing(void **state)
{
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    uint64_t outer = region_begin(master, 1000), inner = region_begin(master, 900);
    assert_true(outer && inner && outer != inner);
    assert_null(region_end(master));
    assert_null(region_end(master));
  }
  assert_int_equal(region_table()->count, 3); /* record 0 and two others */
  assert_int_equal(sampling_of(worker)->nodes.count, 1);
}

/* A worker is sampled while its region is not resolved; the master publishes the path at the end; the worker folds its
 * samples at the next sample. */
static void late_paths_are_folded(void **state)
{
  (void)state;
  uint32_t creator = cct_child(master, CCT_ROOT, frame(5));
  for (int i = 0; i < 10000; i++) {
    uint64_t handle = region_begin(master, 1000);
    uint32_t base = region_base(worker, handle, &filtered);
    assert_int_equal(cct_kind(worker, base), FORMAT_KIND_PLACEHOLDER);
    assert_int_equal(region_base(worker, handle, &filtered), base);
    assert_true(cct_add(worker, cct_child(worker, base, frame(6)), 1, 7));
    struct format_region *region = region_end(master);
    assert_non_null(region);
    region_publish(master, region, creator, 0);
    region_close(master);
    region_resolve(worker);
    assert_int_equal(sampling_of(worker)->pending_count, 0);
    assert_int_equal(region_base(worker, handle, &filtered), CCT_NONE); /* the region is over */
  }
  uint32_t link = cct_child(worker, CCT_ROOT, (struct cct_key){FORMAT_KIND_LINK, 1, creator});
  assert_int_equal(value_of(worker, cct_child(worker, link, frame(6)), 1), 70000);
  assert_true(region_table()->count <= 3 &&
              sampling_of(worker)->nodes.count <= 5); /* constant, for any number of regions */
}

/* The worker is the master of an inner region, whose path is known only when that of the outer region is. */
static void inner_regions_wait_for_outer_ones(void **state)
{
  (void)state;
  uint32_t creator = cct_child(master, CCT_ROOT, frame(5));
  uint64_t outer = region_begin(master, 1000);
  uint32_t base = region_base(worker, outer, &filtered);
  uint32_t inner_creator = cct_child(worker, base, frame(6));
  uint64_t inner = region_begin(worker, 2000);
  uint32_t inner_base = region_base(master, inner, &filtered);
  assert_int_equal(cct_kind(master, inner_base), FORMAT_KIND_PLACEHOLDER);
  struct format_region *region = region_end(worker);
  assert_non_null(region);
  region_publish(worker, region, inner_creator, 0);
  assert_int_equal(region->state, FORMAT_REGION_PROVISIONAL);
  region_close(worker);
  region_resolve(master);
  assert_int_equal(sampling_of(master)->pending_count, 1);
  region = region_end(master);
  region_publish(master, region, creator, 0);
  assert_int_equal(region->state, FORMAT_REGION_FINAL);
  region_close(master);
  region_resolve(worker); /* resolves the outer region, and with it the inner one */
  region_resolve(master);
  assert_int_equal(sampling_of(master)->pending_count, 0);
  assert_int_equal(cct_kind(master, inner_base), FORMAT_KIND_LINK);
  assert_int_equal(cct_node(master, inner_base)->offset, inner_creator);
  assert_int_equal(cct_node(master, inner_base)->kind_what & FORMAT_WHAT_MAX, 2);
}

/* A published path is used at once by workers that come later in the same instance. */
static void known_paths_are_used_at_once(void **state)
{
  (void)state;
  uint32_t creator = cct_child(master, CCT_ROOT, frame(5));
  uint64_t handle = region_begin(master, 1000);
  region_publish(master, region_entered(master, 900, 1100).region, creator, 0);
  assert_null(region_entered(master, 1001, 1100).region);
  uint32_t base = region_base(worker, handle, &filtered);
  assert_int_equal(cct_kind(worker, base), FORMAT_KIND_LINK);
  assert_int_equal(sampling_of(worker)->pending_count, 0);
  assert_null(region_end(master));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(children_are_found_again, setup),
      cmocka_unit_test_setup(tables_are_extents, setup),
      cmocka_unit_test_setup(merged_subtrees_add_up, setup),
      cmocka_unit_test_setup(merged_subtrees_can_still_be_followed, setup),
      cmocka_unit_test_setup(unsampled_regions_cost_nothing, setup),
      cmocka_unit_test_setup(late_paths_are_folded, setup),
      cmocka_unit_test_setup(inner_regions_wait_for_outer_ones, setup),
      cmocka_unit_test_setup(known_paths_are_used_at_once, setup),
  };
  return UNIT_RUN(argc, argv, "cct", tests, NULL, NULL);
}
