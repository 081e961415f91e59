#include "hpcprof-lite/views/construct_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What entries can be sorted by besides the columns of their figures. */
enum key {
  KEY_FIGURE = CONSTRUCT_COLUMNS,
  KEY_ID,
  KEY_DEPTH,
  KEY_KIND,
  KEY_NAME,
  KEY_PLACE,
  KEY_CONTEXT,
  KEY_EXCLUSIVE,
  KEY_EXECUTIONS,
  KEY_GAIN,
  KEY_NOTE,
  KEY_COUNTED, /* events in an entry, by counter; then those without what is below it */
  KEY_COUNTED_OWN = KEY_COUNTED + COUNTERS_MAX
};

/* Which of the two views has a column. */
enum { IN_LIST = 1, IN_TREE = 2, IN_BOTH = 3 };

static const struct {
  const char *name;
  int key, views;
} columns[] = {{"region", KEY_ID, IN_LIST},
               {"id", KEY_ID, IN_TREE},
               {"parent_id", KEY_ID, IN_TREE},
               {"depth", KEY_DEPTH, IN_TREE},
               {"kind", KEY_KIND, IN_BOTH},
               {"name", KEY_NAME, IN_BOTH},
               {"file", KEY_PLACE, IN_BOTH},
               {"line", KEY_PLACE, IN_BOTH},
               {"context_id", KEY_CONTEXT, IN_BOTH},
               {"exec_s", CONSTRUCT_EXEC, IN_LIST},
               {"incl_s", CONSTRUCT_EXEC, IN_TREE},
               {"excl_s", KEY_EXCLUSIVE, IN_TREE},
               {"exec_count", CONSTRUCT_COUNT, IN_BOTH},
               {"body_s", CONSTRUCT_BODY, IN_BOTH},
               {"enter_s", CONSTRUCT_ENTER, IN_BOTH},
               {"exit_s", CONSTRUCT_EXIT, IN_BOTH},
               {"exit_barrier_s", CONSTRUCT_EXIT_BARRIER, IN_BOTH},
               {"startup_s", CONSTRUCT_STARTUP, IN_BOTH},
               {"shutdown_s", CONSTRUCT_SHUTDOWN, IN_BOTH},
               {"task_s", CONSTRUCT_TASK, IN_BOTH},
               {"section_s", CONSTRUCT_SECTION, IN_BOTH},
               {"section_count", CONSTRUCT_SECTION_COUNT, IN_BOTH},
               {"single_s", CONSTRUCT_SINGLE, IN_BOTH},
               {"single_count", CONSTRUCT_SINGLE_COUNT, IN_BOTH},
               {"executions", KEY_EXECUTIONS, IN_BOTH},
               {"gain_s", KEY_GAIN, IN_BOTH},
               {"note", KEY_NOTE, IN_BOTH}};

_Static_assert(sizeof columns / sizeof *columns + 2 * COUNTERS_MAX <= CONSTRUCT_ORDER_COLUMNS_MAX,
               "room for all names");

void construct_order_columns(bool list, const struct counter_names *counters, struct construct_order_columns *known)
{
  known->count = 0;
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (columns[i].views & (list ? IN_LIST : IN_TREE))
      known->names[known->count++] = columns[i].name;
  for (uint32_t i = 0; i < counters->count; i++)
    for (int own = 0; own < (list ? 1 : 2); own++) {
      char *name = known->own[2 * i + (uint32_t)own];
      const char *end = list ? "" : own ? "_excl" : "_incl";
      snprintf(name, sizeof *known->own, "%s%s", counters->names[i], end);
      known->names[known->count++] = name;
    }
}

/* The key of a column; -1: there is none. */
static int key_of(const struct counter_names *counters, const char *column)
{
  char name[COUNTER_NAME_MAX + 8];
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (!strcmp(column, columns[i].name))
      return columns[i].key;
  for (uint32_t i = 0; i < counters->count; i++) {
    size_t length = strlen(counters->names[i]);
    snprintf(name, sizeof name, "%s_excl", counters->names[i]);
    if (!strcmp(column, name))
      return KEY_COUNTED_OWN + (int)i;
    if (!strncmp(column, name, length) && (!column[length] || !strcmp(column + length, "_incl")))
      return KEY_COUNTED + (int)i;
  }
  return -1;
}

struct sort {
  const struct construct_tree *tree;
  int key;
};

/* A figure by which an entry is sorted. */
static uint64_t figure(const struct construct_entry *entry, int key)
{
  uint64_t value;
  if (key >= KEY_COUNTED)
    return key < KEY_COUNTED_OWN ? construct_counts_of(&entry->sum)->counted[key - KEY_COUNTED]
                                 : construct_counts_of(&entry->sum)->counted_own[key - KEY_COUNTED_OWN];
  switch (key) {
  case KEY_EXCLUSIVE:
    return construct_exclusive(entry->kind, &entry->sum);
  case KEY_EXECUTIONS:
    return entry->sum.executions;
  case KEY_GAIN:
    return entry->gain_ns;
  default:
    return construct_cell(entry, &entry->sum, (enum construct_column)key, &value) ? value : 0;
  }
}

