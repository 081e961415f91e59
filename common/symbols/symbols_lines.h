/* The line table of a unit, read by libdwarf, with a fault of older versions of libdwarf corrected.
 *
 * Context: BATCH, in the child of symbols_child.  A table belongs to its caller; texts live as long as it is open.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_LINES_H
#define COMMON_SYMBOLS_SYMBOLS_LINES_H

#include "common/symbols/libdwarf_versions.h"
#include "common/symbols/symbols_cursor.h"

struct symbols_lines {
  Dwarf_Line_Context context;
  Dwarf_Unsigned version;
  const char *comp_dir; /* NULL if unknown               */
  Dwarf_Signed count;   /* numbers of files are below it */
};

/* A row: the code at an address is from a line of a file, or the sequence ends there. */
struct symbols_line {
  uint64_t address, file, number;
  bool begins_statement, ends_sequence;
};

/* Opens the line table of a unit's root entry.  Returns false if there is none. */
bool symbols_lines_open(struct symbols_lines *lines, Dwarf_Die root);
void symbols_lines_close(struct symbols_lines *lines);

/* Finds the name of a file, and that of its directory, NULL if that is the compilation directory.  Returns false if the
 * file is unknown. */
bool symbols_lines_file(const struct symbols_lines *lines, uint64_t number, const char **directory, const char **name);

/* Calls take() for each row.  section: .debug_line.  Returns false if the rows are damaged. */
bool symbols_lines_rows(const struct symbols_lines *lines, struct symbols_bytes section,
                        void (*take)(void *context, const struct symbols_line *line), void *context);

#endif
