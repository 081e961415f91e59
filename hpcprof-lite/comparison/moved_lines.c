#include "hpcprof-lite/comparison/moved_lines.h"

#include <string.h>

/* The function of the file that begins last before the selector's first line. */
static const struct names_function *function_at(const struct names *names, const struct selector *selector)
{
  const struct names_function *found = NULL;
  for (uint32_t i = 0; i < names->functions_count; i++) {
    const struct names_function *function = &names->functions[i];
    struct selector before = *selector;
    before.from = 1;
    before.to = selector->from;
    if (function->outline == OUTLINE_NONE && selector_matches_line(&before, function->file, function->line) &&
        (!found || function->line > found->line))
      found = function;
  }
  return found;
}

bool moved_lines(const struct names *from, const struct names *to, struct selector *selector)
{
  const struct names_function *function = selector->is_lines ? function_at(from, selector) : NULL;
  for (uint32_t i = 0; function && i < to->functions_count; i++) {
    const struct names_function *other = &to->functions[i];
    if (other->outline != OUTLINE_NONE || !other->line || strcmp(other->raw, function->raw) != 0 ||
        strcmp(names_base(other->file), names_base(function->file)) != 0)
      continue;
    selector->from = selector->from - function->line + other->line;
    selector->to = selector->to - function->line + other->line;
    return true;
  }
  return !selector->is_lines;
}
