#include "hpcprof-lite/grains/tape.h"

#include "common/graphlog.h"
#include "common/leb128.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { BLOCK_BYTES = 64 << 10, RECORD_BYTES_MAX = 1 + 10 * TAPE_OPERANDS_MAX, LEVEL = 1 };

#define OPERANDS(enumerator, operands) operands,
static const uint8_t operands_of[TAPE_OPS] = {TAPE_LIST(OPERANDS)};

void tape_init(struct tape *tape, struct problems *problems)
{
  *tape = (struct tape){.bytes = xmalloc(BLOCK_BYTES),
                        .packed = xmalloc(ZSTD_compressBound(BLOCK_BYTES)),
                        .at = BLOCK_BYTES,
                        .zstd = ZSTD_createCCtx()};
  if (!tape->zstd)
    xalloc_die();
  ZSTD_CCtx_setParameter(tape->zstd, ZSTD_c_compressionLevel, LEVEL);
  ZSTD_CCtx_setParameter(tape->zstd, ZSTD_c_checksumFlag, 1); /* what decompresses has valid records */
  scratch_file_init(&tape->file, problems);
}

void tape_release(struct tape *tape)
{
  scratch_file_release(&tape->file);
  free(tape->bytes);
  free(tape->packed);
  free(tape->blocks);
  ZSTD_freeCCtx(tape->zstd);
  *tape = (struct tape){.file.fd = -1};
}

/* ---- writing ---- */

static void write_block(struct tape *tape)
{
  assert(tape->at <= BLOCK_BYTES);
  size_t size = BLOCK_BYTES - tape->at;
  const uint8_t *bytes = tape->bytes + tape->at;
  tape->at = BLOCK_BYTES;
  if (tape->failed || !size) /* after a failure nothing will be read */
    return;
  size_t stored = ZSTD_compress2(tape->zstd, tape->packed, ZSTD_compressBound(BLOCK_BYTES), bytes, size);
  if (ZSTD_isError(stored))
    xalloc_die(); /* there is room for any result: zstd lacks memory of its own */
  uint64_t offset = scratch_file_append(&tape->file, tape->packed, stored);
  tape->failed = offset == UINT64_MAX;
  if (!tape->failed)
    *XAPPEND(tape->blocks, tape->blocks_count, tape->blocks_room) =
        (struct tape_block){offset, (uint32_t)size, (uint32_t)stored};
}

/* Fills a block from its end, so that it has its last record first. */
void tape_put(struct tape *tape, enum tape_op op, const uint64_t *operands)
{
  assert(op < TAPE_OPS && tape->at <= BLOCK_BYTES);
  uint8_t record[RECORD_BYTES_MAX], *end = record;
  *end++ = (uint8_t)op;
  for (unsigned i = 0; i < operands_of[op]; i++)
    end = leb128_put(end, operands[i]);
  size_t size = (size_t)(end - record);
  if (tape->at < size)
    write_block(tape);
  tape->at -= size;
  memcpy(tape->bytes + tape->at, record, size);
}

int tape_failed(const struct tape *tape)
{
  return tape->failed ? ERR_INPUT : 0;
}

int tape_end(struct tape *tape)
{
  if (tape->zstd) /* it has been written until now */
    write_block(tape);
  ZSTD_freeCCtx(tape->zstd);
  tape->zstd = NULL;
  tape->next_block = tape->blocks_count;
  tape->end = tape->at;
  return tape_failed(tape);
}

/* ---- reading ---- */

static const uint8_t *get(const uint8_t *at, uint64_t *value)
{
  uint64_t read = *at & 0x7f;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7)
    read |= (uint64_t)(*at & 0x7f) << shift;
  *value = read;
  return at;
}

static bool unpack_block(struct tape *tape, const struct tape_block *block)
{
  if (!scratch_file_read(&tape->file, tape->packed, block->stored, block->offset))
    return false;
  size_t size = ZSTD_decompress(tape->bytes, BLOCK_BYTES, tape->packed, block->stored);
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation)
    xalloc_die();
  return size == block->size || scratch_file_damaged(&tape->file, block->offset);
}

/* Reads the block before the one in memory.  Returns false if there is none. */
static bool read_block(struct tape *tape)
{
  assert(tape->at == tape->end && tape->next_block <= tape->blocks_count);
  if (!tape->next_block || tape->failed)
    return false;
  const struct tape_block *block = &tape->blocks[--tape->next_block];
  tape->failed = !unpack_block(tape, block);
  tape->at = 0;
  tape->end = tape->failed ? 0 : block->size;
  return !tape->failed;
}

bool tape_back(struct tape *tape, struct tape_record *record)
{
  if (tape->at == tape->end && !read_block(tape))
    return false;
  const uint8_t *at = tape->bytes + tape->at;
  record->op = (enum tape_op) * at++;
  for (unsigned i = 0; i < operands_of[record->op]; i++)
    at = get(at, &record->operand[i]);
  tape->at = (size_t)(at - tape->bytes);
  return true;
}
