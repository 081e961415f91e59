/* Selectors, the part of the program that --root and --what-if name: function, file.c:12, file.c:12-30, #ID or @NAME.
 *
 * Context: BATCH.  A selector refers to the text that it was parsed from, which must live as long.
 */
#ifndef HPCPROF_LITE_MODEL_SELECTOR_H
#define HPCPROF_LITE_MODEL_SELECTOR_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

struct selector {
  const char *text;
  bool is_id, is_lines, is_region;
  uint32_t id;
  const char *file; /* is_lines: last part of a path, or more of it */
  size_t file_length;
  uint32_t from, to;
};

/* Understands function, file.c:12, file.c:12-30, #ID and @NAME (a user region, which is no row).  Returns NULL, or what
 * is wrong with it. */
const char *selector_parse(const char *text, struct selector *selector);

/* Whether a row of the top-down tree is selected, or a line of a file. */
bool selector_matches(const struct names *names, const struct selector *selector, const struct tree_row *row);
bool selector_matches_line(const struct selector *selector, const char *file, uint32_t line);

#endif
