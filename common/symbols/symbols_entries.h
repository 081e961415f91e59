/* The entries of DWARF, read by libdwarf from sections in memory: their attributes and the ranges of their code.
 *
 * Context: BATCH, in the child of symbols_child.  Keeps no state.  The sections belong to the caller; texts live as
 * long as they.  Attributes that cannot be read count as missing.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_ENTRIES_H
#define COMMON_SYMBOLS_SYMBOLS_ENTRIES_H

#include "common/symbols/libdwarf_versions.h"
#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_sections.h"

/* The DWARF of one file: that of the module, the one to which dwz moved common parts, or the split part of a unit. */
struct symbols_debug_file {
  Dwarf_Obj_Access_Interface_a access;
  Dwarf_Debug dwarf;
  struct symbols_debug_file *shared;    /* the file of dwz, NULL if there is none                 */
  const struct symbols_bytes *sections; /* [SYMBOLS_SECTIONS]                                     */
  bool split;                           /* a split part: its addresses are in those of the module */
  struct symbols_bytes addresses;       /* .debug_addr of the module, from the unit's addresses on */
};

/* What the ranges of an entry depend on. */
struct symbols_unit {
  Dwarf_Debug dwarf;
  uint64_t low; /* base of the ranges; 0 if it has none */
  unsigned version;
  const struct symbols_debug_file
      *split;           /* the unit's other part, to which the entries belong; NULL if there is none */
  uint64_t ranges_base; /* of its ranges in .debug_ranges */
};

/* The attributes of an entry that matter for code and functions. */
struct symbols_entry {
  uint64_t low, high, ranges, origin, specification;
  uint64_t decl_file, decl_line, call_file, call_line; /* decl_file: UINT64_MAX if there is none */
  const char *name, *linkage;
  Dwarf_Attribute ranges_attribute; /* NULL if there is none; valid until symbols_entry_release() */
  Dwarf_Half ranges_form;
  const char *split_name,
      *directory; /* of a skeleton unit: the file of its other part, and the compilation's directory */
  uint64_t split_id, addresses_base, ranges_base;
  bool has_low, has_high, high_is_size, origin_shared, specification_shared, has_lines;
};

/* Opens the DWARF in file->sections, which must remain; `split` tells what they are.  The file, which must not be
 * moved, is never closed.  Returns false on failure. */
bool symbols_debug_open(struct symbols_debug_file *file);

/* Reads all attributes of an entry at once, which is faster than asking libdwarf for each.  Returns false on failure;
 * symbols_entry_release() may be called then, too. */
bool symbols_entry_read(const struct symbols_debug_file *file, Dwarf_Die die, struct symbols_entry *entry);
void symbols_entry_release(struct symbols_entry *entry);

/* The offset of the class of which the entry is a method, by the type of its object pointer; 0: not known.  A class has
 * a location in the source where methods that the compiler makes have none, such as those of GCC's lambdas. */
uint64_t symbols_entry_class(const struct symbols_debug_file *file, Dwarf_Die die);

/* The address that an attribute of an entry has; 0: unknown. */
uint64_t symbols_entry_address(const struct symbols_debug_file *file, Dwarf_Die die, Dwarf_Half name);

/* Calls take() for each range of an entry of the unit; what it passes may be empty or nonsense. */
void symbols_entry_ranges(const struct symbols_unit *unit, Dwarf_Die die, const struct symbols_entry *entry,
                          void (*take)(void *context, uint64_t low, uint64_t high), void *context);

#endif
