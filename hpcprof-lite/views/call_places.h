/* Places of calls in the program: the innermost function of a context that the user has written, and the line in it.
 *
 * Context: BATCH.  Pure: profile and names are only read, and own the strings.
 */
#ifndef HPCPROF_LITE_VIEWS_CALL_PLACES_H
#define HPCPROF_LITE_VIEWS_CALL_PLACES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"

struct call_place {
  const char *function, *file; /* "" if not known; NULL in structures that have no place */
  uint32_t line;
  bool near; /* it is near that place */
};

/* Returns the place of a context: its innermost function that is not one by which the C++ library calls those of POSIX.
 * If that is the body of a construct whose function is not known, the next one outside names it.  All "" for the root
 * and MODEL_NONE. */
struct call_place call_place_of(const struct profile *profile, const struct names *names, uint32_t context);

/* Orders places by file, line and function. */
int call_place_compare(const struct call_place *x, const struct call_place *y);

/* Where threads were blocked longest. */
enum { CALL_PLACES_MOST = 3 };
struct call_places {
  struct call_place most[CALL_PLACES_MOST]; /* the longest first */
  uint64_t ns[CALL_PLACES_MOST];            /* 0: there is none */
  uint64_t all_ns;                          /* in all places */
};

/* column, near: columns of the catalog, of time in such places and near them; MODEL_NONE: none.  initial: only of
 * contexts in the program's main function and outside parallel regions, where only the initial thread is. */
void call_places_find(const struct profile *profile, const struct names *names, uint32_t column, uint32_t near,
                      bool initial, struct call_places *places);

/* Enters a place with its time into arrays of CALL_PLACES_MOST, the longest first. */
void call_places_enter(const struct call_place *place, uint64_t ns, struct call_place *most, uint64_t *most_ns);

#endif
