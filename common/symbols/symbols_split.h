/* Split DWARF (gcc -gsplit-dwarf): finds the debug data of a unit that are not in the program, but in a file of their
 * own, NAME.dwo, or with those of other units in a package, PROGRAM.dwp.
 *
 * Context: BATCH, in the child of symbols_child, which ends with all files open.  The bytes of sections live until
 * then. All input is hostile.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_SPLIT_H
#define COMMON_SYMBOLS_SYMBOLS_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/symbols/symbols_cursor.h"
#include "common/symbols/symbols_sections.h"

/* The sections of a package; no bytes: there is none. */
struct symbols_package {
  struct symbols_bytes index, sections[SYMBOLS_SECTIONS];
};

/* Where files are looked for.  The caller fills in the paths, which may be NULL. */
struct symbols_split {
  const char *program, *debug; /* the module's file, and its separate debug file */
  struct symbols_package packages[2];
  bool opened;
};

/* What a skeleton unit tells of its other part. */
struct symbols_split_unit {
  const char *directory, *name; /* of the compilation; of the .dwo file */
  uint64_t id;
};

/* The files in which a unit can be, in the order in which they are to be tried: packages, then .dwo files. */
enum { SYMBOLS_SPLIT_PLACES = 5 };

/* Fills in the sections of a unit from one of its places.  Returns false if the file is missing or has no such unit; a
 * .dwo file may be of another build, which the unit's id tells. */
bool symbols_split_find(struct symbols_split *split, const struct symbols_split_unit *unit, int place,
                        struct symbols_bytes sections[SYMBOLS_SECTIONS]);

/* Returns the size of the packages, without the holes of sparse files. */
uint64_t symbols_split_bytes(const struct symbols_split *split);

#endif
