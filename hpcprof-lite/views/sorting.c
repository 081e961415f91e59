#include "hpcprof-lite/views/sorting.h"

#include <stdio.h>
#include <string.h>

enum { FIGURES = 13 };

static const struct {
  const char *name;
  enum tree_sort by;
} plain[] = {{"id", SORT_ID},     {"parent_id", SORT_ID},  {"depth", SORT_ID},  {"kind", SORT_KIND},
             {"name", SORT_NAME}, {"module", SORT_MODULE}, {"file", SORT_FILE}, {"line", SORT_FILE}};

struct figure {
  const char *name;
  uint32_t column;
  enum tree_sort by;
};

_Static_assert(sizeof plain / sizeof *plain + FIGURES <= SORTING_NAMES_MAX - 2 * CATALOG_COLUMNS_MAX,
               "room for all names");

static void list_figures(const struct tree_columns *columns, struct figure figures[FIGURES])
{
  const struct figure all[FIGURES] = {{"samples", columns->samples, SORT_INCL},
                                      {"work_incl_s", columns->work, SORT_INCL},
                                      {"work_excl_s", columns->work, SORT_EXCL},
                                      {"overhead_incl_s", columns->overhead, SORT_INCL},
                                      {"overhead_excl_s", columns->overhead, SORT_EXCL},
                                      {"lockwait_incl_s", columns->lockwait, SORT_INCL},
                                      {"lockwait_excl_s", columns->lockwait, SORT_EXCL},
                                      {"idleness_incl_s", columns->idleness, SORT_INCL},
                                      {"idleness_excl_s", columns->idleness, SORT_EXCL},
                                      {"abs_idleness_pct", columns->idleness, SORT_INCL},
                                      {"critical_path_incl", columns->critical, SORT_INCL},
                                      {"critical_path_excl", columns->critical, SORT_EXCL},
                                      {"rel_idleness_pct", columns->idleness, SORT_RELATIVE}};
  memcpy(figures, all, sizeof all);
}

int sorting_names(const struct tree_columns *columns, struct names *owner, const char *names[SORTING_NAMES_MAX],
                  uint32_t *count)
{
  struct figure figures[FIGURES];
  list_figures(columns, figures);
  *count = 0;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    names[(*count)++] = plain[i].name;
  for (size_t i = 0; i < FIGURES; i++)
    if (figures[i].column != MODEL_NONE)
      names[(*count)++] = figures[i].name;
  for (uint32_t i = 0; i < 2 * columns->events_count; i++) {
    char *name;
    if (asprintf(&name, "%s_%s", columns->columns[columns->events[i / 2]].name, i % 2 ? "excl" : "incl") < 0)
      return ERR_NOMEM;
    names[*count] = names_own(owner, name);
    if (!names[(*count)++])
      return ERR_NOMEM;
  }
  return 0;
}

/* Interprets EVENT_incl and EVENT_excl. */
static int sort_by_event(const struct tree_columns *columns, const char *column, struct tree_order *order)
{
  for (uint32_t i = 0; i < columns->events_count; i++) {
    const char *name = columns->columns[columns->events[i]].name;
    size_t length = strlen(name);
    if (strncmp(column, name, length) || (strcmp(column + length, "_incl") && strcmp(column + length, "_excl")))
      continue;
    order->column = columns->events[i];
    order->by = strcmp(column + length, "_incl") ? SORT_EXCL : SORT_INCL;
    return 0;
  }
  return ERR_INPUT;
}

int sorting_order(const char *column, const struct tree_columns *columns, struct tree_order *order)
{
  struct figure figures[FIGURES];
  list_figures(columns, figures);
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (strcmp(column, plain[i].name))
      continue;
    order->by = plain[i].by;
    return 0;
  }
  for (size_t i = 0; i < FIGURES; i++) {
    if (strcmp(column, figures[i].name) || figures[i].column == MODEL_NONE)
      continue;
    order->column = figures[i].column;
    order->by = figures[i].by;
    return 0;
  }
  return sort_by_event(columns, column, order);
}
