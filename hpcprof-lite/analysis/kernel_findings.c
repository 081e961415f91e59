#include "hpcprof-lite/analysis/kernel_findings.h"

#include "common/order.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { ROWS_MOST = 3, PERCENT = 100 };

const char *kernel_finding_name(enum kernel_finding_kind kind)
{
  static const char *const names[] = {[KERNEL_TIME] = "kernel", [KERNEL_CHURN] = "thread-churn"};
  assert(kind < sizeof names / sizeof *names);
  return names[kind];
}

/* Fills a flat tree with what the kernel counted, by place. */
static void find_places(const struct tree *tree, const struct tree_columns *columns, struct tree *places)
{
  const uint32_t counted[] = {columns->user_cpu, columns->system_cpu, columns->page_faults,
                              columns->switches, columns->created,    columns->creating};
  tree_init(places, tree->columns, "");
  for (uint32_t row = 0; row < tree->count; row++) {
    uint32_t at = row, place = MODEL_NONE;
    while (at && (tree->rows[at].kind == ROW_RUNTIME || tree->rows[at].kind == ROW_LINE))
      at = tree->rows[at].parent;
    struct tree_row wanted = tree->rows[at];
    wanted.parent = 0;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
      uint64_t amount = tree_excl(tree, row, counted[i]);
      if (amount && place == MODEL_NONE)
        place = at ? tree_add(places, &wanted, NULL) : 0;
      if (amount)
        tree_value(places, place, counted[i], amount);
    }
  }
  tree_inclusive(places);
}

static struct kernel_finding *add(struct kernel_findings *findings, enum kernel_finding_kind kind,
                                  const struct tree_row *at, uint64_t size)
{
  assert(findings->count < KERNEL_FINDINGS_MAX);
  struct kernel_finding *found = &findings->found[findings->count++];
  *found = (struct kernel_finding){.kind = kind, .size = size};
  bool named = at->kind == ROW_PARALLEL || at->kind == ROW_TASK; /* by their lines */
  if (*at->file && at->line && !named)
    snprintf(found->place, sizeof found->place, "%.200s (%.200s:%" PRIu32 ")", at->name, names_base(at->file),
             at->line);
  else
    snprintf(found->place, sizeof found->place, "%.400s", at->name);
  return found;
}

/* The longest tick of the processes. */
static uint64_t tick_of(const struct profile *profile)
{
  uint64_t tick_ns = 0;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    tick_ns = MAX(tick_ns, profile->processes[i].stored.tick_ns);
  return tick_ns;
}

static void find_time(const struct tree *places, const struct tree_columns *columns, struct kernel_findings *findings)
{
  uint32_t rows[ROWS_MOST], count;
  uint64_t tick_ns = findings->tick_ns;
  double all_ns = (double)tree_incl(places, 0, columns->user_cpu) + (double)tree_incl(places, 0, columns->system_cpu);
  uint64_t least_ns = model_rounded(all_ns * KERNEL_PERCENT_LEAST / PERCENT);
  count = tree_largest(places, columns->system_cpu, MAX(least_ns, KERNEL_TICKS_LEAST * tick_ns), NULL, ROWS_MOST, rows);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t system_ns = tree_excl(places, rows[i], columns->system_cpu);
    uint64_t faults = tree_excl(places, rows[i], columns->page_faults);
    uint64_t switches = tree_excl(places, rows[i], columns->switches);
    uint64_t user_ns = tree_excl(places, rows[i], columns->user_cpu);
    uint64_t error_ns = profile_system_error_ns(tick_ns, system_ns, user_ns);
    struct kernel_finding *found = add(findings, KERNEL_TIME, &places->rows[rows[i]], system_ns);
    found->percent = (double)system_ns * PERCENT / all_ns;
    snprintf(found->text, sizeof found->text,
             "%.0f %% (+- %.0f) of the run's CPU time, in the kernel; page faults there: %" PRIu64
             ", context switches: %" PRIu64,
             found->percent, (double)error_ns * 2 * PERCENT / all_ns, faults, switches);
  }
}

static void find_churn(const struct tree *places, const struct tree_columns *columns, struct kernel_findings *findings)
{
  uint32_t rows[ROWS_MOST];
  uint64_t created = tree_incl(places, 0, columns->created), tenth = created / 10;
  if (created < 2 * (uint64_t)findings->at_once)
    return;
  uint32_t count = tree_largest(places, columns->created, MAX(tenth, 1), NULL, ROWS_MOST, rows);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t here = tree_excl(places, rows[i], columns->created);
    struct kernel_finding *found = add(findings, KERNEL_CHURN, &places->rows[rows[i]], here);
    snprintf(found->text, sizeof found->text,
             "threads created: %" PRIu64 ", by calls that took %.3f s; at most %" PRIu32 " lived at once", here,
             (double)tree_excl(places, rows[i], columns->creating) / 1e9, findings->at_once);
  }
}

void kernel_findings_find(const struct profile *profile, const struct tree *tree, const struct tree_columns *columns,
                          struct kernel_findings *findings)
{
  struct tree places;
  *findings = (struct kernel_findings){0};
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    findings->in_part |= process->in_part && process->stored.tick_ns;
    if (profile_usage_known(process))
      findings->at_once += profile_most_at_once(process, NULL, NULL);
  }
  if (!findings->at_once || columns->system_cpu == MODEL_NONE)
    return;
  findings->tick_ns = tick_of(profile);
  find_places(tree, columns, &places);
  find_time(&places, columns, findings);
  find_churn(&places, columns, findings);
  tree_release(&places);
}
