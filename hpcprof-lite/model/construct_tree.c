#include "hpcprof-lite/model/construct_tree.h"

#include "common/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool construct_column_counts(enum construct_column column)
{
  return column == CONSTRUCT_COUNT || column == CONSTRUCT_SECTION_COUNT || column == CONSTRUCT_SINGLE_COUNT;
}

bool construct_is_region(uint32_t kind)
{
  return kind == DIRECTIVE_PARALLEL || kind == DIRECTIVE_TEAMS;
}

bool construct_is_outlined(uint32_t kind)
{
  return construct_is_region(kind) || kind == DIRECTIVE_TASK || kind == DIRECTIVE_TASKLOOP || kind == DIRECTIVE_TARGET;
}

bool construct_is_lock(uint32_t kind)
{
  return kind == DIRECTIVE_CRITICAL || kind == DIRECTIVE_LOCK || kind == DIRECTIVE_ORDERED || kind == CONSTRUCT_ATOMIC;
}

static bool has_body(uint32_t kind)
{
  return kind != DIRECTIVE_BARRIER && kind != DIRECTIVE_TASKWAIT && kind != DIRECTIVE_TASK;
}

static bool has_wait(uint32_t kind)
{
  return construct_is_region(kind) || kind == DIRECTIVE_FOR || kind == DIRECTIVE_SECTIONS || kind == DIRECTIVE_SINGLE ||
         kind == DIRECTIVE_TASKLOOP || kind == DIRECTIVE_TASKGROUP || kind == DIRECTIVE_TASKWAIT ||
         kind == DIRECTIVE_BARRIER || kind == DIRECTIVE_PROGRAM;
}

/* Under which name the body of a construct is reported. */
static enum construct_column body_column(uint32_t kind)
{
  if (kind == DIRECTIVE_SECTIONS)
    return CONSTRUCT_SECTION;
  return kind == DIRECTIVE_SINGLE ? CONSTRUCT_SINGLE : CONSTRUCT_BODY;
}

/* What a kind of constructs does not have is shown all the same where it is not 0, so that the columns add up. */
static bool shown(bool has, uint64_t ns)
{
  return has || ns;
}

bool construct_cell(const struct construct_entry *entry, const struct construct_figures *figures,
                    enum construct_column column, uint64_t *value)
{
  assert(entry->kind < CONSTRUCT_KINDS && column < CONSTRUCT_COLUMNS);
  uint32_t kind = entry->kind;
  bool region = construct_is_region(kind);
  *value = 0;
  switch (column) {
  case CONSTRUCT_EXEC:
    *value = construct_exec(figures);
    if (kind == DIRECTIVE_LOCK && entry->sum.cut)
      return false;
    return kind != DIRECTIVE_TASK || *value; /* how long creations took was not timed */
  case CONSTRUCT_COUNT:
    *value = figures->count;
    return kind != DIRECTIVE_PROGRAM;
  case CONSTRUCT_BODY:
  case CONSTRUCT_SECTION:
  case CONSTRUCT_SINGLE:
    *value = column == body_column(kind) ? figures->body : 0;
    return column == body_column(kind) && shown(has_body(kind), *value) && !(kind == DIRECTIVE_LOCK && entry->sum.cut);
  case CONSTRUCT_ENTER:
  case CONSTRUCT_STARTUP:
    *value = (column == CONSTRUCT_STARTUP) == region ? figures->enter : 0;
    return (column == CONSTRUCT_STARTUP) == region && shown(region || construct_is_lock(kind), *value);
  case CONSTRUCT_EXIT:
  case CONSTRUCT_SHUTDOWN:
    *value = (column == CONSTRUCT_SHUTDOWN) == region ? figures->exit : 0;
    return (column == CONSTRUCT_SHUTDOWN) == region && shown(region, *value);
  case CONSTRUCT_EXIT_BARRIER:
    *value = figures->wait;
    return shown(has_wait(kind), *value);
  case CONSTRUCT_TASK:
    *value = figures->task;
    return shown(has_wait(kind) && kind != DIRECTIVE_PROGRAM, *value);
  case CONSTRUCT_SECTION_COUNT:
    *value = figures->chosen;
    return kind == DIRECTIVE_SECTIONS && entry->sum.chosen &&
           !entry->sum.cut; /* else the runtime does not report single sections */
  case CONSTRUCT_SINGLE_COUNT:
    *value = figures->chosen;
    return kind == DIRECTIVE_SINGLE && !entry->sum.cut;
  default:
    return false;
  }
}

void construct_tree_team(const struct construct_tree *tree, const struct profile *profile, uint32_t region,
                         uint8_t *seen, uint32_t *team)
{
  assert(region < tree->count && tree->entries[region].end <= tree->count);
  const struct construct_entry *entry = &tree->entries[region];
  memset(seen, 0, tree->threads_count);
  memset(team, 0, profile->processes_count * sizeof *team);
  for (uint32_t i = region; i < entry->end; i++)
    for (uint32_t j = 0; j < tree->entries[i].lines_count; j++)
      seen[tree->entries[i].lines[j].thread] = 1;
  for (uint32_t i = 0; i < tree->threads_count; i++)
    team[tree->threads[i].process] += seen[i];
  for (uint32_t i = 0, end; i < entry->lines_count; i = end) {
    uint32_t process = tree->threads[entry->lines[i].thread].process;
    uint64_t members = 0, executions = 0;
    for (end = i; end < entry->lines_count && tree->threads[entry->lines[end].thread].process == process; end++) {
      model_add(&members, entry->lines[end].figures.count);
      model_add(&executions, entry->lines[end].figures.executions);
    }
    uint64_t mean = executions ? members / executions + (members % executions > 0) : UINT32_MAX,
             most = MAX(mean, profile->processes[process].threads_max);
    team[process] = (uint32_t)MIN(team[process], most);
  }
}

uint32_t construct_tree_next_region(const struct construct_tree *tree, uint32_t from)
{
  assert(from <= MAX(tree->count, 1));
  while (from < tree->count && !construct_is_region(tree->entries[from].kind))
    from++;
  return MIN(from, tree->count);
}

void construct_tree_release(struct construct_tree *tree)
{
  free(tree->entries);
  free(tree->entry_of);
  free(tree->lines);
  free(tree->counts);
  free(tree->threads);
  *tree = (struct construct_tree){0};
}
