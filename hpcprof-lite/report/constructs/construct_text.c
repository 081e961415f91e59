#include "hpcprof-lite/report/constructs/construct_text.h"

#include "common/order.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define CALL " < " /* of construct_names.h */

void construct_text_place(const char *kind, const char *name, const char *file, uint32_t line,
                          char out[CONSTRUCT_TEXT_MAX])
{
  assert(kind && name && file);
  char place[CONSTRUCT_TEXT_MAX / 2] = "";
  if (*file && line)
    snprintf(place, sizeof place, " @ %.1000s:%" PRIu32, names_base(file), line);
  if (*name)
    snprintf(out, CONSTRUCT_TEXT_MAX, "%s%s (%.2000s)", kind, place, name);
  else
    snprintf(out, CONSTRUCT_TEXT_MAX, "%s%s", kind, place);
}

/* The same without the function, but with the calls that tell a construct from others at its place: " < :13" for one in
 * the same file. */
static void place_without_function(const struct construct_place *place, char out[CONSTRUCT_TEXT_MAX])
{
  construct_text_place(place->kind, "", place->file, place->line, out);
  const char *base = names_base(place->file);
  size_t own = strlen(base), length = strlen(out);
  for (const char *call = strstr(place->name, CALL); call && length < CONSTRUCT_TEXT_MAX; call = strstr(call, CALL)) {
    call += strlen(CALL);
    if (*base && !strncmp(call, base, own) && call[own] == ':')
      call += own;
    const char *end = strstr(call, CALL) ?: call + strlen(call);
    int added = snprintf(out + length, CONSTRUCT_TEXT_MAX - length, CALL "%.*s", (int)(end - call), call);
    length += added > 0 ? (size_t)added : 0;
  }
}

void construct_text_name(const struct terminal *terminal, const struct construct_place *place, unsigned width,
                         char out[TERMINAL_TEXT_MAX])
{
  assert(width);
  enum { FUNCTION_LEAST = 20 }; /* columns in which a shortened name of a function makes sense */
  char whole[CONSTRUCT_TEXT_MAX], brief[CONSTRUCT_TEXT_MAX];
  construct_text_place(place->kind, place->name, place->file, place->line, whole);
  place_without_function(place, brief);
  bool fits = strlen(whole) <= width || strlen(brief) + FUNCTION_LEAST <= width;
  terminal_fit(terminal, fits || !*place->file || !place->line ? whole : brief, width, out);
}

const struct construct_filling *construct_text_filling(const struct report *report, struct table *table)
{
  struct construct_filling *filling = table_memory(table, sizeof *filling);
  *filling = (struct construct_filling){report, table_memory(table, sizeof *filling->room)};
  return filling;
}

struct cell construct_text_region(const struct construct_filling *filling, uint32_t region)
{
  char *label = filling->room->region;
  snprintf(label, CONSTRUCT_FIGURE, region ? "R%" PRIu32 : "program", region);
  return cell_label(label, region);
}

struct cell construct_text_cell(const struct construct_filling *filling, const struct construct_place *place)
{
  struct construct_room *room = filling->room;
  bool placed = *place->file && place->line;
  construct_text_place(place->kind, place->name, place->file, place->line, room->name);
  place_without_function(place, room->brief);
  return cell_place(room->name, placed ? room->brief : NULL);
}

void construct_text_add(const struct report *report, struct table *table, const struct schema *schema,
                        const char *heading, table_fill *fill_construct)
{
  assert(fill_construct);
  const struct construct_filling *filling = construct_text_filling(report, table);
  struct table_column *column = table_memory(table, sizeof *column);
  *column = (struct table_column){.name = "construct",
                                  .shown = 9,
                                  .heading = heading,
                                  .type = COLUMN_TEXT,
                                  .form = FORM_REST,
                                  .text_only = true,
                                  .passing = true,
                                  .help = "kind, place and function of the construct"};
  table_add(table, schema, filling);
  table_add(table, &(struct schema){column, 1, fill_construct}, filling);
}

const char *construct_text_lost(uint32_t kind, const struct construct_lost *lost)
{
  uint64_t most = MAX(lost->synchronisation, lost->imbalance);
  most = MAX(lost->limited_parallelism, most);
  most = MAX(lost->management, most);
  if (lost->imbalance == most)
    return "waiting for the last thread";
  if (lost->limited_parallelism == most)
    return "work for too few threads";
  if (lost->management == most)
    return kind == DIRECTIVE_TASK ? "creation of tasks" : "the runtime's own work";
  if (kind == DIRECTIVE_BARRIER)
    return "waiting at the barrier";
  bool tasks = kind == DIRECTIVE_TASKWAIT || kind == DIRECTIVE_TASKGROUP || kind == DIRECTIVE_TASK;
  return tasks ? "waiting for tasks" : "waiting for the lock";
}

unsigned construct_text_decimals(uint64_t largest_ns)
{
  static const uint64_t limits[] = {99, 999, 9999};
  unsigned decimals = 3;
  for (unsigned i = 0; i < 3 && largest_ns >= limits[i] * 1000000000; i++)
    decimals--;
  return decimals;
}
