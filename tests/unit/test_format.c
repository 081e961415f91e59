/* The measurement format: packed data is read back unchanged, and damage is detected. */
#include "common/format.h"
#include "common/hash.h"
#include "tests/support/unit.h"

#include <libdeflate.h>
#include <zstd.h>

enum { NODES = 300, OUT_SIZE = 1 << 16 };

static struct format_node nodes[NODES];
static uint8_t out[OUT_SIZE];

static size_t pack_nodes(struct ZSTD_CCtx_s *zstd, uint8_t *to, size_t room)
{
  struct format_extent head = {
      .table = FORMAT_NODES, .owner = 7, .first = 256, .count = NODES, .record_size = sizeof nodes[0]};
  for (uint32_t i = 0; i < NODES; i++)
    nodes[i] =
        (struct format_node){.kind_what = FORMAT_KIND_FRAME << 24 | i % 3, .offset = 4096 + 16 * i, .parent = i / 2};
  return format_pack(&head, nodes, zstd, to, room);
}

static void decodes_to_nodes(const uint8_t *file, size_t size)
{
  struct format_view view;
  char message[256];
  size_t offset = 0;
  assert_int_equal(format_next(file, size, &offset, &view, message, sizeof message), FORMAT_OK);
  assert_int_equal(offset, size);
  assert_int_equal(view.head.owner, 7);
  assert_int_equal(view.head.first, 256);
  assert_int_equal(view.head.count, NODES);
  assert_memory_equal(view.data, nodes, sizeof nodes);
  free(view.data);
  assert_int_equal(format_next(file, size, &offset, &view, message, sizeof message), FORMAT_END);
}

static void packed_extents_come_back(void **state)
{
  (void)state;
  ZSTD_CCtx *zstd = ZSTD_createCCtx();
  size_t raw = pack_nodes(NULL, out, OUT_SIZE);
  assert_int_equal(raw, sizeof(struct format_extent) + sizeof nodes);
  decodes_to_nodes(out, raw);
  size_t compressed = pack_nodes(zstd, out, OUT_SIZE);
  assert_true(compressed > 0 && compressed < raw / 2);
  decodes_to_nodes(out, compressed);
  assert_int_equal(pack_nodes(zstd, out, format_pack_bound(sizeof nodes) - 1), 0);
  ZSTD_freeCCtx(zstd);
}

/* The live form: room for more records than exist, free memory around it, no checksum. */
static void live_extents_are_read_alike(void **state)
{
  (void)state;
  uint8_t *at = out;
  struct format_extent free_memory = {
      .magic = FORMAT_MAGIC, .version = FORMAT_VERSION, .flags = FORMAT_LIVE, .stored_size = 192};
  pack_nodes(NULL, out, OUT_SIZE);
  memset(out, 0xee, OUT_SIZE);
  memcpy(at, &free_memory, sizeof free_memory);
  at += sizeof free_memory + 192;
  struct format_extent live = {.magic = FORMAT_MAGIC,
                               .version = FORMAT_VERSION,
                               .table = FORMAT_NODES,
                               .flags = FORMAT_LIVE,
                               .owner = 7,
                               .first = 256,
                               .count = NODES,
                               .record_size = sizeof nodes[0],
                               .stored_size = 512 * sizeof nodes[0]};
  memcpy(at, &live, sizeof live);
  memcpy(at + sizeof live, nodes, sizeof nodes);
  decodes_to_nodes(out, (size_t)(at - out) + sizeof live + 512 * sizeof nodes[0]);
}

static void every_truncation_is_noticed(void **state)
{
  (void)state;
  ZSTD_CCtx *zstd = ZSTD_createCCtx();
  size_t size = pack_nodes(zstd, out, OUT_SIZE);
  for (size_t cut = 1; cut < size; cut++) {
    struct format_view view;
    char message[256] = "";
    size_t offset = 0;
    uint8_t *copy = malloc(cut); /* allocated with the exact length, for memory checkers */
    memcpy(copy, out, cut);
    assert_int_equal(format_next(copy, cut, &offset, &view, message, sizeof message), FORMAT_BAD);
    assert_non_null(strstr(message, "offset 0"));
    assert_int_equal(offset, cut);
    free(copy);
  }
  ZSTD_freeCCtx(zstd);
}

