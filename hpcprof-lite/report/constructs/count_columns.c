#include "hpcprof-lite/report/constructs/count_columns.h"

#include "common/order.h"
#include "common/words.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- columns of a table ---- */

/* What the columns of a table are filled with. */
struct counted {
  const struct counter_names *counters;
  bool unknown; /* figures are those of a part of the run: cells are empty */
  uint32_t columns;
  struct counter_ratio ratios[COUNTER_RATIOS_MAX];
  uint32_t ratios_count;
};

/* Puts the ratios of counts.  Returns the next cell. */
static struct cell *put_ratios(const struct counted *counted, struct cell *cell, const uint64_t *counts,
                               const struct counters_present *present)
{
  assert(counted->ratios_count <= COUNTER_RATIOS_MAX);
  for (uint32_t i = 0; i < counted->ratios_count; i++) {
    double value = 0;
    bool known = counter_ratio_value(&counted->ratios[i], counts, present, &value);
    *cell++ = cell_optional_real(known, value, 4);
  }
  return cell;
}

/* The part of a time in which counts are exact. */
static struct cell exact_part(const struct counters_present *present, uint64_t all_ns, uint64_t unread_ns)
{
  assert(present);
  if (!all_ns || !present->known)
    return cell_empty();
  return cell_percent(all_ns - MIN(unread_ns, all_ns), all_ns);
}

/* Puts the least, mean and greatest of some counts with that sum.  Returns the next cell. */
static struct cell *put_spread(struct cell *cell, uint64_t count, uint64_t sum, uint64_t least, uint64_t greatest)
{
  *cell++ = cell_optional(count, least);
  *cell++ = cell_optional_real(count, (double)sum / (double)count, 2);
  *cell++ = cell_optional(count, greatest);
  return cell;
}

/* Puts the least, mean and greatest count of the threads that have a row and counted it. */
static struct cell *put_threads(struct cell *cell, const struct construct_entry *entry, uint32_t counter)
{
  assert(counter < COUNTERS_MAX);
  uint64_t least = UINT64_MAX, greatest = 0, lines = 0;
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    const struct construct_counts *counts = construct_counts_of(&entry->lines[i].figures);
    uint64_t count = counts->counted[counter];
    if (!counters_present_has(&counts->present, counter))
      continue;
    lines++;
    least = MIN(count, least);
    greatest = MAX(count, greatest);
  }
  return put_spread(cell, lines, construct_counts_of(&entry->sum)->counted[counter], least, greatest);
}

/* Fills the cells of a construct.  tree: with its own counts, instead of the spread over its threads. */
static void fill_line(const struct counted *counted, const struct construct_line *line, struct cell *cell, bool tree)
{
  assert(line->entry);
  const struct construct_figures *figures = construct_line_figures(line);
  const struct construct_counts *counts = construct_counts_of(figures);
  memset(cell, 0, counted->columns * sizeof *cell);
  if (counted->unknown || line->entry->kind == DIRECTIVE_TASK) /* creating one is not an interval */
    return;
  for (uint32_t i = 0; i < counted->counters->count; i++) {
    bool has = counters_present_has(&counts->present, i);
    *cell++ = cell_optional(has, counts->counted[i]);
    if (tree)
      *cell++ = cell_optional(has, counts->counted_own[i]);
    else if (line->row)
      cell += 3;
    else
      cell = put_threads(cell, line->entry, i);
  }
  cell = put_ratios(counted, cell, counts->counted, &counts->present);
  *cell = exact_part(&counts->present, construct_exec(figures), counts->unread);
}

static void fill_lines(const void *context, const void *row, struct cell *cell)
{
  fill_line(context, row, cell, false);
}

static void fill_tree_lines(const void *context, const void *row, struct cell *cell)
{
  fill_line(context, row, cell, true);
}

