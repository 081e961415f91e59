/* Wait sites of a part of the run, and what the codes of a thread's states mean.
 *
 * Context: BATCH.  A trace with constructs does not name the sites of struct format_wait, so a part has its own: one
 * for each kind of wait at the code address of a construct.  Where a thread has a site of the same kind and address in
 * the file, it is the same.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_RANGE_WAIT_SITES_H
#define HPCPROF_LITE_INPUT_RANGE_RANGE_WAIT_SITES_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/wait_site.h"

/* The sites of all threads of a process.  Initialised to zero by the caller. */
struct range_wait_sites {
  struct wait_site *all;
  uint32_t count;
  size_t room;
  struct hash_map map;
};

/* Finds or adds a site.  Returns its number. */
uint32_t range_wait_sites_add(struct range_wait_sites *sites, const struct wait_site *site);
void range_wait_sites_release(struct range_wait_sites *sites);

/* The sites that the file has of a thread, found by what they are. */
struct range_stored {
  struct format_wait *waits;
  uint32_t count;
  struct hash_map map;
};

/* Returns the number of the site, MODEL_NONE if the file does not have it. */
uint32_t range_stored_find(const struct range_stored *stored, const struct wait_site *site);

/* What a code means, and how long the thread was in that state inside the part. */
struct range_code {
  uint32_t site;       /* where the thread waits, MODEL_NONE: it does not */
  uint32_t stored;     /* the site in the file's table of the thread, MODEL_NONE: none */
  uint32_t wait;       /* its record in the part's table of the thread, plus 1; 0: none yet */
  bool own_first;      /* see thread_states_own_first() */
  bool lock;           /* the site is that of a lock */
  bool in_region;      /* the state lies in a region that the thread has created, outside those of others */
  bool inside;         /* it lies in a region of any thread */
  uint64_t ticks, own; /* own: of these, the runtime's own work */
  uint64_t own_all;    /* that in the whole trace */
  uint64_t begun;      /* executions of the construct that began with this state */
  double left;         /* see exact_waits_leave_ready() */
};

/* Makes the codes of a thread: with constructs, of its records of constructs, and room for one more; else of its
 * sites.  The caller frees them. */
struct range_code *range_codes_of_constructs(const struct read_file *file, const struct format_construct *constructs,
                                             uint32_t count, const struct range_stored *stored,
                                             struct range_wait_sites *sites);
struct range_code *range_codes_of_sites(const struct range_stored *stored, struct range_wait_sites *sites);

/* Returns the code of waiting at one of the sites of the file. */
struct range_code range_code_of_site(const struct range_stored *stored, uint32_t number,
                                     struct range_wait_sites *sites);

/* Indexes the sites of the file. */
void range_stored_index(struct range_stored *stored);

#endif
