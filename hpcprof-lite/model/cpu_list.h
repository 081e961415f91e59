/* Sets of CPUs, as measured (common/format.h), and as lists.  Context: BATCH.  Pure. */
#ifndef HPCPROF_LITE_MODEL_CPU_LIST_H
#define HPCPROF_LITE_MODEL_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_LIST_TEXT = 256 }; /* bytes; what does not fit is "..." */

/* Writes "0-3,7".  all: how many CPUs the set has with those that were not stored; these are ",+N".  An empty set: "".
 * Returns the text. */
const char *cpu_list_text(const uint64_t *words, uint64_t all, char text[CPU_LIST_TEXT]);

uint32_t cpu_list_count(const uint64_t *words);

/* Whether each CPU of a set is in the other one. */
bool cpu_list_within(const uint64_t *words, const uint64_t *other);

#endif
