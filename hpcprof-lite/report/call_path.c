#include "hpcprof-lite/report/call_path.h"

#include <assert.h>
#include <string.h>

void call_path_text(const struct terminal *terminal, const struct tree *tree, uint32_t row, unsigned width,
                    char out[CALL_PATH_TEXT_MAX])
{
  assert(row < tree->count && width);
  enum { STEPS = 24, STEP_LEAST = 14, LINE_MAX = CALL_PATH_TEXT_MAX - 16 };
  uint32_t path[STEPS];
  size_t count = 0;
  for (uint32_t up = row; up && up != MODEL_NONE && count < STEPS; up = tree->rows[up].parent)
    path[count++] = up;
  char text[LINE_MAX] = "";
  unsigned used = 0;
  size_t first = 0;
  for (; first < count; first++) { /* the innermost callers come last */
    char name[TERMINAL_TEXT_MAX];
    const char *whole_name = tree->rows[path[first]].name;
    unsigned most = first ? width / 2 : width * 3 / 5;
    if (count == 1)
      most = width;
    unsigned length = terminal_fit(terminal, whole_name, most, name);
    if (first && used + length + 3 + 5 > width)
      length = terminal_fit(terminal, whole_name, STEP_LEAST, name);
    if (first && used + length + 3 + 5 > width)
      break;
    char longer[LINE_MAX];
    int written = snprintf(longer, sizeof longer, "%s%s%s", name, *text ? " > " : "", text);
    if (written < 0 || (size_t)written >= sizeof longer)
      break;
    memcpy(text, longer, (size_t)written + 1);
    used += length + (first ? 3 : 0);
  }
  bool whole = first == count && (!count || tree->rows[path[count - 1]].parent == 0);
  const char *dots = terminal->dots ? "\xe2\x80\xa6 > " : ".. > ";
  snprintf(out, CALL_PATH_TEXT_MAX, "%s%s", whole ? "" : dots, text);
}
