/* Callgrind's format (https://valgrind.org/docs/manual/cl-format.html): the call graph of functions, for KCachegrind.
 *
 * The format has no contexts: each row of the tree adds its own cost to its function, and its inclusive cost to the
 * call that leads to it.  A function that is already on the path is written as NAME'2, as Callgrind itself does, so
 * that the inclusive cost of NAME counts no time twice. */
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/profile/frame_table.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"
#include "hpcprof-lite/report/exports/string_table.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_NAME_MAX = 64 };

/* A function on the path: its frame, and whether it was on the path before. */
struct place {
  uint32_t frame;
  bool again;
};

struct callgrind {
  const struct report *report;
  FILE *stream;
  struct tree_metrics metrics;
  struct frame_table frames;
  struct string_table files;
  uint32_t *active;     /* [frame] how often it is on the path */
  bool *named;          /* [2 x frame + again] its name is written */
  bool *costed;         /* [frame] it has a line of own costs */
  bool *file_named;     /* [file] */
  bool *module_named;   /* [module + 1] */
  uint32_t *rank;       /* [module] its number here: its own number depends on which file was read first */
  struct place *places; /* [depth] */
  size_t places_room, files_room;
  struct place present; /* the function whose costs are written */
  bool any;             /* there is one */
  bool elsewhere;       /* the last line was in another file */
};

/* A row of the function, which tells where it is declared. */
static const struct tree_row *row_of(const struct callgrind *callgrind, const struct place *place)
{
  assert(place->frame <= callgrind->frames.count);
  return callgrind->frames.rows[place->frame];
}

/* ---- names: "(number) name" where a name comes first, then "(number)" ---- */

static void text(FILE *stream, const char *name)
{
  while (*name)
    name = row_writer_character(stream, name);
}

static void number(struct callgrind *callgrind, const char *field, uint32_t value)
{
  fputs_unlocked(field, callgrind->stream);
  putc_unlocked('(', callgrind->stream);
  row_writer_number(callgrind->stream, value, 0);
  putc_unlocked(')', callgrind->stream);
}

static void name(struct callgrind *callgrind, bool *named, const char *words)
{
  if (!*named) {
    putc_unlocked(' ', callgrind->stream);
    text(callgrind->stream, words);
    *named = true;
  }
}

static void write_module(struct callgrind *callgrind, const char *field, const struct place *place)
{
  uint32_t module = row_of(callgrind, place)->module;
  if (module != MODEL_NONE) {
    number(callgrind, field, callgrind->rank[module] + 2);
    name(callgrind, &callgrind->module_named[module + 1], callgrind->report->profile->catalog.modules[module].path);
  } else {
    number(callgrind, field, 1);
    name(callgrind, &callgrind->module_named[0], "???");
  }
  putc_unlocked('\n', callgrind->stream);
}

static void write_file(struct callgrind *callgrind, const char *field, const char *path)
{
  if (!*path)
    path = "???";
  uint32_t file = string_table_add(&callgrind->files, path);
  xarray_reserve_zero(&callgrind->file_named, &callgrind->files_room, (size_t)file + 1, 1);
  number(callgrind, field, file + 1);
  name(callgrind, &callgrind->file_named[file], path);
  putc_unlocked('\n', callgrind->stream);
}

static void write_function(struct callgrind *callgrind, const char *field, const struct place *place)
{
  bool *named = &callgrind->named[2 * (size_t)place->frame + place->again], first = !*named;
  number(callgrind, field, 2 * place->frame + place->again + 1);
  name(callgrind, named, tree_walk_name(row_of(callgrind, place)));
  fputs_unlocked(first && place->again ? "'2\n" : "\n", callgrind->stream);
}

/* Makes a function the one whose costs follow. */
static void enter_function(struct callgrind *callgrind, const struct place *place)
{
  if (callgrind->any && !callgrind->elsewhere && callgrind->present.frame == place->frame &&
      callgrind->present.again == place->again)
    return;
  write_module(callgrind, "ob=", place);
  write_file(callgrind, "fl=", row_of(callgrind, place)->file);
  write_function(callgrind, "fn=", place);
  callgrind->present = *place;
  callgrind->any = true;
  callgrind->elsewhere = false;
}

/* ---- costs ---- */

static void write_costs(struct callgrind *callgrind, uint32_t line, const uint64_t *values)
{
  row_writer_number(callgrind->stream, line, 0);
  for (uint32_t i = 0; i < callgrind->metrics.count; i++) {
    putc_unlocked(' ', callgrind->stream);
    row_writer_number(callgrind->stream, values[i], 0);
  }
  putc_unlocked('\n', callgrind->stream);
}

/* The cost of a line of the function above. */
static void write_line(struct callgrind *callgrind, const struct walk_row *here, const struct place *place)
{
  enter_function(callgrind, place);
  if (here->row->file != row_of(callgrind, place)->file) {
    callgrind->elsewhere = true;
    write_file(callgrind, "fi=", here->row->file);
  }
  write_costs(callgrind, here->row->line, here->excl);
}

