/* The load map: which module an address belongs to.
 *
 * Context: RT; modules_start() CTL.  Modules are entered when a sample first meets them, so neither dlopen nor the
 * loader's lock is involved: glibc's lock-free _dl_find_object tells the extent and the name.  Entries are never
 * removed: a record's index means the same file at the same place for the life of the process.  Shared by all threads;
 * new entries are serialised by a lock that is only taken inside rt_enter() and waited for a bounded time.
 */
#ifndef HPCRUN_LITE_RT_CORE_MODULES_H
#define HPCRUN_LITE_RT_CORE_MODULES_H

#include "hpcrun-lite/rt/core/rt.h"

/* Enters the executable (by its real path), this library, libc and the loader. */
void modules_start(const char *executable);

/* Marks the module that holds that address as the OpenMP runtime.  False if it is the executable itself: then the
 * runtime's frames cannot be told from the program's. */
bool modules_mark_runtime(struct thread_state *t, const void *address);

/* Module of an address: its index (from 1) and its record.  Addresses outside all modules belong to an anonymous one, a
 * window of 4 GiB.  Returns NULL (and counts) where no entry could be made. */
const struct format_module *modules_find(struct thread_state *t, uint64_t address, uint32_t *index);

/* Path of the OpenMP runtime, as far as samples met one; NULL otherwise. */
const char *modules_runtime(void);

/* Appends a string to the process's string table; returns its offset, 0 (the empty string) without memory. */
uint32_t modules_string(const char *text);

const struct table *modules_table(void);
const struct table *modules_strings(void);
const char *modules_path(const struct format_module *module);

#endif
