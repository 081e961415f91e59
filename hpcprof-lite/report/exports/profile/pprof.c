/* The profile of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), for go tool pprof, Pyroscope
 * and Parca.
 *
 * Each row with figures of its own is a sample.  A location is a function at a line: that of a row of kind line, or
 * else that where the function is declared.  An inlined function is in one location with the function around it. */
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"

#include "hpcprof-lite/report/exports/profile/frame_table.h"
#include "hpcprof-lite/report/exports/profile/protobuf_writer.h"
#include "hpcprof-lite/report/exports/string_table.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of fields in profile.proto. */
enum profile_field {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE,
  PROFILE_MAPPING,
  PROFILE_LOCATION,
  PROFILE_FUNCTION,
  PROFILE_STRING,
  PROFILE_TIME = 9,
  PROFILE_DURATION,
  PROFILE_COMMENT = 13,
  PROFILE_DEFAULT_TYPE
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_INLINED = 10 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

struct location {
  uint32_t frame, line;
  uint32_t outer; /* of an inlined function: number of the location around it + 1, else 0 */
};

/* A row on the path: its location's number + 1, and the depth of the caller + 1, 0 if there is none. */
struct level {
  uint32_t location, caller;
};

struct pprof {
  const struct report *report;
  struct tree_metrics metrics;
  struct frame_table frames;
  struct protobuf_writer writer;
  struct protobuf_message message, inner;
  struct string_table strings;
  struct location *locations;
  struct hash_map location_map; /* locations + 1 */
  struct level *levels;         /* [depth] */
  size_t locations_room, levels_room;
  uint32_t locations_count;
};

/* ---- samples ---- */

/* Finds or adds a location.  Returns its number + 1. */
static uint32_t location_number(struct pprof *pprof, const struct location *wanted)
{
  uint64_t hash = hash_map_key(hash_map_key(hash_map_key(3, wanted->frame), wanted->line), wanted->outer);
  uint32_t found =
      HASH_MAP_FIND(&pprof->location_map, hash, i, !memcmp(&pprof->locations[i - 1], wanted, sizeof *wanted));
  if (found)
    return found;
  *XAPPEND(pprof->locations, pprof->locations_count, pprof->locations_room) = *wanted;
  hash_map_add(&pprof->location_map, hash, pprof->locations_count);
  return pprof->locations_count;
}

static uint64_t value_of(uint64_t amount)
{
  return MIN(amount, (uint64_t)INT64_MAX);
}

static void write_sample(struct pprof *pprof, const struct walk_row *here)
{
  assert(here->depth < pprof->levels_room);
  struct protobuf_message *message = &pprof->message;
  size_t size = 0;
  uint32_t depth;
  protobuf_clear(message);
  for (depth = here->depth + 1; depth; depth = pprof->levels[depth - 1].caller)
    size += protobuf_size(pprof->levels[depth - 1].location);
  protobuf_open_array(message, SAMPLE_LOCATIONS, size);
  for (depth = here->depth + 1; depth; depth = pprof->levels[depth - 1].caller)
    protobuf_element(message, pprof->levels[depth - 1].location);
  size = 0;
  for (uint32_t i = 0; i < pprof->metrics.count; i++)
    size += protobuf_size(value_of(here->excl[i]));
  protobuf_open_array(message, SAMPLE_VALUES, size);
  for (uint32_t i = 0; i < pprof->metrics.count; i++)
    protobuf_element(message, value_of(here->excl[i]));
  protobuf_write(&pprof->writer, PROFILE_SAMPLE, message);
}

static void enter(void *context, const struct walk_row *here)
{
  struct pprof *pprof = context;
  xarray_reserve(&pprof->levels, &pprof->levels_room, (size_t)here->depth + 1, sizeof *pprof->levels);
  struct level *level = &pprof->levels[here->depth], *above = here->depth ? level - 1 : NULL;
  struct location location = {.frame = pprof->frames.frame_of[here->number], .line = here->row->line};
  level->caller = here->depth;
  if (above && here->row->kind == ROW_LINE) {
    const struct location *function = &pprof->locations[above->location - 1];
    location = (struct location){.frame = function->frame, .line = here->row->line, .outer = function->outer};
    level->caller = above->caller;
  } else if (above && here->row->kind == ROW_INLINED) {
    location.outer = above->location;
    level->caller = above->caller;
  }
  level->location = location_number(pprof, &location);
  if (tree_metrics_any(&pprof->metrics, here->excl))
    write_sample(pprof, here);
}

/* ---- what samples refer to ---- */

static uint32_t string(struct pprof *pprof, const char *text)
{
  return string_table_add(&pprof->strings, text);
}

static void write_types(struct pprof *pprof)
{
  for (uint32_t i = 0; i < pprof->metrics.count; i++) {
    const struct tree_metric *metric = &pprof->metrics.list[i];
    const char *unit = *metric->unit ? metric->unit : "count";
    if (metric->is_time)
      unit = "nanoseconds";
    protobuf_clear(&pprof->message);
    protobuf_number(&pprof->message, TYPE_NAME, string(pprof, metric->name));
    protobuf_number(&pprof->message, TYPE_UNIT, string(pprof, unit));
    protobuf_write(&pprof->writer, PROFILE_SAMPLE_TYPE, &pprof->message);
  }
}

/* Modules with functions; the executable comes first.  Names, files and lines are known: pprof need not look for them.
 * used: [rank] the number of the module + 1. */
static void write_mappings(struct pprof *pprof, const uint32_t *used)
{
  assert(used);
  const struct catalog *catalog = &pprof->report->profile->catalog;
  for (uint32_t i = 0; i < 2 * catalog->modules_count; i++) {
    uint32_t rank = i % catalog->modules_count;
    const struct catalog_module *module = &catalog->modules[used[rank] - 1];
    if (!used[rank] || (module->flags & MODULE_MAIN) != (i < catalog->modules_count ? MODULE_MAIN : 0))
      continue;
    protobuf_clear(&pprof->message);
    protobuf_number(&pprof->message, MAPPING_ID, rank + 1);
    protobuf_number(&pprof->message, MAPPING_FILE, string(pprof, module->path));
    for (unsigned field = MAPPING_FUNCTIONS; field <= MAPPING_INLINED; field++)
      protobuf_number(&pprof->message, field, true);
    protobuf_write(&pprof->writer, PROFILE_MAPPING, &pprof->message);
  }
}

/* An inlined function's lines end in those of the function around it. */
static void write_locations(struct pprof *pprof, const uint32_t *rank, uint32_t *used)
{
  for (uint32_t i = 0; i < pprof->locations_count; i++) {
    uint32_t module = pprof->frames.rows[pprof->locations[i].frame]->module;
    protobuf_clear(&pprof->message);
    protobuf_number(&pprof->message, LOCATION_ID, i + 1);
    if (module != MODEL_NONE) {
      protobuf_number(&pprof->message, LOCATION_MAPPING, rank[module] + 1);
      used[rank[module]] = module + 1;
    }
    for (uint32_t number = i + 1; number; number = pprof->locations[number - 1].outer) {
      protobuf_clear(&pprof->inner);
      protobuf_number(&pprof->inner, LINE_FUNCTION, pprof->locations[number - 1].frame + 1);
      protobuf_number(&pprof->inner, LINE_LINE, pprof->locations[number - 1].line);
      protobuf_message(&pprof->message, LOCATION_LINE, &pprof->inner);
    }
    protobuf_write(&pprof->writer, PROFILE_LOCATION, &pprof->message);
  }
}

static void write_functions(struct pprof *pprof)
{
  const struct names_function *functions = pprof->report->names->functions;
  for (uint32_t i = 0; i < pprof->frames.count; i++) {
    const struct tree_row *row = pprof->frames.rows[i];
    const char *name = tree_walk_name(row);
    protobuf_clear(&pprof->message);
    protobuf_number(&pprof->message, FUNCTION_ID, i + 1);
    protobuf_number(&pprof->message, FUNCTION_NAME, string(pprof, name));
    protobuf_number(&pprof->message, FUNCTION_SYSTEM_NAME,
                    string(pprof, row->function == MODEL_NONE ? name : functions[row->function].raw));
    protobuf_number(&pprof->message, FUNCTION_FILE, string(pprof, row->file));
    protobuf_number(&pprof->message, FUNCTION_LINE, row->line);
    protobuf_write(&pprof->writer, PROFILE_FUNCTION, &pprof->message);
  }
}

static void write_run(struct pprof *pprof)
{
  const struct profile *profile = pprof->report->profile;
  uint64_t start_ns = UINT64_MAX;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    start_ns = MIN(start_ns, profile->processes[i].start_ns);
  protobuf_clear(&pprof->message);
  protobuf_number(&pprof->message, PROFILE_TIME, start_ns == UINT64_MAX ? 0 : value_of(start_ns));
  protobuf_number(&pprof->message, PROFILE_DURATION, value_of(pprof->report->totals->elapsed_ns));
  protobuf_number(&pprof->message, PROFILE_COMMENT, string(pprof, pprof->report->totals->command));
  protobuf_number(&pprof->message, PROFILE_DEFAULT_TYPE, string(pprof, pprof->metrics.list[0].name));
  protobuf_write_fields(&pprof->writer, &pprof->message);
}

/* The format wants UTF-8. */
static void write_strings(struct pprof *pprof)
{
  for (uint32_t i = 0; i < pprof->strings.count; i++) {
    size_t size;
    char *clean = row_writer_escaped(pprof->strings.texts[i], &size);
    protobuf_clear(&pprof->message);
    protobuf_bytes(&pprof->message, PROFILE_STRING, clean, size);
    protobuf_write_fields(&pprof->writer, &pprof->message);
    free(clean);
  }
}

static int write_profile(struct pprof *pprof)
{
  static const struct walk_visitor visitor = {.enter = enter};
  string(pprof, ""); /* number 0 */
  write_types(pprof);
  int status = tree_walk(pprof->report, &pprof->metrics, &visitor, pprof);
  if (status)
    return status;
  uint32_t modules = pprof->report->profile->catalog.modules_count;
  uint32_t *rank = xcalloc(modules, sizeof *rank), *used = xcalloc(modules, sizeof *used);
  catalog_module_rank(&pprof->report->profile->catalog, rank);
  write_locations(pprof, rank, used);
  write_mappings(pprof, used);
  write_functions(pprof);
  write_run(pprof);
  write_strings(pprof);
  free(rank);
  free(used);
  return 0;
}

int pprof_write(const struct report *report)
{
  struct pprof pprof = {.report = report};
  tree_metrics_init(report, &pprof.metrics);
  protobuf_begin(&pprof.writer, report->stream);
  frame_table_init(report, &pprof.frames);
  int status = write_profile(&pprof);
  protobuf_end(&pprof.writer);
  frame_table_release(&pprof.frames);
  protobuf_release(&pprof.message);
  protobuf_release(&pprof.inner);
  string_table_release(&pprof.strings);
  hash_map_release(&pprof.location_map);
  free(pprof.locations);
  free(pprof.levels);
  return status;
}
