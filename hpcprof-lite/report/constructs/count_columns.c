#include "hpcprof-lite/report/constructs/count_columns.h"

#include <stdio.h>
#include <string.h>

void count_columns_init(struct count_columns *columns, const struct profile *profile, enum count_columns_kind kind,
                        const char *const *fixed, size_t fixed_count)
{
  static const char *const endings[][4] = {[COUNT_COLUMNS_EACH] = {"", "_min", "_mean", "_max"},
                                           [COUNT_COLUMNS_TREE] = {"_incl", "_excl"},
                                           [COUNT_COLUMNS_SUM] = {""},
                                           [COUNT_COLUMNS_GRAIN] = {""}};
  unsigned own = 0;
  *columns =
      (struct count_columns){.counters = &profile->constructs.counters, .kind = kind, .unknown = profile->range.traced};
  for (; columns->count < fixed_count && columns->count < COUNT_COLUMNS_FIXED_MAX; columns->count++)
    columns->all[columns->count] = fixed[columns->count];
  columns->before = columns->count;
  for (uint32_t i = 0; i < columns->counters->count; i++)
    for (unsigned k = 0; k < 4 && endings[kind][k]; k++, own++) {
      snprintf(columns->own[own], sizeof columns->own[own], "%s%s", columns->counters->names[i], endings[kind][k]);
      columns->all[columns->count++] = columns->own[own];
    }
  columns->ratios_count = counter_ratios(columns->counters, columns->ratios);
  for (uint32_t i = 0; i < columns->ratios_count; i++)
    columns->all[columns->count++] = columns->ratios[i].name;
  if (columns->counters->count && kind != COUNT_COLUMNS_GRAIN)
    columns->all[columns->count++] = "counted_pct";
}

static void ratio_cells(const struct count_columns *columns, struct row_writer *writer, const uint64_t *counts,
                        const struct counters_present *present)
{
  for (uint32_t i = 0; i < columns->ratios_count; i++) {
    double value;
    if (counter_ratio_value(&columns->ratios[i], counts, present, &value))
      row_writer_real(writer, value, 4);
    else
      row_writer_empty(writer);
  }
}

/* The part of a time in which counts are exact. */
static void part_cell(struct row_writer *writer, const struct counters_present *present, uint64_t all_ns,
                      uint64_t unread_ns)
{
  if (all_ns && present->known)
    row_writer_percent(writer, all_ns - (unread_ns < all_ns ? unread_ns : all_ns), all_ns);
  else
    row_writer_empty(writer);
}

/* The least, mean and greatest count of the threads that have a row and counted it. */
static void thread_cells(struct row_writer *writer, const struct construct_entry *entry, uint32_t counter)
{
  uint64_t least = UINT64_MAX, greatest = 0;
  uint32_t lines = 0;
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    const struct construct_counts *counts = construct_counts_of(&entry->lines[i].figures);
    uint64_t count = counts->counted[counter];
    if (!counters_present_has(&counts->present, counter))
      continue;
    lines++;
    least = count < least ? count : least;
    greatest = count > greatest ? count : greatest;
  }
  row_writer_optional(writer, lines > 0, least);
  if (lines)
    row_writer_real(writer, (double)construct_counts_of(&entry->sum)->counted[counter] / lines, 2);
  else
    row_writer_empty(writer);
  row_writer_optional(writer, lines > 0, greatest);
}

static void no_cells(const struct count_columns *columns, struct row_writer *writer, unsigned of_each)
{
  if (columns->counters->count)
    for (uint32_t i = 0; i < columns->counters->count * of_each + columns->ratios_count + 1; i++)
      row_writer_empty(writer);
}

void count_columns_cells(const struct count_columns *columns, struct row_writer *writer,
                         const struct construct_entry *entry, const struct construct_row *line)
{
  const struct construct_figures *figures = line ? &line->figures : &entry->sum;
  const struct construct_counts *counts = construct_counts_of(figures);
  if (columns->unknown)
    no_cells(columns, writer, columns->kind == COUNT_COLUMNS_TREE ? 2 : 4);
  if (columns->unknown || !columns->counters->count)
    return;
  if (entry->kind == DIRECTIVE_TASK) { /* task creations, which are no stretches of time */
    for (size_t i = columns->before; i < columns->count; i++)
      row_writer_empty(writer);
    return;
  }
  for (uint32_t i = 0; i < columns->counters->count; i++) {
    bool has = counters_present_has(&counts->present, i);
    row_writer_optional(writer, has, counts->counted[i]);
    if (columns->kind == COUNT_COLUMNS_TREE)
      row_writer_optional(writer, has, counts->counted_own[i]);
    else if (!line)
      thread_cells(writer, entry, i);
    else
      for (int k = 0; k < 3; k++)
        row_writer_empty(writer);
  }
  ratio_cells(columns, writer, counts->counted, &counts->present);
  part_cell(writer, &counts->present, construct_exec(figures), counts->unread);
}

