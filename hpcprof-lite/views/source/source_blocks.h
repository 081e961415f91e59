/* Chooses the functions, files and lines that the source view shows, and finds the text of each.
 *
 * Context: BATCH.  The structure owns its arrays; strings belong to the names, to the catalog and to the modules'
 * symbols.  What is not selected explicitly is limited, so that it fits one or two screens.
 */
#ifndef HPCPROF_LITE_VIEWS_SOURCE_SOURCE_BLOCKS_H
#define HPCPROF_LITE_VIEWS_SOURCE_SOURCE_BLOCKS_H

#include "hpcprof-lite/model/selector.h"
#include "hpcprof-lite/views/source/source_files.h"
#include "hpcprof-lite/views/source/source_lines.h"

enum {
  SOURCE_CONTEXT = 2, /* lines that are shown before and after one with figures */
  /* What is shown where nothing is selected: that many lines in all; the heaviest functions, in any case; others from
   * that percentage of all threads' time on. */
  SOURCE_LINES_MOST = 60,
  SOURCE_FUNCTIONS_LEAST = 5,
  SOURCE_PERCENT_LEAST = 1
};

/* A line that is shown. */
struct source_shown {
  uint32_t line; /* 0: the time of a function whose line is not known */
  uint32_t row;  /* of source_lines.tree; MODEL_NONE: it has no figures */
};

/* Where a disassembler finds the code that costs most in a block. */
struct source_code {
  uint32_t module;      /* MODEL_NONE: not known */
  const char *symbol;   /* NULL: only addresses are known */
  uint64_t start, stop; /* addresses in the module's file */
};

/* A function, or a part of a file. */
struct source_block {
  const char *name;       /* of the function; NULL: a part of a file */
  const char *file;       /* "" if not known */
  uint32_t source;        /* number of the file in `files` */
  uint32_t from, to;      /* first and last line with figures, or as selected; 0: none */
  uint32_t first, count;  /* its lines in shown[] */
  uint32_t omitted;       /* lines with figures that are left out, because there are too many */
  uint64_t weight, spent; /* tree_weight() and tree_spent() of its lines */
  struct source_code code;
};

struct source_blocks {
  struct source_lines lines;
  struct source_files files;
  bool limited;   /* not all functions are shown */
  bool *selected; /* [row below the root of lines.tree] whether it belongs to a block */
  struct source_block *blocks;
  uint32_t count;
  size_t room;
  struct source_shown *shown;
  uint32_t shown_count;
  size_t shown_room;
};

struct source_request {
  const struct profile *profile;
  const struct names *names;
  const struct tree_columns *columns;
  const uint32_t *row_of;      /* [context] row of the top-down tree */
  const struct selector *root; /* NULL: the functions that cost most */
  uint32_t lines_most;         /* of all blocks; 0: all */
};

/* Divides the lines, which have been built, into blocks, and sets `selected`.  Without a selector, the blocks are all
 * functions in descending order of their weight.  There are none if nothing is selected. */
void source_blocks_choose(const struct source_request *request, struct source_blocks *blocks);

/* Keeps the blocks that are shown as text and finds the lines and file of each. */
void source_blocks_arrange(const struct source_request *request, struct source_blocks *blocks);

/* Reads the files of all selected lines. */
void source_blocks_read(struct source_blocks *blocks);

void source_blocks_release(struct source_blocks *blocks);

#endif
