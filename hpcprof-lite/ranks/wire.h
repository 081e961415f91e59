/* Merged profiles and tables as messages from one rank of hpcprof-lite to another.
 *
 * Context: BATCH.  A message is a row of blocks: records as they stand in memory, pointers replaced by what follows,
 * each at an offset that is a multiple of 8, all compressed by zstd.  Both ends must be of one build on one kind of
 * machine, which a mark at the beginning makes sure of; and what comes in is checked like a file: lengths, numbers,
 * order. Failures stick: after one, puts do nothing and gets return NULL.
 */
#ifndef HPCPROF_WIRE_H
#define HPCPROF_WIRE_H

#include "hpcprof-lite/input/merge.h"

struct wire {
  uint8_t *bytes;
  size_t size, room;
  size_t at; /* of what is read next */
  int status;
};

void wire_release(struct wire *wire);

/* Appends a block; takes the next one, which the message keeps. */
void wire_put(struct wire *wire, const void *block, size_t size);
const void *wire_get(struct wire *wire, size_t size);
void wire_put_number(struct wire *wire, uint64_t number);
uint64_t wire_get_number(struct wire *wire);

/* A count, and so many records of that size; NULL where there are none. */
void wire_put_array(struct wire *wire, const void *records, uint64_t count, size_t record_size);
const void *wire_get_array(struct wire *wire, uint32_t *count, size_t record_size);
void *wire_own_array(struct wire *wire, uint32_t *count, size_t record_size); /* the same as a copy: free() */

void wire_put_problems(struct wire *wire, const struct problems *problems);
void wire_get_problems(struct wire *wire, struct problems *problems);

/* All of a profile or, if `bare`, what a second reading of the files needs of it: processes, threads and contexts, not
 * what they hold.  wire_get_profile() adds to what the profile has: processes where there is none yet, all else
 * summed up.  Into a profile that is empty it comes with the same numbers. */
void wire_put_profile(struct wire *wire, const struct profile *profile, bool bare);
void wire_get_profile(struct wire *wire, struct profile *profile);

/* The message as it travels (free()), and back; status says whether that worked. */
void *wire_pack(struct wire *wire, size_t *size);
void wire_unpack(struct wire *wire, const void *bytes, size_t size);

#endif
