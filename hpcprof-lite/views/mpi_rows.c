#include "hpcprof-lite/views/mpi_rows.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct record {
  const struct context_mpi *calls;
  struct call_place place; /* of its context */
  uint32_t row;            /* likewise, of the top-down tree */
};

static int compare_groups(const struct record *x, const struct record *y)
{
  return COMPARE(x->calls->function, y->calls->function) ?: call_place_compare(&x->place, &y->place);
}

ORDER(by_group, struct record,
      compare_groups(x, y) ?: COMPARE(x->calls->owner, y->calls->owner) ?: COMPARE(x->calls->thread, y->calls->thread))
ORDER(by_row, struct record, COMPARE(x->row, y->row))

/* The row of the tree in which the calls took longest; the records are reordered. */
static uint32_t heaviest(struct record *records, uint32_t count)
{
  uint32_t best = MODEL_NONE;
  uint64_t most_ns = 0, ns = 0;
  qsort(records, count, sizeof *records, by_row);
  for (uint32_t i = 0; i < count; i++) {
    model_add(&ns, records[i].calls->ns);
    if (i + 1 < count && records[i + 1].row == records[i].row)
      continue;
    if (best == MODEL_NONE || ns > most_ns) {
      best = records[i].row;
      most_ns = ns;
    }
    ns = 0;
  }
  return best;
}

/* Makes the row of a group, whose records are by process and thread; they are reordered. */
static void make_row(struct record *records, uint32_t count, struct mpi_row *row)
{
  assert(count);
  *row = (struct mpi_row){.function = records[0].calls->function, .place = records[0].place};
  for (uint32_t i = 0; i < count; i++) {
    const struct context_mpi *calls = records[i].calls, *before = i ? records[i - 1].calls : NULL;
    bool process = !before || before->owner != calls->owner;
    row->ranks += process;
    row->threads += process || before->thread != calls->thread;
    model_add(&row->calls, calls->calls);
    model_add(&row->ns, calls->ns);
    model_add(&row->decoded, calls->decoded);
    model_add(&row->sent, calls->sent);
    model_add(&row->received, calls->received);
    row->longest_ns = MAX(row->longest_ns, calls->longest_ns);
  }
  row->row = heaviest(records, count);
}

ORDER(by_time, struct mpi_row,
      COMPARE(y->ns, x->ns) ?: COMPARE(y->calls, x->calls) ?: COMPARE(x->function, y->function)
      ?: call_place_compare(&x->place, &y->place))

void mpi_rows_make(const struct profile *profile, const struct names *names, const uint32_t *row_of,
                   struct mpi_rows *rows)
{
  assert(row_of && names->address_of);
  const struct contexts *contexts = &profile->contexts;
  uint32_t count = contexts->mpi_count;
  struct record *records = xcalloc(count, sizeof *records);
  *rows = (struct mpi_rows){.rows = xcalloc(count, sizeof *rows->rows)};
  for (uint32_t i = 0; i < count; i++)
    records[i] =
        (struct record){.calls = &contexts->mpi[i],
                        .place = call_place_of(profile, names, contexts->mpi[i].context),
                        .row = contexts->mpi[i].context == MODEL_NONE ? MODEL_NONE : row_of[contexts->mpi[i].context]};
  qsort(records, count, sizeof *records, by_group);
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && !compare_groups(&records[i], &records[end]);)
      end++;
    make_row(records + i, end - i, &rows->rows[rows->count]);
    model_add(&rows->all_ns, rows->rows[rows->count++].ns);
  }
  free(records);
  qsort(rows->rows, rows->count, sizeof *rows->rows, by_time);
}

void mpi_rows_release(struct mpi_rows *rows)
{
  free(rows->rows);
  *rows = (struct mpi_rows){0};
}

double mpi_row_mean_bytes(const struct mpi_row *row)
{
  return row->decoded ? (double)MAX(row->sent, row->received) / (double)row->decoded : 0;
}
