#include "hpcrun-lite/rt/sampling/mpi_table.h"

enum { ROWS_FIRST = 8, ROWS_MAX = 4096 };

void mpi_table_init(struct thread_state *t)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  *mpi = (struct mpi_calls){0};
  table_init(&mpi->rows, FORMAT_MPI, ARENA_MPI, t->index, sizeof(struct format_mpi), ROWS_FIRST);
  table_init(&mpi->places, FORMAT_FREE, ARENA_MPI_SITES, t->index, sizeof(struct mpi_place), MPI_PLACES);
}

void mpi_table_release(struct thread_state *t)
{
  table_release(&sampling_of(t)->mpi.rows);
  table_release(&sampling_of(t)->mpi.places);
}

static struct format_mpi *row_at(const struct mpi_calls *mpi, uint32_t index)
{
  return table_at(&mpi->rows, index);
}

/* The first row with that hash.  Nodes of different functions differ, but those without a context are 0. */
static uint32_t *list_of(struct mpi_calls *mpi, uint32_t function, uint32_t node)
{
  return &mpi->first[(node + function) % MPI_LISTS];
}

static struct format_mpi *row_add(struct mpi_calls *mpi, uint32_t function, uint32_t node)
{
  uint32_t index, *first = list_of(mpi, function, node);
  if (!mpi->rows.count && table_next(&mpi->rows, &index))
    table_publish(&mpi->rows);
  struct format_mpi *row = mpi->rows.count < ROWS_MAX ? table_next(&mpi->rows, &index) : NULL;
  if (!mpi->rows.count)
    return NULL;
  if (!row)
    return row_at(mpi, 0);
  *row = (struct format_mpi){.function = function, .node = node, .next = *first};
  table_publish(&mpi->rows);
  *first = index;
  return row;
}

struct format_mpi *mpi_table_find(struct mpi_calls *mpi, uint32_t function, uint32_t node)
{
  for (uint32_t i = *list_of(mpi, function, node); i; i = row_at(mpi, i)->next)
    if (row_at(mpi, i)->function == function && row_at(mpi, i)->node == node)
      return row_at(mpi, i);
  return row_add(mpi, function, node);
}

void mpi_table_follow_merge(struct thread_state *t, uint32_t from, uint32_t to)
{
  const struct mpi_calls *mpi = &sampling_of(t)->mpi;
  for (uint32_t i = 1; i < mpi->rows.count; i++)
    if (row_at(mpi, i)->node == from)
      row_at(mpi, i)->node = to;
}

const struct format_mpi *mpi_table_open(const struct thread_state *t, uint64_t now, uint64_t *ticks)
{
  const struct mpi_calls *mpi = &sampling_of(t)->mpi;
  *ticks = t->activity.call == RT_CALL_MPI && now > mpi->since ? rt_measured_between(mpi->since, now) : 0;
  return t->activity.call == RT_CALL_MPI ? mpi->row : NULL;
}
