/* Merged profiles and tables as messages from one rank of hpcprof-lite to another.
 *
 * Context: BATCH.  A message is a row of blocks: records as they stand in memory, pointers replaced by what follows,
 * each at an offset that is a multiple of 8, all compressed by zstd.  Both ends must be of one build on one kind of
 * machine, which a mark at the beginning makes sure of; and what comes in is checked like a file: lengths, numbers,
 * order. Failures stick: after one, puts do nothing and gets return NULL.
 */
#ifndef HPCPROF_LITE_RANKS_SERIALISATION_H
#define HPCPROF_LITE_RANKS_SERIALISATION_H

#include "hpcprof-lite/model/profile.h"

struct serialisation {
  uint8_t *bytes;
  size_t size, room;
  size_t at; /* of what is read next */
  int status;
};

void serialisation_release(struct serialisation *message);

/* Appends a block; takes the next one, which the message keeps. */
void serialisation_put(struct serialisation *message, const void *block, size_t size);
const void *serialisation_get(struct serialisation *message, size_t size);
void serialisation_put_number(struct serialisation *message, uint64_t number);
uint64_t serialisation_get_number(struct serialisation *message);

/* A count, and so many records of that size; NULL where there are none. */
void serialisation_put_array(struct serialisation *message, const void *records, uint64_t count, size_t record_size);
const void *serialisation_get_array(struct serialisation *message, uint32_t *count, size_t record_size);
void *serialisation_own_array(struct serialisation *message, uint32_t *count,
                              size_t record_size); /* the same as a copy: free() */

void serialisation_put_problems(struct serialisation *message, const struct problems *problems);
void serialisation_get_problems(struct serialisation *message, struct problems *problems);

/* All of a profile or, if `bare`, what a second reading of the files needs of it: processes, threads and contexts, not
 * what they hold.  serialisation_get_profile() adds to what the profile has: processes where there is none yet, all
 * else summed up.  Into a profile that is empty it comes with the same numbers. */
void serialisation_put_profile(struct serialisation *message, const struct profile *profile, bool bare);
void serialisation_get_profile(struct serialisation *message, struct profile *profile);

/* The message as it travels (free()), and back; status says whether that worked. */
void *serialisation_pack(struct serialisation *message, size_t *size);
void serialisation_unpack(struct serialisation *message, const void *bytes, size_t size);

#endif
