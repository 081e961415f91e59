/* The literal form of Hatchet (hatchet.GraphFrame.from_literal) as JSON: nested nodes, each with its frame, its metrics
 * and its children.
 *
 * Hatchet takes nodes with equal frames for one node, unless each has a number, _hatchet_nid; it takes all metrics of
 * the root for numbers.  So the root has no number, and only other nodes have file, line and module. */
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <stdlib.h>

struct hatchet {
  const struct report *report;
  const struct tree_metrics *metrics;
  char *keys[CATALOG_COLUMNS_MAX + 1][2]; /* [metric][inclusive] */
  uint64_t nodes;
  uint32_t depth; /* of the last row that was entered */
};

static void write_metrics(const struct hatchet *hatchet, const uint64_t *values, bool inclusive)
{
  FILE *stream = hatchet->report->stream;
  for (uint32_t i = 0; i < hatchet->metrics->count; i++) {
    if (i || inclusive)
      putc_unlocked(',', stream);
    fputs_unlocked(hatchet->keys[i][inclusive], stream);
    row_writer_number(stream, values[i], hatchet->metrics->list[i].is_time ? 9 : 0);
  }
}

/* Makes a metric's names, exclusive and inclusive, as keys in JSON. */
static void make_keys(const char *name, char *keys[2])
{
  assert(name);
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    size_t size;
    char *words = xasprintf("%s%s", name, inclusive ? " (inc)" : "");
    FILE *stream = xopen_memstream(&keys[inclusive], &size);
    row_writer_json_string(stream, words);
    putc(':', stream);
    xclose(stream, &keys[inclusive]);
    free(words);
  }
}

static void write_place(const struct hatchet *hatchet, const struct tree_row *row)
{
  FILE *stream = hatchet->report->stream;
  fputs_unlocked(",\"file\":", stream);
  row_writer_json_string(stream, row->file);
  fputs_unlocked(",\"line\":", stream);
  row_writer_number(stream, row->line, 0);
  fputs_unlocked(",\"module\":", stream);
  row_writer_json_string(stream, tree_walk_module(hatchet->report, row));
  fputs_unlocked(",\"_hatchet_nid\":", stream);
  row_writer_number(stream, hatchet->nodes, 0);
}

static void enter(void *context, const struct walk_row *here)
{
  struct hatchet *hatchet = context;
  FILE *stream = hatchet->report->stream;
  if (here->depth > hatchet->depth)
    fputs_unlocked(",\"children\":[", stream);
  else if (hatchet->nodes)
    putc_unlocked(',', stream);
  fputs_unlocked("\n{\"frame\":{\"name\":", stream);
  row_writer_json_string(stream, tree_walk_name(here->row));
  fputs_unlocked(",\"type\":", stream);
  row_writer_json_string(stream,
                         here->number == hatchet->report->tree->count ? "omitted" : tree_kind_name(here->row->kind));
  fputs_unlocked("},\"metrics\":{", stream);
  write_metrics(hatchet, here->excl, false);
  write_metrics(hatchet, here->incl, true);
  if (here->depth)
    write_place(hatchet, here->row);
  putc_unlocked('}', stream);
  hatchet->nodes++;
  hatchet->depth = here->depth;
}

/* Ends a node; the array of its children is open if the last one was deeper. */
static void leave(void *context, const struct walk_row *here)
{
  struct hatchet *hatchet = context;
  if (hatchet->depth > here->depth)
    putc_unlocked(']', hatchet->report->stream);
  putc_unlocked('}', hatchet->report->stream);
  hatchet->depth = here->depth;
}

int hatchet_write(const struct report *report)
{
  static const struct walk_visitor visitor = {enter, leave};
  struct tree_metrics metrics;
  struct hatchet hatchet = {.report = report, .metrics = &metrics};
  tree_metrics_init(report, &metrics);
  for (uint32_t i = 0; i < metrics.count; i++)
    make_keys(metrics.list[i].name, hatchet.keys[i]);
  putc('[', report->stream);
  int status = tree_walk(report, &metrics, &visitor, &hatchet);
  fputs("\n]\n", report->stream);
  for (uint32_t i = 0; i < metrics.count; i++)
    for (int inclusive = 0; inclusive < 2; inclusive++)
      free(hatchet.keys[i][inclusive]);
  return status;
}