static void write_call(struct callgrind *callgrind, const struct walk_row *here, const struct place *caller,
                       const struct place *callee)
{
  assert(caller != callee);
  const struct tree_row *from = row_of(callgrind, caller), *to = row_of(callgrind, callee);
  enter_function(callgrind, caller);
  if (to->module != from->module)
    write_module(callgrind, "cob=", callee);
  if (strcmp(to->file, from->file) != 0)
    write_file(callgrind, "cfi=", to->file);
  write_function(callgrind, "cfn=", callee);
  fputs_unlocked("calls=1 ", callgrind->stream);
  row_writer_number(callgrind->stream, to->line, 0);
  putc_unlocked('\n', callgrind->stream);
  write_costs(callgrind, from->line, here->incl);
}

static void enter(void *context, const struct walk_row *here)
{
  struct callgrind *callgrind = context;
  if (!tree_metrics_any(&callgrind->metrics, here->incl))
    return;
  xarray_reserve(&callgrind->places, &callgrind->places_room, (size_t)here->depth + 1, sizeof *callgrind->places);
  struct place *place = &callgrind->places[here->depth];
  if (here->row->kind == ROW_LINE && here->depth) {
    write_line(callgrind, here, place - 1);
    return;
  }
  uint32_t frame = callgrind->frames.frame_of[here->number];
  *place = (struct place){.frame = frame, .again = callgrind->active[frame]++ > 0};
  if (here->depth)
    write_call(callgrind, here, place - 1, place);
  if (callgrind->costed[frame] && !tree_metrics_any(&callgrind->metrics, here->excl))
    return;
  callgrind->costed[frame] = true; /* also if it is 0: callgrind_annotate wants a line of each function with calls */
  enter_function(callgrind, place);
  write_costs(callgrind, row_of(callgrind, place)->line, here->excl);
}

static void leave(void *context, const struct walk_row *here)
{
  struct callgrind *callgrind = context;
  if (tree_metrics_any(&callgrind->metrics, here->incl) && !(here->row->kind == ROW_LINE && here->depth))
    callgrind->active[callgrind->frames.frame_of[here->number]]--;
}

/* ---- the file ---- */

/* Names of events are words of letters, digits and '_'; the full name follows a colon. */
static void write_events(struct callgrind *callgrind)
{
  char names[CATALOG_COLUMNS_MAX + 1][EVENT_NAME_MAX];
  for (uint32_t i = 0; i < callgrind->metrics.count; i++) {
    const struct tree_metric *metric = &callgrind->metrics.list[i];
    bool word = isalpha((unsigned char)*metric->name);
    snprintf(names[i], sizeof names[i], "%s%.50s", word ? "" : "e_", metric->name);
    for (char *c = names[i]; *c; c++)
      if (!isalnum((unsigned char)*c))
        *c = '_';
    for (uint32_t k = 0; k < i; k++)
      if (!strcmp(names[k], names[i])) {
        snprintf(names[i], sizeof names[i], "event_%u", i);
        k = i;
      }
    fprintf(callgrind->stream, "event: %s : ", names[i]);
    text(callgrind->stream, metric->name);
    fprintf(callgrind->stream, "%s\n", metric->is_time ? " (ns)" : "");
  }
  fputs("events:", callgrind->stream);
  for (uint32_t i = 0; i < callgrind->metrics.count; i++)
    fprintf(callgrind->stream, " %s", names[i]);
}

static void write_header(struct callgrind *callgrind)
{
  FILE *stream = callgrind->stream;
  fputs("# callgrind format\nversion: 1\ncreator: hpcprof-lite\ncmd: ", stream);
  text(stream, callgrind->report->totals->command);
  fputs("\npositions: line\n", stream);
  write_events(callgrind);
  fputs("\nsummary:", stream);
  for (uint32_t i = 0; i < callgrind->metrics.count; i++) {
    putc(' ', stream);
    row_writer_number(stream, tree_incl(callgrind->report->tree, 0, callgrind->metrics.list[i].column), 0);
  }
  fputs("\n\n", stream);
}

int callgrind_write(const struct report *report)
{
  static const struct walk_visitor visitor = {enter, leave};
  struct callgrind callgrind = {.report = report, .stream = report->stream};
  tree_metrics_init(report, &callgrind.metrics);
  frame_table_init(report, &callgrind.frames);
  size_t frames = callgrind.frames.count;
  callgrind.active = xcalloc(frames, sizeof *callgrind.active);
  callgrind.named = xcalloc(2 * frames, sizeof *callgrind.named);
  callgrind.costed = xcalloc(frames, sizeof *callgrind.costed);
  callgrind.module_named = xcalloc((size_t)report->profile->catalog.modules_count + 1, sizeof *callgrind.module_named);
  callgrind.rank = xcalloc(report->profile->catalog.modules_count, sizeof *callgrind.rank);
  catalog_module_rank(&report->profile->catalog, callgrind.rank);
  write_header(&callgrind);
  int status = tree_walk(report, &callgrind.metrics, &visitor, &callgrind);
  frame_table_release(&callgrind.frames);
  string_table_release(&callgrind.files);
  free(callgrind.active);
  free(callgrind.named);
  free(callgrind.costed);
  free(callgrind.file_named);
  free(callgrind.module_named);
  free(callgrind.rank);
  free(callgrind.places);
  return status;
}
