/* What DWARF says about a module, as a flat table: address → functions inlined there, and source line.
 *
 * Context: BATCH.  A child process fills a draft and writes it out; the parent checks every number in it before use,
 * since damaged debug data may have made the child write anything.  Texts are offsets into one block that ends in NUL,
 * 0 = unknown; everything else refers by number, SYMBOLS_NONE = nothing.  Not locked: its owner guards it. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_INDEX_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_INDEX_H

#include "hpcprof-lite/symbols/symbols.h"
#include "hpcprof-lite/symbols/symbols_names.h"
#include "hpcprof-lite/symbols/symbols_ranges.h"

/* Code from low to the next row's low.  line 0: belongs to no line; file and line unknown: a gap. */
struct symbols_row {
  uint64_t low;
  uint32_t file, line;
};

/* An instance of a function. */
struct symbols_scope {
  uint64_t low;                  /* start of the out-of-line function                                      */
  uint32_t function;             /* SYMBOLS_NONE: unknown                                                  */
  uint32_t parent;               /* the scope it is inlined into, with a smaller number; NONE: out of line */
  uint32_t call_file, call_line; /* of the inlined call                                                    */
};

/* A function as it is declared. */
struct symbols_function {
  uint32_t name, linkage; /* texts */
  uint32_t decl_file, decl_line;
};

enum symbols_index_flag {
  SYMBOLS_INDEX_LINES = 1,     /* some unit has a line table          */
  SYMBOLS_INDEX_FUNCTIONS = 2, /* some unit has entries of its own (not so where they are in .dwo files) */
  SYMBOLS_INDEX_DAMAGED = 4    /* parts could not be read             */
};

/* Rows from start to end that were in one sequence of a line table. */
struct symbols_sequence {
  uint64_t start, end;
  size_t first, count;
};

struct symbols_draft {
  struct symbols_row *rows;
  size_t row_count, row_room;
  struct symbols_sequence *sequences;
  size_t sequence_count, sequence_room;
  struct symbols_scope *scopes;
  size_t scope_count, scope_room;
  struct symbols_ranges ranges; /* → scope */
  struct symbols_function *functions;
  size_t function_count, function_room;
  uint32_t *files; /* texts */
  size_t file_count, file_room;
  char *text;
  size_t text_size, text_room;
  void *file_numbers; /* search tree by path */
  struct symbols_pool paths;
  uint32_t flags;
  bool failed; /* out of memory, or of numbers */
};

/* Adds a copy of text; 0 for NULL, "" and texts that are too long. */
uint32_t symbols_draft_text(struct symbols_draft *draft, const char *text);

/* The number of the file first/second/third (see symbols_join). */
uint32_t symbols_draft_file(struct symbols_draft *draft, const char *first, const char *second, const char *third);

/* Add one; return its number. */
uint32_t symbols_draft_function(struct symbols_draft *draft, struct symbols_function function);
uint32_t symbols_draft_scope(struct symbols_draft *draft, struct symbols_scope scope);

/* Adds a row to the open sequence, which began at row `first`.  Of rows at one address the last counts. */
void symbols_draft_row(struct symbols_draft *draft, size_t first, struct symbols_row row);

/* Closes the open sequence; without `keep` its rows are taken back. */
void symbols_draft_sequence(struct symbols_draft *draft, size_t first, uint64_t end, bool keep);

/* Writes the draft with symbols_child_write().  For the child only, which ends soon: nothing is released. */
void symbols_draft_write(struct symbols_draft *draft, int out);

struct symbols_index;

/* Makes an index of what a draft wrote; takes over bytes (freed also on failure).  NULL: not as it must be, or no
 * memory. */
struct symbols_index *symbols_index_new(uint8_t *bytes, size_t size);
void symbols_index_free(struct symbols_index *index);

/* Bits of enum symbols_index_flag. */
uint32_t symbols_index_flags(const struct symbols_index *index);

/* Writes the places of an address, outermost first (see symbols_lookup); readable names go to pool.  *file and *line
 * receive the address's own source position also where no function is known.  Returns the number of places. */
int symbols_index_find(struct symbols_index *index, struct symbols_pool *pool, uint64_t address,
                       struct symbols_place *places, int max, const char **file, uint32_t *line);

#endif
