/* Names that the program gives to marks, user phases and counters: each is stored once in the strings of the process.
 *
 * Context: RT, by any thread inside rt_enter().  Lookups are lock-free; a new name is added under a lock that is tried a
 * bounded number of times.  All memory is the arena's. */
#ifndef HPCRUN_LITE_RT_MARKS_MARK_NAMES_H
#define HPCRUN_LITE_RT_MARKS_MARK_NAMES_H

#include <stdint.h>

/* Different names of a process; bytes of a name: longer ones are cut, at a character of UTF-8. */
enum { MARK_NAMES_MAX = 65535, MARK_NAME_BYTES = 255 };

/* CTL: forgets all names, those of the parent process for example. */
void mark_names_start(void);

/* Returns the name's offset in the table of strings; 0 for an empty one, without memory, or if there are too many. */
uint32_t mark_names_find(const char *name);

#endif
