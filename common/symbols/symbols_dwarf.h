/* Reads DWARF: functions, inlined instances and lines of the units that contain the wanted addresses.
 *
 * Context: BATCH.  Only this module, symbols_entries and symbols_lines call libdwarf.  It aborts, hangs or takes all
 * memory on some damaged files, so all of it runs in a child process (symbols_child), which returns a summary
 * (symbols_summary).  The sections are read before, by symbols_elf, and belong to the caller.  Damage in parts of the
 * data is noted in the summary's flags.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_DWARF_H
#define COMMON_SYMBOLS_SYMBOLS_DWARF_H

#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_location.h"
#include "common/symbols/symbols_summary.h"
#include "common/symbols/symbols_ranges.h"
#include "common/symbols/symbols_sections.h"

struct symbols_dwarf_source {
  struct symbols_bytes sections[SYMBOLS_SECTIONS];
  struct symbols_bytes shared[SYMBOLS_SECTIONS]; /* of the file to which dwz moved common parts; no bytes: none     */
  const char *program, *debug; /* the files that they may come from, NULL if there is none: packages are beside them */
  const struct symbols_ranges *code; /* executable code; ranges elsewhere are of discarded functions    */
  const uint32_t *wanted;            /* addresses to look up, ascending; others may be known in part    */
  size_t wanted_count;               /* 0: all addresses                                                */
  bool tail_calls;                   /* only these are read, of all functions of the units              */
};

enum symbols_dwarf_end {
  SYMBOLS_DWARF_OK,
  SYMBOLS_DWARF_DAMAGED, /* nothing is usable                                                        */
  SYMBOLS_DWARF_UNREAD   /* reading needs more CPU time or memory than it may; nothing is known of the data */
};

/* Sets *summary, for symbols_summary_free(), unless nothing is usable: then to NULL, and *fault to the reason, a clause
 * in which "they" stands for the debug data. */
enum symbols_dwarf_end symbols_dwarf_read(const struct symbols_dwarf_source *source, struct symbols_summary **summary,
                                          const char **fault);

/* Reads the tail calls of a source that has `tail_calls` set.  Sets *calls to an array for free(), NULL if there are
 * none, *count to its length, and *sound to whether nothing was damaged or lacked memory.  Addresses are not checked.
 * False if nothing is usable. */
bool symbols_dwarf_tail_calls(const struct symbols_dwarf_source *source, struct symbols_tail_call **calls,
                              size_t *count, bool *sound);

/* The version of libdwarf. */
const char *symbols_dwarf_version(void);

#endif
