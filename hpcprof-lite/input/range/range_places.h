/* Waiting places of a part of the run, and what the codes of a thread's states mean.
 *
 * Context: BATCH.  A trace with constructs does not name the places of struct format_wait, so a part has its own: one
 * for each kind of wait at the code address of a construct.  Where a thread has a place of the same kind and address in
 * the file, it is the same.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_RANGE_PLACES_H
#define HPCPROF_LITE_INPUT_RANGE_RANGE_PLACES_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/wait_place.h"

/* The places of all threads of a process.  Initialised to zero by the caller. */
struct range_places {
  struct wait_place *all;
  uint32_t count;
  size_t room;
  struct index index;
};

/* Finds or adds a place.  Returns its number. */
uint32_t range_places_add(struct range_places *places, const struct wait_place *place);
void range_places_release(struct range_places *places);

/* The places that the file has of a thread, found by what they are. */
struct range_stored {
  struct format_wait *waits;
  uint32_t count;
  struct index index;
};

/* Returns the number of the place, MODEL_NONE if the file does not have it. */
uint32_t range_stored_find(const struct range_stored *stored, const struct wait_place *place);

/* What a code means, and how long the thread was in that state inside the part. */
struct range_code {
  uint32_t place;      /* where the thread waits, MODEL_NONE: it does not */
  uint32_t stored;     /* the place in the file's table of the thread, MODEL_NONE: none */
  uint32_t wait;       /* its record in the part's table of the thread, plus 1; 0: none yet */
  bool own_first;      /* see thread_states_own_first() */
  bool lock;           /* the place is that of a lock */
  bool in_region;      /* the state lies in a region that the thread has created, outside those of others */
  uint64_t ticks, own; /* own: of these, the runtime's own work */
  uint64_t own_all;    /* that in the whole trace */
  uint64_t begun;      /* executions of the construct that began with this state */
};

/* Makes the codes of a thread: with constructs, of its records of constructs, and room for one more; else of its
 * places.  The caller frees them. */
struct range_code *range_codes_of_constructs(const struct read_file *file, const struct format_construct *constructs,
                                             uint32_t count, const struct range_stored *stored,
                                             struct range_places *places);
struct range_code *range_codes_of_places(const struct range_stored *stored, struct range_places *places);

/* Returns the code of waiting at one of the places of the file. */
struct range_code range_code_of_place(const struct range_stored *stored, uint32_t number, struct range_places *places);

/* Indexes the places of the file. */
void range_stored_index(struct range_stored *stored);

#endif
