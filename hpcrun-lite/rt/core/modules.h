/* The load map: which module (executable or library) an address belongs to; and the process's string table.
 *
 * Context: RT; modules_start() CTL.  A module is added when its first address is looked up.  The extent and the name
 * come from glibc's lock-free _dl_find_object, so neither dlopen() nor the loader's lock is involved.  Entries are
 * never removed: an index means the same file at the same address for the life of the process.
 *
 * The tables are shared by all threads and owned by this module.  A lock serialises additions; it is taken inside
 * rt_enter() only, and waited for a bounded time.  On failure a function returns NULL or 0. */
#ifndef HPCRUN_LITE_RT_CORE_MODULES_H
#define HPCRUN_LITE_RT_CORE_MODULES_H

#include "hpcrun-lite/rt/core/rt.h"

/* CTL: starts the tables of a new process, with the executable (by its real path) and this library. */
void modules_start(const char *executable);

/* The module of that address contains an OpenMP runtime's code.  Returns it, with its index; NULL if it is the
 * executable itself, or not found. */
const struct format_module *modules_flag_runtime(struct thread_state *t, const void *address, uint32_t *index);

/* The same for the runtime that reports by OMPT.  Marks the module of that address as the OpenMP runtime.  Returns
 * false if it is the executable itself, or not found: then the runtime's frames cannot be distinguished from the
 * program's. */
bool modules_mark_runtime(struct thread_state *t, const void *address);

/* Returns the module of an address and sets its index (from 1).  An address outside all modules gets an anonymous
 * module that covers the 4 GiB around it, and the loss is counted.  Returns NULL, with the loss counted, if no entry
 * could be made.
 */
const struct format_module *modules_find(struct thread_state *t, uint64_t address, uint32_t *index);

/* Returns the module to which the loader has assigned that address, its data included, and sets its index; NULL if
 * there is none, or no entry could be made. */
const struct format_module *modules_loaded(struct thread_state *t, uint64_t address, uint32_t *index);

/* Whether an entry (0: none) is that of the module which has the address now.  Another one may have had it, if modules
 * were unloaded; what is in no module is taken for the same code. */
bool modules_still(struct thread_state *t, uint64_t address, uint32_t index);

/* A frame has been found at an offset in a module of the table: the code there identifies the module's file, if nothing
 * better does. */
void modules_sampled(uint32_t index, uint64_t offset);

/* Path of the OpenMP runtime; NULL if no address in it was looked up. */
const char *modules_runtime(void);

/* Appends a string to the string table and returns its offset, 0 (the empty string) without memory. */
uint32_t modules_string(const char *text);

/* The tables, for the writer, and a module's path. */
const struct table *modules_table(void);
const struct table *modules_code_table(void);
const struct table *modules_strings(void);
const char *modules_path(const struct format_module *module);

#endif