static void fill_tasks(const void *context, const void *row, struct cell *cell)
{
  const struct counted *counted = context;
  const struct task_row *task = row;
  memset(cell, 0, counted->columns * sizeof *cell);
  if (counted->unknown)
    return;
  for (uint32_t i = 0; i < counted->counters->count; i++)
    *cell++ = cell_optional(counters_present_has(&task->present, i), task->counted[i]);
  cell = put_ratios(counted, cell, task->counted, &task->present);
  *cell = exact_part(&task->present, task->exec_ns, task->unread_ns);
}

static void fill_grains(const void *context, const void *row, struct cell *cell)
{
  const struct counted *counted = context;
  const uint64_t *counts = ((const struct grain_row *)row)->counts;
  struct counters_present present = grain_groups_present(counts);
  for (uint32_t i = 0; i < counted->counters->count; i++)
    *cell++ = cell_optional(counts[i] != GRAIN_UNKNOWN, counts[i]);
  put_ratios(counted, cell, counts, &present);
}

/* The number of its grains whose counts are known. */
static uint64_t counted_grains(const struct counter_names *counters, const struct grain_group *group)
{
  uint64_t most = 0;
  for (uint32_t i = 0; i < counters->count; i++)
    most = MAX(group->counts[i].grains, most);
  return most;
}

static void fill_groups(const void *context, const void *row, struct cell *cell)
{
  const struct counted *counted = context;
  const struct grain_group *group = row;
  uint64_t sums[COUNTERS_MAX];
  for (uint32_t i = 0; i < counted->counters->count; i++) {
    const struct grain_counts *counts = &group->counts[i];
    sums[i] = counts->sum;
    *cell++ = cell_optional(counts->grains, counts->sum);
    cell = put_spread(cell, counts->grains, counts->sum, counts->least, counts->most);
  }
  cell = put_ratios(counted, cell, sums, &group->present);
  *cell = cell_percent(counted_grains(counted->counters, group), group->count);
}

/* What a table shows of each event; the name of the column ends in `ending`. */
struct measure {
  const char *ending;
  enum column_type type;
  enum column_form form;
  const char *help;
};

enum { MEASURES_MAX = 4 };

static const struct counted_kind {
  table_fill *fill;
  struct measure measures[MEASURES_MAX];
  const char *exact; /* what counted_pct is; NULL: there is no such column */
} kinds[] = {
    [COUNTED_LINES] = {fill_lines,
                       {{"", COLUMN_COUNT, FORM_COUNT, "events in the construct, with all that it contains"},
                        {"_min", COLUMN_COUNT, FORM_COUNT, "least count of a thread"},
                        {"_mean", COLUMN_RATIO, FORM_RATIO, "mean count of the threads that took part"},
                        {"_max", COLUMN_COUNT, FORM_COUNT, "greatest count of a thread"}},
                       "part of the time in which counts are exact"},
    [COUNTED_TREE_LINES] = {fill_tree_lines,
                            {{"_incl", COLUMN_COUNT, FORM_COUNT, "events in the construct, with all that it contains"},
                             {"_excl", COLUMN_COUNT, FORM_COUNT, "the same without the constructs in it"}},
                            "part of the time in which counts are exact"},
    [COUNTED_TASKS] = {fill_tasks,
                       {{"", COLUMN_COUNT, FORM_COUNT, "events while the tasks ran, without the tasks inside them"}},
                       "part of the time in which counts are exact"},
    [COUNTED_GRAINS] = {fill_grains, {{"", COLUMN_COUNT, FORM_COUNT, "events in the grain"}}, NULL},
    [COUNTED_GROUPS] = {fill_groups,
                        {{"", COLUMN_COUNT, FORM_COUNT, "events in the grains whose count is known"},
                         {"_min", COLUMN_COUNT, FORM_COUNT, "least count of a grain"},
                         {"_mean", COLUMN_RATIO, FORM_RATIO, "mean count of the grains"},
                         {"_max", COLUMN_COUNT, FORM_COUNT, "greatest count of a grain"}},
                        "part of the grains whose counts are known"}};

