#include "hpcprof-lite/messages/wait_state_rows.h"

#include "common/mpi_functions.h"
#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The function of MPI that a context calls, or "". */
static const char *call_of(const struct profile *profile, uint32_t context)
{
  if (context == MODEL_NONE || profile->contexts.nodes[context].kind != CONTEXT_MPI)
    return "";
  uint64_t function = profile->contexts.nodes[context].offset;
  return function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS ? mpi_function_name((enum mpi_function)function) : "";
}

static int64_t rank_of(const struct profile *profile, const struct job_messages *messages, uint32_t place)
{
  if (!place)
    return -1;
  const struct profile_process *process = &profile->processes[messages->states.places[place].process];
  return process->mpi_size ? process->mpi_rank : -1;
}

/* Rows of one place come together, those with the same late rank next to each other. */
ORDER(by_place, struct wait_state_row,
      COMPARE(x->state, y->state) ?: strcmp(x->call, y->call) ?: call_place_compare(&x->place, &y->place) ?
                                                             : strcmp(x->late_call, y->late_call) ?
                                                             : COMPARE(x->late_before, y->late_before) ?
                                                             : call_place_compare(&x->late_place, &y->late_place) ?
                                                             : COMPARE(x->late_rank, y->late_rank))
ORDER(by_time, struct wait_state_row, COMPARE(y->ns, x->ns) ?: by_place(x, y))

static bool same_place(const struct wait_state_row *x, const struct wait_state_row *y)
{
  return x->state == y->state && !strcmp(x->call, y->call) && !call_place_compare(&x->place, &y->place) &&
         !strcmp(x->late_call, y->late_call) && x->late_before == y->late_before &&
         !call_place_compare(&x->late_place, &y->late_place);
}

/* Puts rows of one place together, and finds the ranks with the longest shares. */
static uint32_t merge(struct wait_state_row *rows, uint32_t count)
{
  uint32_t kept = 0;
  double of_rank_ns = 0, most_ns = 0; /* of `late_rank`; of one row, whose waiting rank is named */
  int64_t late_rank = -1;
  for (uint32_t i = 0; i < count; i++) {
    struct wait_state_row *into = kept ? &rows[kept - 1] : NULL;
    const struct wait_state_row row = rows[i];
    if (!into || !same_place(into, &row)) {
      rows[kept++] = row;
      rows[kept - 1].late_rank_ns = of_rank_ns = most_ns = row.ns;
      late_rank = row.late_rank;
      continue;
    }
    of_rank_ns = row.late_rank == late_rank ? of_rank_ns + row.ns : row.ns;
    late_rank = row.late_rank;
    into->waits += row.waits;
    into->ns += row.ns;
    if (row.ns > most_ns) {
      most_ns = row.ns;
      into->rank = row.rank;
    }
    if (of_rank_ns > into->late_rank_ns) {
      into->late_rank_ns = of_rank_ns;
      into->late_rank = row.late_rank;
    }
  }
  return kept;
}

void wait_state_rows_make(const struct profile *profile, const struct names *names, const struct job_messages *messages,
                          struct wait_state_rows *rows)
{
  const struct wait_states *states = &messages->states;
  rows->rows = xcalloc((size_t)states->rows_count + 1, sizeof *rows->rows);
  for (uint32_t i = 0; i < states->rows_count; i++) {
    const struct wait_row *row = &states->rows[i];
    uint32_t context = messages->contexts[row->waiting], late = messages->contexts[row->delaying];
    rows->rows[i] = (struct wait_state_row){.state = row->state,
                                            .call = call_of(profile, context),
                                            .late_call = call_of(profile, late),
                                            .late_before = row->delaying && states->places[row->delaying].before,
                                            .place = call_place_of(profile, names, context),
                                            .late_place = call_place_of(profile, names, late),
                                            .waits = row->waits,
                                            .ns = row->ns,
                                            .rank = rank_of(profile, messages, row->waiting),
                                            .late_rank = rank_of(profile, messages, row->delaying)};
  }
  for (uint32_t i = 0; i < states->rows_count; i++)
    rows->ns += states->rows[i].ns;
  qsort(rows->rows, states->rows_count, sizeof *rows->rows, by_place);
  rows->count = merge(rows->rows, states->rows_count);
  qsort(rows->rows, rows->count, sizeof *rows->rows, by_time);
}

void wait_state_rows_release(struct wait_state_rows *rows)
{
  free(rows->rows);
  *rows = (struct wait_state_rows){0};
}
