/* Serialisation of merged profiles and tables, as messages from one rank of hpcprof-lite to another.
 *
 * Context: BATCH.  A message is a sequence of blocks, compressed by zstd as a whole.  A block is a record as it is in
 * memory; pointers are replaced by blocks that follow.  Each block begins at a multiple of 8 bytes.  Sender and
 * receiver must be the same build on the same kind of machine, which the beginning of the message proves.  Apart from
 * that, a message is checked like a file: lengths, numbers and their order.
 *
 * The message owns its bytes, and profile_message_release() frees them.  The first failure is kept in `status`; after
 * it puts have no effect and gets return NULL or 0.
 */
#ifndef HPCPROF_LITE_RANKS_PROFILE_MESSAGE_H
#define HPCPROF_LITE_RANKS_PROFILE_MESSAGE_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Initialised to zero by the caller, or by profile_message_unpack(). */
struct profile_message {
  uint8_t *bytes;
  size_t size, room;
  size_t at;  /* offset of the next block to get                      */
  int status; /* 0; ERR_INPUT: not a valid message; or what its sender has set */
};

void profile_message_release(struct profile_message *message);

/* Appends a block. */
void profile_message_put(struct profile_message *message, const void *block, size_t size);

/* Returns the next block, which belongs to the message; NULL on failure. */
const void *profile_message_get(struct profile_message *message, size_t size);

void profile_message_put_number(struct profile_message *message, uint64_t number);
uint64_t profile_message_get_number(struct profile_message *message);

/* Appends a count and that many records. */
void profile_message_put_array(struct profile_message *message, const void *records, uint64_t count,
                               size_t record_size);

/* Returns the next array, which belongs to the message, and its count; NULL and 0 on failure. */
const void *profile_message_get_array(struct profile_message *message, uint32_t *count, size_t record_size);

/* Returns a copy of the next array, with one more record, which is zero.  The caller frees it. */
void *profile_message_own_array(struct profile_message *message, uint32_t *count, size_t record_size);

/* Appends a count and one field, of 32 bits, of that many records. */
void profile_message_put_column(struct profile_message *message, const void *records, uint64_t count,
                                size_t record_size, size_t at);

/* Returns the count of a column that follows: its cells are in the message, so it is limited by that; 0 on failure. */
uint32_t profile_message_get_count(struct profile_message *message);

/* Returns the next cell, which is below a limit, or MODEL_NONE where that is allowed; 0 on failure. */
uint32_t profile_message_get_cell(struct profile_message *message, uint32_t limit, bool allow_none);

/* Sets *numbers to the next array, of `count` numbers that are each below a limit or MODEL_NONE, NULL for none; the
 * caller frees it also after a failure.  Returns false on failure. */
bool profile_message_get_numbers(struct profile_message *message, uint32_t count, uint32_t limit, uint32_t **numbers);

/* The parents of a tree's rows; the receiver, whose tree is zero, also gets their depths. */
void profile_message_put_tree(struct profile_message *message, const struct tree *tree);
void profile_message_get_tree(struct profile_message *message, struct tree *tree);

/* Makes a message fail that is not valid.  Returns false if it has failed, now or before. */
bool profile_message_check(struct profile_message *message, bool valid);

void profile_message_put_problems(struct profile_message *message, const struct problems *problems);

/* Appends the problems of the message to those of the list. */
void profile_message_get_problems(struct profile_message *message, struct problems *problems);

/* Appends a profile.  A bare one lacks what a second reading of the files does not need: values, problems, work and
 * span. */
void profile_message_put_profile(struct profile_message *message, const struct profile *profile, bool bare);

/* Adds the profile of the message to *profile, whose catalog is initialised: processes fill the gaps of processes[],
 * all else is summed up.  In an empty profile, modules, columns and contexts get the numbers that the sender uses. */
void profile_message_get_profile(struct profile_message *message, struct profile *profile);

/* Returns the message as bytes to send, which the caller frees; NULL if it has failed. */
void *profile_message_pack(const struct profile_message *message, size_t *size);

/* Initialises the message from received bytes. */
void profile_message_unpack(struct profile_message *message, const void *bytes, size_t size);

#endif
