/* The DWARF of a module as flat tables: maps an address to its source line and to the functions inlined there.
 *
 * Context: BATCH, one thread at a time.  A child process fills a draft and writes it; the parent makes a summary of the
 * bytes.  It checks every number before use, because damaged debug data may have made the child write anything.  Texts
 * are offsets into one block that ends in NUL, 0 = unknown.  All other references are numbers, SYMBOLS_NONE = unknown.
 *
 * The draft's memory is freed by the end of the child.  The summary owns its bytes.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_SUMMARY_H
#define COMMON_SYMBOLS_SYMBOLS_SUMMARY_H

#include "common/symbols/symbols_names.h"
#include "common/symbols/symbols_location.h"
#include "common/symbols/symbols_ranges.h"

/* The source line of the code from low to the low of the next row.  Line 0: code without a line; file unknown, too: a
 * gap between sequences. */
struct symbols_row {
  uint64_t low;
  uint32_t file, line;
};

/* An instance of a function. */
struct symbols_routine {
  uint64_t low;                  /* start of the out-of-line function                                    */
  uint32_t function;             /* SYMBOLS_NONE: unknown                                                */
  uint32_t parent;               /* where it is inlined, a smaller number; SYMBOLS_NONE: it is not       */
  uint32_t call_file, call_line; /* of the inlined call                                                  */
};

/* The declaration of a function. */
struct symbols_function {
  uint32_t name, linkage; /* texts */
  uint32_t decl_file, decl_line;
};

enum symbols_summary_flag {
  SYMBOLS_SUMMARY_LINES = 1,     /* some unit has a line table          */
  SYMBOLS_SUMMARY_FUNCTIONS = 2, /* some unit has entries               */
  SYMBOLS_SUMMARY_DAMAGED = 4,   /* parts could not be read             */
  SYMBOLS_SUMMARY_SPLIT = 8,     /* some unit is in further files       */
  SYMBOLS_SUMMARY_SHORT = 16     /* memory was short: parts may be missing */
};

/* The rows of one sequence of a line table: code from start to end. */
struct symbols_sequence {
  uint64_t start, end;
  size_t first, count;
};

/* Initialised to zero by the caller. */
struct symbols_draft {
  struct symbols_row *rows;
  size_t row_count, row_room;
  bool statement; /* one of the rows at the last address begins a statement */
  struct symbols_sequence *sequences;
  size_t sequence_count, sequence_room;
  struct symbols_routine *routines;
  size_t routine_count, routine_room;
  struct symbols_ranges ranges; /* value: routine */
  struct symbols_function *functions;
  size_t function_count, function_room;
  uint32_t *files; /* texts */
  size_t file_count, file_room;
  char *text;
  size_t text_size, text_room;
  uint32_t missing_units, missing_file; /* units whose split part was not found, and the file of the first of them */
  void *file_numbers;                   /* tsearch() tree of paths */
  struct symbols_pool paths;
  uint32_t flags;
};

/* Adds a copy of text and returns its offset; 0 for NULL, "" and texts that are too long. */
uint32_t symbols_draft_text(struct symbols_draft *draft, const char *text);

/* Returns the number of the file first/second/third (see symbols_join()), which is added once. */
uint32_t symbols_draft_file(struct symbols_draft *draft, const char *first, const char *second, const char *third);

/* Add one and return its number. */
uint32_t symbols_draft_function(struct symbols_draft *draft, struct symbols_function function);
uint32_t symbols_draft_routine(struct symbols_draft *draft, struct symbols_routine routine);

/* Adds a row to the open sequence, which begins at row `first`.  Of several rows at one address the first that begins a
 * statement and the last are kept: a function's first row has its own line, the last one that of the code.  Rows before
 * it that begin no statement belong to the function before. */
void symbols_draft_row(struct symbols_draft *draft, size_t first, struct symbols_row row, bool statement);

/* Ends the open sequence at address `end`; its rows are removed unless `keep`. */
void symbols_draft_sequence(struct symbols_draft *draft, size_t first, uint64_t end, bool keep);

/* In the child: writes the draft by symbols_child_write(). */
void symbols_draft_write(struct symbols_draft *draft, int out);

struct symbols_summary;

/* Returns a summary of the bytes that a draft wrote, for symbols_summary_free(); NULL if they are inconsistent.  Takes
 * over bytes, which it frees on failure. */
struct symbols_summary *symbols_summary_new(uint8_t *bytes, size_t size);
void symbols_summary_free(struct symbols_summary *summary); /* NULL is allowed */

/* Returns the bytes of which the summary was made. */
const uint8_t *symbols_summary_bytes(const struct symbols_summary *summary, size_t *size);

/* Returns bits of enum symbols_summary_flag. */
uint32_t symbols_summary_flags(const struct symbols_summary *summary);

/* The number of units with wanted addresses whose split part was not found; *file: where that of the first should be.
 */
uint32_t symbols_summary_missing(const struct symbols_summary *summary, const char **file);

/* The source position of the first row at an address, where a function begins: *line is 0 if there is none. */
void symbols_summary_first(const struct symbols_summary *summary, uint64_t address, const char **file, uint32_t *line);

/* Adds the addresses at which another line or function begins: see symbols_ranges_starts().  summary may be NULL. */
void symbols_summary_starts(const struct symbols_summary *summary, uint64_t **starts, size_t *count, size_t *room);

/* Writes the locations of an address, outermost first (see symbols_lookup()), and returns their number.  Readable names
 * are stored in pool.  *file and *line receive the source position of the address, even if no function is known. */
int symbols_summary_find(struct symbols_summary *summary, struct symbols_pool *pool, uint64_t address,
                         struct symbols_location *locations, int max, const char **file, uint32_t *line);

#endif
