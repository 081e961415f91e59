/* One line table (DWARF 2 to 5): file names and address → line.
 *
 * Context: BATCH.  The header is read at once, the line program when the first address is asked for.  Not locked.
 * Work on all tables of a file together is bounded by a budget that the caller keeps, so that tables which overlap in
 * a damaged file cannot cost more than a multiple of the file's size. */
#ifndef HPCPROF_LITE_SYMBOLS_LINES_H
#define HPCPROF_LITE_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "hpcprof-lite/symbols_cursor.h"
#include "hpcprof-lite/symbols_names.h"
#include "hpcprof-lite/symbols_ranges.h"

struct symbols_lines;

struct symbols_lines_source {
  struct symbols_bytes line, str, line_str;
  const struct symbols_ranges *code; /* where executable code lies: rows elsewhere belong to discarded functions */
  struct symbols_pool *pool;         /* keeps file names            */
  uint64_t *budget;                  /* bytes that may yet be read  */
};

/* Reads the header at offset of .debug_line; comp_dir (may be NULL) must outlive the table.  NULL if it is unusable. */
struct symbols_lines *symbols_lines_new(const struct symbols_lines_source *source, uint64_t offset,
                                        const char *comp_dir);

/* The path of a file number of this table, NULL if unknown. */
const char *symbols_lines_file(struct symbols_lines *lines, uint64_t file);

/* Finds the row that covers address.  False without; *line may be 0: code that belongs to no line. */
bool symbols_lines_find(struct symbols_lines *lines, uint64_t address, uint32_t *file, uint32_t *line);

void symbols_lines_free(struct symbols_lines *lines);

#endif
