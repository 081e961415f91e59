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

/* ---- places ---- */

/* What is shown of a place. */
struct shown_place {
  const char *call;
  bool before;
  struct call_place at;
  uint32_t place; /* one that it is shown of */
};

ORDER(by_code, struct shown_place,
      strcmp(x->call, y->call) ?: COMPARE(x->before, y->before) ?: call_place_compare(&x->at, &y->at))

/* Numbers what is shown of the places in its order, so that rows are compared by numbers.  Both arrays are the caller's
 * to free: numbers[place], and what each number stands for. */
static struct shown_place *number_places(const struct profile *profile, const struct names *names,
                                         const struct job_messages *messages, uint32_t *numbers)
{
  uint32_t count = messages->states.places_count + 1, last = 0;
  struct shown_place *shown = xcalloc(count, sizeof *shown);
  for (uint32_t i = 0; i < count; i++)
    shown[i] = (struct shown_place){.call = call_of(profile, messages->contexts[i]),
                                    .before = i && messages->states.places[i].before,
                                    .at = call_place_of(profile, names, messages->contexts[i]),
                                    .place = i};
  qsort(shown, count, sizeof *shown, by_code);
  for (uint32_t i = 0; i < count; i++) {
    if (by_code(&shown[i], &shown[last]) != 0)
      shown[++last] = shown[i];
    numbers[shown[i].place] = last;
  }
  return shown;
}

/* ---- rows ---- */

/* A row, with the numbers of its places. */
struct part {
  enum wait_state state;
  uint32_t at, late;
  uint64_t waits;
  double ns, late_rank_ns;
  int64_t rank, late_rank;
};

/* Parts of one place come together, those with the same late rank next to each other. */
ORDER(by_place, struct part,
      COMPARE(x->state, y->state) ?: COMPARE(x->at, y->at) ?: COMPARE(x->late, y->late) ?
                                                           : COMPARE(x->late_rank, y->late_rank))
ORDER(by_time, struct part, COMPARE(y->ns, x->ns) ?: by_place(x, y))

static bool same_place(const struct part *x, const struct part *y)
{
  return x->state == y->state && x->at == y->at && x->late == y->late;
}

/* Puts parts of one place together, and finds the ranks with the longest shares. */
static uint32_t merge(struct part *parts, uint32_t count)
{
  uint32_t kept = 0;
  double of_rank_ns = 0, most_ns = 0; /* of `late_rank`; of one part, whose waiting rank is named */
  int64_t late_rank = -1;
  for (uint32_t i = 0; i < count; i++) {
    struct part *into = kept ? &parts[kept - 1] : NULL;
    const struct part part = parts[i];
    if (!into || !same_place(into, &part)) {
      parts[kept++] = part;
      parts[kept - 1].late_rank_ns = of_rank_ns = most_ns = part.ns;
      late_rank = part.late_rank;
      continue;
    }
    of_rank_ns = part.late_rank == late_rank ? of_rank_ns + part.ns : part.ns;
    late_rank = part.late_rank;
    into->waits += part.waits;
    into->ns += part.ns;
    if (part.ns > most_ns) {
      most_ns = part.ns;
      into->rank = part.rank;
    }
    if (of_rank_ns > into->late_rank_ns) {
      into->late_rank_ns = of_rank_ns;
      into->late_rank = part.late_rank;
    }
  }
  return kept;
}

/* All parts, as they were found. */
static struct part *list_parts(const struct profile *profile, const struct job_messages *messages,
                               const uint32_t *numbers)
{
  const struct wait_states *states = &messages->states;
  struct part *parts = xcalloc((size_t)states->rows_count + 1, sizeof *parts);
  for (uint32_t i = 0; i < states->rows_count; i++) {
    const struct wait_row *row = &states->rows[i];
    parts[i] = (struct part){.state = row->state,
                             .at = numbers[row->waiting],
                             .late = numbers[row->delaying],
                             .waits = row->waits,
                             .ns = row->ns,
                             .rank = rank_of(profile, messages, row->waiting),
                             .late_rank = rank_of(profile, messages, row->delaying)};
  }
  return parts;
}

void wait_state_rows_make(const struct profile *profile, const struct names *names, const struct job_messages *messages,
                          struct wait_state_rows *rows)
{
  const struct wait_states *states = &messages->states;
  uint32_t *numbers = xcalloc((size_t)states->places_count + 1, sizeof *numbers);
  struct shown_place *shown = number_places(profile, names, messages, numbers);
  struct part *parts = list_parts(profile, messages, numbers);
  for (uint32_t i = 0; i < states->rows_count; i++)
    rows->ns += states->rows[i].ns;
  qsort(parts, states->rows_count, sizeof *parts, by_place);
  rows->count = merge(parts, states->rows_count);
  qsort(parts, rows->count, sizeof *parts, by_time);
  rows->rows = xcalloc((size_t)rows->count + 1, sizeof *rows->rows);
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct part *part = &parts[i];
    const struct shown_place *at = &shown[part->at], *late = &shown[part->late];
    rows->rows[i] = (struct wait_state_row){.state = part->state,
                                            .call = at->call,
                                            .late_call = late->call,
                                            .late_before = late->before,
                                            .place = at->at,
                                            .late_place = late->at,
                                            .waits = part->waits,
                                            .ns = part->ns,
                                            .rank = part->rank,
                                            .late_rank = part->late_rank,
                                            .late_rank_ns = part->late_rank_ns};
  }
  free(numbers);
  free(shown);
  free(parts);
}

void wait_state_rows_release(struct wait_state_rows *rows)
{
  free(rows->rows);
  *rows = (struct wait_state_rows){0};
}