static void every_flipped_bit_is_noticed(void **state)
{
  (void)state;
  ZSTD_CCtx *zstd = ZSTD_createCCtx();
  size_t size = pack_nodes(zstd, out, OUT_SIZE);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    struct format_view view;
    char message[256];
    size_t offset = 0;
    out[bit / 8] ^= (uint8_t)(1 << bit % 8);
    enum format_error error = format_next(out, size, &offset, &view, message, sizeof message);
    /* a flipped bit may turn the extent into free memory or a live one: then it has no additional node */
    if (error == FORMAT_OK) {
      assert_true(view.head.flags & FORMAT_LIVE);
      free(view.data);
    } else {
      assert_true(error == FORMAT_BAD || error == FORMAT_END);
    }
    out[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  ZSTD_freeCCtx(zstd);
}

static void reading_goes_on_behind_damage(void **state)
{
  (void)state;
  struct format_view view;
  char message[256];
  size_t first = pack_nodes(NULL, out, OUT_SIZE), offset = 0;
  size_t size = first + pack_nodes(NULL, out + first, OUT_SIZE - first);
  out[3] ^= 1;
  assert_int_equal(format_next(out, size, &offset, &view, message, sizeof message), FORMAT_BAD);
  assert_int_equal(offset, first);
  assert_int_equal(format_next(out, size, &offset, &view, message, sizeof message), FORMAT_OK);
  assert_memory_equal(view.data, nodes, sizeof nodes);
  free(view.data);
}

static void impossible_sizes_are_refused(void **state)
{
  (void)state;
  struct format_view view;
  char message[256];
  size_t offset = 0, size = pack_nodes(NULL, out, OUT_SIZE);
  struct format_extent head;
  memcpy(&head, out, sizeof head);
  head.flags = FORMAT_LIVE;
  head.count = UINT32_MAX;
  memcpy(out, &head, sizeof head);
  assert_int_equal(format_next(out, size, &offset, &view, message, sizeof message), FORMAT_BAD);
  head.count = NODES + 1;
  memcpy(out, &head, sizeof head);
  offset = 0;
  assert_int_equal(format_next(out, size, &offset, &view, message, sizeof message), FORMAT_BAD);
}

static void records_of_other_lengths_are_adapted(void **state)
{
  (void)state;
  struct format_view view = {.head = {.count = 2, .record_size = 8}};
  uint64_t stored[2] = {11, 22}, longer[2] = {99, 99};
  view.data = stored;
  format_record(&view, 1, longer, sizeof longer);
  assert_int_equal(longer[0], 22);
  assert_int_equal(longer[1], 0);
  uint32_t shorter = 0;
  format_record(&view, 0, &shorter, sizeof shorter);
  assert_int_equal(shorter, 11);
}

/* The check value of the CRC catalogue. */
static void checksums_are_those_of_the_catalogue(void **state)
{
  (void)state;
  assert_int_equal(libdeflate_crc32(0, "123456789", 9), 0xcbf43926);
}

/* The test vectors of FNV-1a by its authors. */
static void hashes_are_those_of_the_authors(void **state)
{
  (void)state;
  assert_true(hash_bytes(HASH_START, "", 0) == 0xcbf29ce484222325);
  assert_true(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8);
  assert_true(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) == 0x85944171f73967e8);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checksums_are_those_of_the_catalogue),
      cmocka_unit_test(hashes_are_those_of_the_authors),
      cmocka_unit_test(packed_extents_come_back),
      cmocka_unit_test(live_extents_are_read_alike),
      cmocka_unit_test(every_truncation_is_noticed),
      cmocka_unit_test(every_flipped_bit_is_noticed),
      cmocka_unit_test(reading_goes_on_behind_damage),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(records_of_other_lengths_are_adapted),
  };
  return UNIT_RUN(argc, argv, "format", tests, NULL, NULL);
}
