/* The units of one .debug_info section and their debugging information entries (DWARF 2 to 5, 64-bit addresses).
 *
 * Context: BATCH.  Not locked: its owner guards it.  Everything is read from bytes in memory with checked reads;
 * offsets that lead nowhere read as absent.  Abbreviation and range lists that damaged files share or overlap are paid
 * from a budget proportional to the sections' sizes; when it is used up, no more of them are read. */
#ifndef HPCPROF_LITE_SYMBOLS_UNITS_H
#define HPCPROF_LITE_SYMBOLS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "hpcprof-lite/symbols_cursor.h"
#include "hpcprof-lite/symbols_ranges.h"

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

/* An attribute's value, by kind. */
enum symbols_value_kind {
  SYMBOLS_VALUE_ABSENT,
  SYMBOLS_VALUE_NUMBER, /* constants, offsets into other sections, flags     */
  SYMBOLS_VALUE_ADDRESS,
  SYMBOLS_VALUE_TEXT,   /* text may be NULL: a string that cannot be reached */
  SYMBOLS_VALUE_ENTRY,  /* offset of an entry in the same .debug_info        */
  SYMBOLS_VALUE_SHARED, /* offset of an entry in the shared (dwz) file       */
  SYMBOLS_VALUE_LIST    /* index of a range list                             */
};

struct symbols_value {
  enum symbols_value_kind kind;
  uint64_t number;
  const char *text;
};

struct symbols_abbrevs;
struct symbols_abbrev;

struct symbols_unit {
  uint64_t offset, first, end; /* of its header, its root entry, and its end          */
  uint64_t abbrev_offset;
  uint8_t version, offset_size;
  struct symbols_abbrevs *abbrevs; /* NULL until needed                               */
  /* from the root entry */
  uint64_t low, str_offsets_base, addr_base, rnglists_base;
  uint64_t line_offset;
  bool has_lines, has_entries;
  const char *comp_dir;
};

struct symbols_info {
  struct symbols_bytes sections[SYMBOLS_SECTIONS];
  const struct symbols_ranges *code; /* where executable code lies                     */
  struct symbols_info *shared;       /* of .gnu_debugaltlink; NULL without             */
  struct symbols_ranges *covered;    /* receives what the units cover; NULL: not asked */
  struct symbols_unit *units;
  size_t unit_count, unit_room;
  struct symbols_abbrevs *recent; /* the table read last                            */
  uint64_t budget;                /* bytes of abbreviations and lists yet to read   */
  bool damaged;
};

/* An entry; its attributes may be read once. */
struct symbols_entry {
  uint64_t offset;
  uint32_t tag; /* 0: end of a list of children */
  bool children;
  const struct symbols_abbrev *abbrev;
};

/* The attributes of an entry that tell about code and functions. */
struct symbols_fields {
  struct symbols_value low, high, ranges, entry_pc, origin, specification, name, linkage, decl_file, decl_line,
      call_file, call_line, lines, comp_dir, str_offsets_base, addr_base, rnglists_base;
};

/* Finds all units and reads their root entries.  sections, code, shared and covered are set by the caller and outlive
 * the info; sections of strings must end in NUL.  Stops at damage (info->damaged).  False: no memory. */
bool symbols_info_open(struct symbols_info *info);
void symbols_info_release(struct symbols_info *info);

/* The unit that holds the entry at offset, NULL without. */
struct symbols_unit *symbols_info_unit(const struct symbols_info *info, uint64_t offset);

/* Makes a unit's abbreviations ready, without which its entries cannot be read. */
bool symbols_unit_prepare(struct symbols_info *info, struct symbols_unit *unit);

/* Reads the head of the entry at the cursor.  False at the end of the unit or at damage. */
bool symbols_entry_read(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                        struct symbols_entry *entry);

/* Moves the cursor behind the attributes of an entry just read, with or without taking what they say. */
void symbols_entry_skip(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                        const struct symbols_entry *entry);
void symbols_entry_fields(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                          const struct symbols_entry *entry, struct symbols_fields *fields);

/* Adds the address ranges of an entry to out, with value and depth as given.  Ranges outside the code are left out.
 * *first receives the entry's start address where it has any range.  Returns the number of ranges added, negative
 * without memory. */
long symbols_entry_ranges(struct symbols_info *info, const struct symbols_unit *unit,
                          const struct symbols_fields *fields, uint32_t value, uint32_t depth,
                          struct symbols_ranges *out, uint64_t *first);

#endif
