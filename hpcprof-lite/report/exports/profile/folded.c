/* Folded stacks: a line for each path, "main;solve;kernel 1200" (https://github.com/brendangregg/FlameGraph). */
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"

#include "hpcprof-lite/report/exports/profile/tree_walk.h"
#include "hpcprof-lite/report/row_writer.h"

#include <stdlib.h>

enum { NS_PER_US = 1000 };

struct folded {
  FILE *stream;
  uint32_t metric;
  uint64_t unit;       /* what a line counts */
  uint64_t before;     /* sum of the paths so far */
  char *path;          /* names of the open rows, with a ';' before each but the first */
  size_t *end;         /* [depth] length of the path up to that row */
  size_t room, levels; /* of path and end */
};

/* Appends a name; what separates frames and lines becomes another character. */
static void append(struct folded *folded, size_t at, const char *name, uint32_t depth)
{
  struct row_writer_marks marks;
  size_t size = row_writer_plain(name, false, &marks);
  char *escaped = size ? NULL : row_writer_escaped(name, &size);
  xarray_reserve(&folded->path, &folded->room, at + 1 + size, 1);
  xarray_reserve(&folded->end, &folded->levels, (size_t)depth + 1, sizeof *folded->end);
  if (depth)
    folded->path[at++] = ';';
  for (size_t i = 0; i < size; i++) {
    char c = escaped ? escaped[i] : name[i];
    folded->path[at++] = c == ';' ? ':' : c;
  }
  folded->end[depth] = at;
  free(escaped);
}

/* Values are differences of rounded sums, so that roundings do not add up: of any part of the tree, the sum is right to
 * one unit. */
static void enter(void *context, const struct walk_row *here)
{
  struct folded *folded = context;
  if (!here->incl[folded->metric])
    return;
  append(folded, here->depth ? folded->end[here->depth - 1] : 0, tree_walk_name(here->row), here->depth);
  uint64_t after = model_sum(folded->before, here->excl[folded->metric]);
  uint64_t value = after / folded->unit - folded->before / folded->unit;
  folded->before = after;
  if (!value)
    return;
  fwrite_unlocked(folded->path, 1, folded->end[here->depth], folded->stream);
  putc_unlocked(' ', folded->stream);
  row_writer_number(folded->stream, value, 0);
  putc_unlocked('\n', folded->stream);
}

int folded_write(const struct report *report)
{
  static const struct walk_visitor visitor = {.enter = enter};
  struct tree_metrics metrics;
  tree_metrics_init(report, &metrics);
  struct folded folded = {.stream = report->stream};
  if (report->trees.metric)
    folded.metric = tree_metrics_find(&metrics, report->trees.metric);
  if (folded.metric == MODEL_NONE)
    return ERR_INPUT;
  folded.unit = metrics.list[folded.metric].is_time ? NS_PER_US : 1;
  int status = tree_walk(report, &metrics, &visitor, &folded);
  free(folded.path);
  free(folded.end);
  return status;
}
