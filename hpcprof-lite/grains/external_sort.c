#include "hpcprof-lite/grains/external_sort.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/heap.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = EXTERNAL_SORT_BYTES / 2, FIRST_BYTES = 4096 * 3, RADIX = 256, WINDOW_BYTES_MIN = 4096 };

/* A sorted part of the records, and the window of it that is in memory. */
struct run {
  uint64_t offset, left; /* of the records that are not in the window: in the file, their number */
  uint64_t *window;
  size_t at, count; /* records in the window: the next one, and all */
};

struct external_sort {
  unsigned width;
  struct scratch_file file;
  uint64_t *records, *other; /* the records that are added, then the windows; scratch memory of the same size */
  size_t count, room, part;  /* records in `records`; for which there is room; in a part of PART_BYTES */
  struct run *runs;
  size_t runs_count;
  uint64_t *lengths; /* [run] records */
  size_t lengths_room;
  struct heap heap; /* runs by their next record */
  bool read_one;    /* the heap's root has been returned */
};

/* Makes room for as many records. */
static void grow(struct external_sort *sort, size_t room)
{
  assert(room > sort->room && room <= sort->part);
  size_t bytes = room * sort->width * sizeof *sort->records;
  sort->records = xrealloc(sort->records, bytes);
  sort->other = xrealloc(sort->other, bytes);
  sort->room = room;
}

struct external_sort *external_sort_new(unsigned width, struct problems *problems)
{
  assert(width && PART_BYTES / sizeof(uint64_t) / width);
  struct external_sort *sort = xcalloc(1, sizeof *sort);
  sort->width = width;
  sort->part = PART_BYTES / sizeof *sort->records / width;
  scratch_file_init(&sort->file, problems);
  grow(sort, FIRST_BYTES / sizeof *sort->records / width);
  return sort;
}

void external_sort_free(struct external_sort *sort)
{
  if (!sort)
    return;
  scratch_file_release(&sort->file);
  free(sort->records);
  free(sort->other);
  free(sort->runs);
  free(sort->lengths);
  free(sort->heap.items);
  free(sort);
}

/* ---- adding ---- */

/* Distributes the records by one byte of their keys, in a stable order.  Returns false if all have the same byte. */
static bool distribute(struct external_sort *sort, unsigned shift)
{
  assert(sort->count && shift < 64);
  size_t starts[RADIX] = {0}, width = sort->width;
  for (size_t i = 0; i < sort->count; i++)
    starts[sort->records[i * width] >> shift & (RADIX - 1)]++;
  if (starts[sort->records[0] >> shift & (RADIX - 1)] == sort->count)
    return false;
  for (size_t i = 0, start = 0; i < RADIX; i++) {
    size_t of_byte = starts[i];
    starts[i] = start;
    start += of_byte;
  }
  for (size_t i = 0; i < sort->count; i++) {
    const uint64_t *from = sort->records + i * width;
    uint64_t *to = sort->other + starts[*from >> shift & (RADIX - 1)]++ * width;
    for (size_t word = 0; word < width; word++)
      to[word] = from[word];
  }
  return true;
}

static void sort_part(struct external_sort *sort)
{
  for (unsigned shift = 0; shift < 64 && sort->count > 1; shift += 8) {
    if (!distribute(sort, shift))
      continue;
    uint64_t *sorted = sort->other;
    sort->other = sort->records;
    sort->records = sorted;
  }
}

static int write_part(struct external_sort *sort)
{
  assert(sort->count);
  sort_part(sort);
  *XAPPEND(sort->lengths, sort->runs_count, sort->lengths_room) = sort->count;
  size_t size = sort->count * sort->width * sizeof *sort->records;
  sort->count = 0;
  return scratch_file_append(&sort->file, sort->records, size) == UINT64_MAX ? ERR_INPUT : 0;
}

int external_sort_add(struct external_sort *sort, const uint64_t *record)
{
  assert(sort->count <= sort->room && sort->room <= sort->part);
  int status = 0;
  if (sort->count == sort->part)
    status = write_part(sort);
  else if (sort->count == sort->room)
    grow(sort, MIN(2 * sort->room, sort->part));
  memcpy(sort->records + sort->count++ * sort->width, record, sort->width * sizeof *record);
  return status;
}

/* ---- reading ---- */

static uint64_t key(const struct external_sort *sort, uint32_t run)
{
  assert(sort->runs[run].at < sort->runs[run].count);
  return sort->runs[run].window[sort->runs[run].at * sort->width];
}

static bool before(const void *sort, uint32_t a, uint32_t b)
{
  return key(sort, a) < key(sort, b);
}

/* Fills the run's window.  Returns false at its end. */
static bool refill(struct external_sort *sort, struct run *run, size_t window)
{
  assert(run->at == run->count);
  run->at = 0;
  run->count = (size_t)MIN(run->left, window);
  size_t size = run->count * sort->width * sizeof *run->window;
  if (!size || !scratch_file_read(&sort->file, run->window, size, run->offset))
    return false;
  run->offset += size;
  run->left -= run->count;
  return true;
}

/* Returns the records in the window of each run. */
static size_t window_of(const struct external_sort *sort)
{
  assert(sort->runs_count);
  size_t bytes = PART_BYTES / sort->runs_count / WINDOW_BYTES_MIN * WINDOW_BYTES_MIN;
  return MAX(bytes, WINDOW_BYTES_MIN) / sizeof *sort->records / sort->width;
}

/* The windows of the runs share `records`: more runs than fit there, with the least window, are beyond any log. */
static int open_runs(struct external_sort *sort)
{
  size_t window = window_of(sort);
  if (window * sort->runs_count > sort->part)
    xalloc_die();
  free(sort->runs);
  free(sort->heap.items);
  sort->runs = xcalloc(sort->runs_count, sizeof *sort->runs);
  sort->heap = (struct heap){.items = xcalloc(sort->runs_count, sizeof *sort->heap.items)};
  uint64_t offset = 0;
  for (uint32_t i = 0; i < sort->runs_count; i++) {
    sort->runs[i] =
        (struct run){.offset = offset, .left = sort->lengths[i], .window = sort->records + i * window * sort->width};
    offset += sort->lengths[i] * sort->width * sizeof *sort->records;
    if (refill(sort, &sort->runs[i], window))
      sort->heap.items[sort->heap.count++] = i;
  }
  heap_make(&sort->heap, before, sort);
  return sort->file.failed ? ERR_INPUT : 0;
}

int external_sort_rewind(struct external_sort *sort)
{
  sort->read_one = false;
  if (sort->runs_count) {
    if (sort->count && write_part(sort))
      return ERR_INPUT;
    return open_runs(sort);
  }
  if (!sort->runs) { /* everything is in memory */
    sort_part(sort);
    sort->runs = xcalloc(1, sizeof *sort->runs);
  }
  sort->runs[0].at = 0;
  return 0;
}

const uint64_t *external_sort_next(struct external_sort *sort)
{
  assert(sort->runs);
  if (!sort->runs_count) {
    size_t at = sort->runs[0].at++;
    return at < sort->count ? sort->records + at * sort->width : NULL;
  }
  if (sort->read_one) {
    struct run *run = &sort->runs[sort->heap.items[0]];
    heap_next(&sort->heap, ++run->at < run->count || refill(sort, run, window_of(sort)), before, sort);
  }
  sort->read_one = true;
  if (!sort->heap.count || sort->file.failed)
    return NULL;
  const struct run *run = &sort->runs[sort->heap.items[0]];
  return run->window + run->at * sort->width;
}

bool external_sort_failed(const struct external_sort *sort)
{
  return sort->file.failed;
}