static int by_key(const struct construct_entry *x, const struct construct_entry *y, int key)
{
  int order;
  switch (key) {
  case KEY_ID:
    return (x->id > y->id) - (x->id < y->id);
  case KEY_DEPTH:
    return (x->depth > y->depth) - (x->depth < y->depth);
  case KEY_KIND:
    return strcmp(profile_directive_name(x->kind), profile_directive_name(y->kind));
  case KEY_NAME:
    return strcmp(x->name, y->name);
  case KEY_PLACE:
    order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
  case KEY_CONTEXT:
    return (x->context > y->context) - (x->context < y->context);
  case KEY_NOTE:
    return strcmp(x->note, y->note);
  default:
    return (figure(x, key) < figure(y, key)) - (figure(x, key) > figure(y, key));
  }
}

/* Siblings by the column, then as before. */
static int by_parent(const void *a, const void *b, void *argument)
{
  const struct sort *sort = argument;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct construct_entry *x = &sort->tree->entries[i], *y = &sort->tree->entries[j];
  if (!i || !j)
    return (i > 0) - (j > 0);
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  int order = by_key(x, y, sort->key);
  return order ? order : (i > j) - (i < j);
}

/* Puts the entries into *sorted: after each one, what is below it.  order[] has siblings in their new order. */
static void arrange(const struct construct_tree *tree, const uint32_t *order, struct construct_entry *sorted,
                    uint32_t *place)
{
  place[0] = 0;
  sorted[0] = tree->entries[0];
  uint32_t parent = 0, next = 0;
  for (uint32_t i = 1; i < tree->count; i++) { /* siblings are next to each other, parents before their children */
    struct construct_entry entry = tree->entries[order[i]];
    if (i == 1 || entry.parent != parent)
      next = place[entry.parent] + 1;
    parent = entry.parent;
    uint32_t size = entry.end - order[i];
    place[order[i]] = next;
    entry.parent = place[parent];
    entry.end = next + size;
    sorted[next] = entry;
    next += size;
  }
}

int construct_order(struct construct_tree *tree, const struct counter_names *counters, const char *column)
{
  struct sort sort = {.tree = tree, .key = key_of(counters, column)};
  if (sort.key < 0)
    return ERR_INPUT;
  if (!tree->count)
    return 0;
  uint32_t *order = calloc(tree->count, sizeof *order), *place = calloc(tree->count, sizeof *place);
  struct construct_entry *sorted = calloc(tree->count, sizeof *sorted);
  int status = order && place && sorted ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < tree->count && order; i++)
    order[i] = i;
  if (!status) {
    qsort_r(order, tree->count, sizeof *order, by_parent, &sort);
    arrange(tree, order, sorted, place);
    free(tree->entries);
    tree->entries = sorted;
    sorted = NULL;
  }
  free(order);
  free(place);
  free(sorted);
  return status;
}

struct candidate {
  uint64_t weight;
  uint32_t entry;
};

static int heaviest_first(const void *a, const void *b)
{
  const struct candidate *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

int construct_order_limit(const struct construct_tree *tree, const struct construct_limits *limits, bool **shown,
                          uint32_t *left_out)
{
  struct candidate *candidates = calloc((size_t)tree->count + 1, sizeof *candidates);
  uint64_t *weights = calloc((size_t)tree->count + 1, sizeof *weights);
  uint32_t count = 0;
  *left_out = 0;
  *shown = calloc((size_t)tree->count + 1, sizeof **shown);
  int status = candidates && weights && *shown ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < tree->count && !status; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    uint64_t exec = construct_exec(&entry->sum), above = weights[entry->parent];
    weights[i] =
        i && above < exec ? above : exec; /* workers of inner regions can make that longer than the outer one */
    bool light = i && (double)weights[i] < (double)weights[0] * limits->percent / 100;
    bool deep = limits->depth && entry->depth > limits->depth;
    (*shown)[i] = !light && !deep && (!i || (*shown)[entry->parent]);
    if (i && (*shown)[i])
      candidates[count++] = (struct candidate){limits->in_order ? 0 : weights[i], i};
  }
  if (!status && limits->rows) {
    qsort(candidates, count, sizeof *candidates, heaviest_first);
    for (uint32_t i = limits->rows; i < count; i++)
      (*shown)[candidates[i].entry] = false;
    for (uint32_t i = 1; i < tree->count; i++) /* after a sort, a light entry may precede its parent's equals */
      (*shown)[i] = (*shown)[i] && (*shown)[tree->entries[i].parent];
  }
  for (uint32_t i = 0; i < tree->count && !status; i++)
    *left_out += !(*shown)[i];
  free(candidates);
  free(weights);
  return status;
}
