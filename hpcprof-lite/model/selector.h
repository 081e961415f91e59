/* Selectors: how --root and --what-if name a part of the program.
 *
 * Context: BATCH.  A selector is `function`, `file.c:12`, `file.c:12-30`, `#ID` (a row of the top-down tree), `@NAME`
 * (a user region), `copy-to-device` or `copy-from-device`, or one of these with ":file.c:12" behind it (copies for
 * constructs there).  It owns no memory: it points into the text from which it was parsed, which must live as long.
 */
#ifndef HPCPROF_LITE_MODEL_SELECTOR_H
#define HPCPROF_LITE_MODEL_SELECTOR_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/tree.h"

struct selector {
  const char *text;
  bool is_id, is_lines, is_region;
  uint32_t id;
  uint32_t copy_kind; /* CONSTRUCT_COPY_TO_DEVICE or _FROM_DEVICE; 0: no copies.  from > 0: only of these lines */
  const char *file;   /* is_lines: the last components of a path; not terminated */
  size_t file_length;
  uint32_t from, to; /* is_lines, or copies */
};

/* Parses a selector.  Returns NULL, or a static message that says what is wrong with it. */
const char *selector_parse(const char *text, struct selector *selector);

/* Return whether a row of the top-down tree is selected, and whether a line of a file is. */
bool selector_matches(const struct names *names, const struct selector *selector, const struct tree_row *row);
bool selector_matches_line(const struct selector *selector, const char *file, uint32_t line);

/* Returns whether copies of that kind are selected, for a construct in that line. */
bool selector_matches_copy(const struct selector *selector, uint32_t kind, const char *file, uint32_t line);

#endif