void count_columns_sums(const struct count_columns *columns, struct row_writer *writer, const uint64_t *counts,
                        const struct counters_present *present, uint64_t all_ns, uint64_t unread_ns)
{
  if (columns->unknown) {
    no_cells(columns, writer, 1);
    return;
  }
  for (uint32_t i = 0; i < columns->counters->count; i++)
    row_writer_optional(writer, counters_present_has(present, i), counts[i]);
  ratio_cells(columns, writer, counts, present);
  if (columns->counters->count)
    part_cell(writer, present, all_ns, unread_ns);
}

/* ---- grains ---- */

void count_columns_grain(const struct count_columns *columns, struct row_writer *writer, const uint64_t *counts)
{
  for (uint32_t i = 0; i < columns->counters->count; i++)
    row_writer_optional(writer, counts[i] != GRAIN_UNKNOWN, counts[i]);
  struct counters_present present = grain_groups_present(counts);
  ratio_cells(columns, writer, counts, &present);
}

/* Of how many of its grains the counts are known. */
static uint64_t counted_grains(const struct counter_names *counters, const struct grain_group *group)
{
  uint64_t most = 0;
  for (uint32_t i = 0; i < counters->count; i++)
    most = group->counts[i].grains > most ? group->counts[i].grains : most;
  return most;
}

void count_columns_group(const struct count_columns *columns, struct row_writer *writer,
                         const struct grain_group *group)
{
  uint64_t sums[COUNTERS_MAX];
  for (uint32_t i = 0; i < columns->counters->count; i++) {
    const struct grain_counts *counts = &group->counts[i];
    sums[i] = counts->sum;
    row_writer_optional(writer, counts->grains, counts->sum);
    row_writer_optional(writer, counts->grains, counts->least);
    if (counts->grains)
      row_writer_real(writer, (double)counts->sum / (double)counts->grains, 2);
    else
      row_writer_empty(writer);
    row_writer_optional(writer, counts->grains, counts->most);
  }
  ratio_cells(columns, writer, sums, &group->present);
  if (columns->counters->count)
    row_writer_percent(writer, counted_grains(columns->counters, group), group->count);
}

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
    snprintf(text + strlen(text), ENTRY_MAX, "%s%s: %s, %s to %s a grain", *text ? "; " : "", counters->names[i], sum,
             least, most);
  }
  if (counters->count && counted < group->count)
    snprintf(text + strlen(text), ENTRY_MAX, "%scounted: %.1f %% of the grains", *text ? "; " : "",
             100.0 * (double)counted / (double)group->count);
  if (*text)
    terminal_wrap(terminal, stream, "        ", "        ", text);
}

/* ---- text ---- */

void count_columns_text(const struct counter_names *counters, const uint64_t *counts,
                        const struct counters_present *present, bool estimated, const struct terminal *terminal,
                        FILE *stream)
{
  enum { ENTRY_MAX = COUNTER_NAME_MAX + 64 };
  char text[2 * COUNTERS_MAX * ENTRY_MAX] = "", number[32];
  struct counter_ratio ratios[COUNTER_RATIOS_MAX];
  uint32_t ratios_count = counter_ratios(counters, ratios);
  double value;
  for (uint32_t i = 0; i < counters->count; i++) {
    if (!counters_present_has(present, i))
      continue;
    terminal_whole_count(counts[i], number);
    snprintf(text + strlen(text), ENTRY_MAX, "%s%s: %s%s", *text ? "; " : "", counters->names[i],
             estimated ? "about " : "", number);
  }
  for (uint32_t i = 0; i < ratios_count; i++)
    if (counter_ratio_value(&ratios[i], counts, present, &value))
      snprintf(text + strlen(text), ENTRY_MAX + 32, "; %.120s: %.2f", ratios[i].name, value);
  if (*text)
    terminal_wrap(terminal, stream, "        ", "        ", text);
}
