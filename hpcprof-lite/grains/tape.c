#include "hpcprof-lite/grains/tape.h"

#include "common/graphlog.h"
#include "common/leb128.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

enum { BLOCK_BYTES = 64 << 10, RECORD_BYTES_MAX = 1 + 10 * TAPE_OPERANDS_MAX, LEVEL = 1 };

#define OPERANDS(enumerator, operands) operands,
static const uint8_t operands_of[TAPE_OPS] = {TAPE_LIST(OPERANDS)};

void tape_init(struct tape *tape, struct problems *problems)
{
  *tape = (struct tape){.bytes = xmalloc(BLOCK_BYTES),
                        .packed = xmalloc(ZSTD_compressBound(BLOCK_BYTES)),
                        .offsets = xmalloc(BLOCK_BYTES / 2 * sizeof *tape->offsets)};
  scratch_file_init(&tape->file, problems);
}

void tape_release(struct tape *tape)
{
  scratch_file_release(&tape->file);
  free(tape->bytes);
  free(tape->packed);
  free(tape->offsets);
  free(tape->blocks);
  *tape = (struct tape){.file.fd = -1};
}

/* ---- writing ---- */

static void write_block(struct tape *tape)
{
  assert(tape->used <= BLOCK_BYTES);
  if (tape->failed)
    tape->used = 0; /* nothing will be read */
  if (!tape->used)
    return;
  size_t stored = ZSTD_compress(tape->packed, ZSTD_compressBound(BLOCK_BYTES), tape->bytes, tape->used, LEVEL);
  if (ZSTD_isError(stored))
    xalloc_die(); /* the block has room for any result */
  uint64_t offset = scratch_file_append(&tape->file, tape->packed, stored);
  tape->failed = offset == UINT64_MAX;
  if (!tape->failed)
    *XAPPEND(tape->blocks, tape->blocks_count, tape->blocks_room) =
        (struct tape_block){offset, (uint32_t)tape->used, (uint32_t)stored};
  tape->used = 0;
}

void tape_put(struct tape *tape, enum tape_op op, const uint64_t *operands)
{
  assert(op < TAPE_OPS && tape->used <= BLOCK_BYTES);
  if (BLOCK_BYTES - tape->used < RECORD_BYTES_MAX)
    write_block(tape);
  uint8_t *at = tape->bytes + tape->used;
  *at++ = (uint8_t)op;
  for (unsigned i = 0; i < operands_of[op]; i++)
    at = leb128_put(at, operands[i]);
  tape->used = (size_t)(at - tape->bytes);
}

int tape_failed(const struct tape *tape)
{
  return tape->failed ? ERR_INPUT : 0;
}

int tape_end(struct tape *tape)
{
  write_block(tape);
  tape->next_block = tape->blocks_count;
  tape->left = 0;
  return tape_failed(tape);
}

/* ---- reading ---- */

/* Skips a number.  Returns the address after it. */
static const uint8_t *skip(const uint8_t *at)
{
  while (*at++ & 0x80)
    ;
  return at;
}

static const uint8_t *get(const uint8_t *at, uint64_t *value)
{
  uint64_t read = *at & 0x7f;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7)
    read |= (uint64_t)(*at & 0x7f) << shift;
  *value = read;
  return at;
}

/* Reads the block before the one in memory.  Returns false if there is none. */
static bool read_block(struct tape *tape)
{
  assert(!tape->left && tape->next_block <= tape->blocks_count);
  if (!tape->next_block || tape->failed)
    return false;
  const struct tape_block *block = &tape->blocks[--tape->next_block];
  tape->failed = !scratch_file_read(&tape->file, tape->packed, block->stored, block->offset);
  if (!tape->failed && ZSTD_decompress(tape->bytes, BLOCK_BYTES, tape->packed, block->stored) != block->size)
    xalloc_die(); /* what this process has written is sound */
  const uint8_t *at = tape->bytes, *end = at + block->size;
  while (at < end && !tape->failed) {
    tape->offsets[tape->left++] = (uint32_t)(at - tape->bytes);
    unsigned count = operands_of[*at++];
    while (count--)
      at = skip(at);
  }
  return !tape->failed;
}

bool tape_back(struct tape *tape, struct tape_record *record)
{
  if (!tape->left && !read_block(tape))
    return false;
  const uint8_t *at = tape->bytes + tape->offsets[--tape->left];
  record->op = (enum tape_op) * at++;
  for (unsigned i = 0; i < operands_of[record->op]; i++)
    at = get(at, &record->operand[i]);
  return true;
}