void count_columns_add(struct table *table, const struct profile *profile, enum counted_rows rows)
{
  assert(rows < sizeof kinds / sizeof *kinds);
  const struct counted_kind *kind = &kinds[rows];
  const struct counter_names *counters = &profile->constructs.counters;
  if (!counters->count)
    return;
  struct counted *counted = table_memory(table, sizeof *counted);
  size_t most = (size_t)counters->count * MEASURES_MAX + COUNTER_RATIOS_MAX + 1;
  struct table_column *columns = table_memory(table, most * sizeof *columns), *column = columns;
  *counted = (struct counted){.counters = counters, .unknown = profile->range.traced};
  counted->ratios_count = counter_ratios(counters, counted->ratios);
  for (uint32_t i = 0; i < counters->count; i++)
    for (unsigned k = 0; k < MEASURES_MAX && kind->measures[k].ending; k++) {
      const struct measure *measure = &kind->measures[k];
      *column++ = (struct table_column){.name = table_name(table, "%s%s", counters->names[i], measure->ending),
                                        .type = measure->type,
                                        .form = measure->form,
                                        .help = measure->help};
    }
  for (uint32_t i = 0; i < counted->ratios_count; i++)
    *column++ = (struct table_column){
        .name = counted->ratios[i].name, .type = COLUMN_RATIO, .form = FORM_RATIO, .help = "ratio of two counts"};
  if (kind->exact)
    *column++ =
        (struct table_column){.name = "counted_pct", .type = COLUMN_PERCENT, .form = FORM_PERCENT, .help = kind->exact};
  counted->columns = (uint32_t)(column - columns);
  table_add(table, &(struct schema){columns, counted->columns, kind->fill}, counted);
}

/* ---- text ---- */

void count_columns_group_text(const struct counter_names *counters, const struct grain_group *group,
                              const struct terminal *terminal, FILE *stream)
{
  enum { ENTRY_MAX = COUNTER_NAME_MAX + 64 };
  char text[(COUNTERS_MAX + 1) * ENTRY_MAX] = "", sum[16], least[16], most[16];
  uint64_t counted = counted_grains(counters, group);
  for (uint32_t i = 0; i < counters->count; i++) {
    const struct grain_counts *counts = &group->counts[i];
    if (!counts->grains)
      continue;
    terminal_whole_count(counts->sum, sum);
    terminal_whole_count(counts->least, least);
    terminal_whole_count(counts->most, most);
    words_append(text, sizeof text, "%s: %s, %s to %s a grain", counters->names[i], sum, least, most);
  }
  if (counters->count && counted < group->count)
    words_append(text, sizeof text, "counted: %.1f %% of the grains", 100.0 * (double)counted / (double)group->count);
  if (*text)
    terminal_wrap(terminal, stream, "        ", "        ", text);
}

void count_columns_text(const struct counter_names *counters, const uint64_t *counts,
                        const struct counters_present *present, bool estimated, const struct terminal *terminal,
                        FILE *stream)
{
  assert(counters->count <= COUNTERS_MAX);
  enum { ENTRY_MAX = COUNTER_NAME_MAX + 64 };
  char text[2 * COUNTERS_MAX * ENTRY_MAX] = "", number[32];
  struct counter_ratio ratios[COUNTER_RATIOS_MAX];
  uint32_t ratios_count = counter_ratios(counters, ratios);
  double value;
  for (uint32_t i = 0; i < counters->count; i++) {
    if (!counters_present_has(present, i))
      continue;
    terminal_whole_count(counts[i], number);
    words_append(text, sizeof text, "%s: %s%s", counters->names[i], estimated ? "about " : "", number);
  }
  for (uint32_t i = 0; i < ratios_count; i++)
    if (counter_ratio_value(&ratios[i], counts, present, &value))
      words_append(text, sizeof text, "%.120s: %.2f", ratios[i].name, value);
  if (*text)
    terminal_wrap(terminal, stream, "        ", "        ", text);
}
