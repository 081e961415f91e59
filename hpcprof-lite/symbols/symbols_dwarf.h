/* Reads DWARF with libdwarf: functions, inlined instances and lines of the units that hold the wanted addresses.  The
 * only file that knows libdwarf.
 *
 * Context: BATCH.  libdwarf aborts, hangs or takes all memory on some damaged files, so all of it runs in a child
 * process (symbols_child) that hands back an index (symbols_index); the sections are read before, by symbols_elf. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_DWARF_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_DWARF_H

#include "hpcprof-lite/symbols/symbols_cursor.h"
#include "hpcprof-lite/symbols/symbols_index.h"
#include "hpcprof-lite/symbols/symbols_ranges.h"

enum symbols_section {
  SYMBOLS_INFO,
  SYMBOLS_ABBREV,
  SYMBOLS_STR,
  SYMBOLS_LINE,
  SYMBOLS_LINE_STR,
  SYMBOLS_RANGE_LISTS, /* .debug_ranges, before DWARF 5 */
  SYMBOLS_RNGLISTS,    /* .debug_rnglists, DWARF 5      */
  SYMBOLS_ADDR,
  SYMBOLS_STR_OFFSETS,
  SYMBOLS_SECTIONS
};

extern const char *const symbols_section_names[SYMBOLS_SECTIONS];

struct symbols_dwarf_source {
  struct symbols_bytes sections[SYMBOLS_SECTIONS];
  struct symbols_bytes shared[SYMBOLS_SECTIONS]; /* of the file that dwz moved common parts to; no bytes: none       */
  const struct symbols_ranges *code;             /* where executable code lies: what is elsewhere was discarded      */
  const uint32_t *wanted;                        /* ascending addresses to be looked up; others may be known in part */
  size_t wanted_count;                           /* 0: all                                                           */
};

/* Reads what source describes.  NULL: nothing can be used, and *fault says why, in words that follow a colon. */
struct symbols_index *symbols_dwarf_read(const struct symbols_dwarf_source *source, const char **fault);

#endif
