#include "hpcprof-lite/model/construct_figures.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct construct_node construct_outside = {
    .parent = MODEL_NONE, .kind = DIRECTIVE_PROGRAM, .context = MODEL_NONE};

static void add_counts(struct construct_counts *sum, const struct construct_counts *counts)
{
  assert(sum != counts);
  model_add(&sum->unread, counts->unread);
  model_add(&sum->unread_own, counts->unread_own);
  for (unsigned i = 0; i < COUNTERS_MAX; i++) {
    model_add(&sum->counted[i], counts->counted[i]);
    model_add(&sum->counted_own[i], counts->counted_own[i]);
  }
  counters_present_add(&sum->present, &counts->present);
}

void construct_usage_add(struct construct_figures *sum, const struct construct_figures *figures)
{
  model_add(&sum->system_cpu, figures->system_cpu);
  model_add(&sum->page_faults, figures->page_faults);
  model_add(&sum->switches, figures->switches);
  model_add(&sum->created, figures->created);
  model_add(&sum->creating, figures->creating);
}

/* The figures of chunks, and the schedule of their loop. */
static void add_chunks(struct construct_figures *sum, const struct construct_figures *figures)
{
  if (figures->longest_iterations && (!sum->longest_iterations || figures->longest_ns > sum->longest_ns)) {
    sum->longest_ns = figures->longest_ns;
    sum->longest_first = figures->longest_first;
    sum->longest_iterations = figures->longest_iterations;
  }
  if (figures->chunk_least && (!sum->chunk_least || figures->chunk_least < sum->chunk_least))
    sum->chunk_least = figures->chunk_least;
  sum->chunk_most = MAX(figures->chunk_most, sum->chunk_most);
  if (!sum->schedule) {
    sum->schedule = figures->schedule;
    sum->chunk_size = figures->chunk_size;
  } else if (figures->schedule) {
    sum->schedule = figures->schedule == sum->schedule ? sum->schedule : SCHEDULE_MIXED;
    sum->chunk_size = figures->chunk_size == sum->chunk_size ? sum->chunk_size : CHUNKS_DIFFER;
  }
}

const char *construct_schedule_name(uint32_t schedule)
{
  static const char *const names[SCHEDULES] = {SCHEDULE_NAMES};
  assert(schedule < SCHEDULES);
  return names[schedule];
}

void construct_figures_add(struct construct_figures *sum, const struct construct_figures *figures)
{
  assert(sum->counts || !figures->counts);
  model_add(&sum->count, figures->count);
  model_add(&sum->executions, figures->executions);
  model_add(&sum->chosen, figures->chosen);
  model_add(&sum->unended, figures->unended);
  model_add(&sum->enter, figures->enter);
  model_add(&sum->own_body, figures->own_body);
  model_add(&sum->wait, figures->wait);
  model_add(&sum->exit, figures->exit);
  model_add(&sum->wait_own, figures->wait_own);
  model_add(&sum->wait_spare, figures->wait_spare);
  model_add(&sum->body, figures->body);
  model_add(&sum->task, figures->task);
  model_add(&sum->cut, figures->cut);
  model_add(&sum->light, figures->light);
  model_add(&sum->light_inside, figures->light_inside);
  model_add(&sum->error_squares, figures->error_squares);
  model_add(&sum->bytes, figures->bytes);
  model_add(&sum->device_ns, figures->device_ns);
  model_add(&sum->device_operations, figures->device_operations);
  model_add(&sum->device_expected, figures->device_expected);
  sum->teams = MAX(sum->teams, figures->teams);
  sum->team_threads = MAX(sum->team_threads, figures->team_threads);
  construct_usage_add(sum, figures);
  add_chunks(sum, figures);
  if (figures->counts)
    add_counts(sum->counts, figures->counts);
}

void construct_error_text(uint64_t squares, uint64_t figure, char text[CONSTRUCT_ERROR_MAX])
{
  bool known = squares < UINT64_MAX && figure;
  double percent = known ? 200 * sqrt((double)squares) / (double)figure : 0;
  if (!known)
    snprintf(text, CONSTRUCT_ERROR_MAX, "error not known");
  else if (percent > 100)
    snprintf(text, CONSTRUCT_ERROR_MAX, "error over 100 %%");
  else if (percent >= 10)
    snprintf(text, CONSTRUCT_ERROR_MAX, "+- %.0f %% (two standard errors)", percent);
  else
    snprintf(text, CONSTRUCT_ERROR_MAX, "+- %.2g %% (two standard errors)", percent);
}

const struct construct_counts *construct_counts_of(const struct construct_figures *figures)
{
  static const struct construct_counts none;
  return figures->counts ? figures->counts : &none;
}

/* The exclusive time outside the body. */
static uint64_t around_body(const struct construct_figures *figures)
{
  return model_sum(model_sum(figures->enter, figures->wait), figures->exit);
}

uint64_t construct_exec(const struct construct_figures *figures)
{
  return model_sum(around_body(figures), model_sum(figures->body, figures->task));
}

uint64_t construct_exclusive(uint32_t kind, const struct construct_figures *figures)
{
  return kind == DIRECTIVE_LOCK ? around_body(figures) : model_sum(around_body(figures), figures->own_body);
}

struct construct_lost construct_lost(uint32_t kind, const struct construct_figures *figures)
{
  assert(kind < CONSTRUCT_KINDS);
  struct construct_lost lost = {.management = model_sum(figures->exit, figures->wait_own)};
  uint64_t wait = model_difference(figures->wait, figures->wait_own); /* a part may exceed sums that were limited */
  switch (kind) {
  case DIRECTIVE_PROGRAM:
    return (struct construct_lost){0};
  case DIRECTIVE_SINGLE: /* also the barrier's own cost: the other threads have nothing to do */
    lost.limited_parallelism = figures->wait;
    lost.management = model_sum(figures->exit, figures->enter);
    return lost;
  case DIRECTIVE_SECTIONS:
    lost.limited_parallelism = figures->wait_spare;
    lost.imbalance = model_difference(wait, figures->wait_spare);
    break;
  case DIRECTIVE_BARRIER:
  case DIRECTIVE_TASKWAIT:
  case DIRECTIVE_TASKGROUP:
  case DIRECTIVE_TASK:
    lost.synchronisation = wait;
    break;
  case DIRECTIVE_CRITICAL:
  case DIRECTIVE_LOCK:
  case DIRECTIVE_ORDERED:
  case CONSTRUCT_ATOMIC:
    lost.synchronisation = model_sum(figures->enter, wait);
    return lost;
  default:
    lost.imbalance = wait;
  }
  model_add(&lost.management, figures->enter);
  return lost;
}

void construct_lost_add(struct construct_lost *sum, const struct construct_lost *lost)
{
  model_add(&sum->synchronisation, lost->synchronisation);
  model_add(&sum->imbalance, lost->imbalance);
  model_add(&sum->limited_parallelism, lost->limited_parallelism);
  model_add(&sum->management, lost->management);
}

uint64_t construct_lost_sum(const struct construct_lost *lost)
{
  return model_sum(model_sum(lost->synchronisation, lost->imbalance),
                   model_sum(lost->limited_parallelism, lost->management));
}

static bool same_node(const struct construct_node *a, const struct construct_node *b)
{
  return a->parent == b->parent && a->kind == b->kind && a->directive == b->directive && a->in_wait == b->in_wait;
}

uint32_t construct_times_add(struct construct_times *times, struct hash_map *map, const struct construct_node *node)
{
  assert(node->kind < CONSTRUCT_KINDS &&
         (times->nodes_count ? node->parent < times->nodes_count : node->parent == MODEL_NONE));
  uint64_t key = hash_map_key(hash_map_key(hash_map_key(node->parent, node->kind), node->directive), node->in_wait);
  uint32_t found = HASH_MAP_FIND(map, key, i, same_node(&times->nodes[i], node));
  if (found)
    return found;
  if (times->nodes_count)
    hash_map_add(map, key, times->nodes_count);
  *XAPPEND(times->nodes, times->nodes_count, times->nodes_room) = *node;
  return times->nodes_count - 1;
}

void construct_times_set_counts(struct construct_times *times)
{
  for (uint32_t i = 0; i < times->rows_count; i++)
    times->rows[i].figures.counts = times->counts ? &times->counts[i] : NULL;
}

ORDER(by_node, struct construct_row, COMPARE(x->node, y->node) ?: COMPARE(x->thread, y->thread))

void construct_times_join_rows(struct construct_times *times)
{
  uint32_t count = 0;
  if (times->rows_count)
    qsort(times->rows, times->rows_count, sizeof *times->rows, by_node);
  for (uint32_t i = 0; i < times->rows_count; i++) {
    if (count && !by_node(&times->rows[count - 1], &times->rows[i]))
      construct_figures_add(&times->rows[count - 1].figures, &times->rows[i].figures);
    else
      times->rows[count++] = times->rows[i];
  }
  times->rows_count = count;
}

/* ---- counted events ---- */

uint32_t counter_names_find(const struct counter_names *names, const char *name)
{
  uint32_t i = 0;
  while (i < names->count && strcmp(names->names[i], name) != 0)
    i++;
  return i;
}

uint32_t counter_names_add(struct counter_names *names, const char *name)
{
  assert(names->count <= COUNTERS_MAX);
  char cut[COUNTER_NAME_MAX];
  snprintf(cut, sizeof cut, "%s", name);
  uint32_t found = counter_names_find(names, cut);
  if (found < names->count)
    return found;
  if (names->count == COUNTERS_MAX)
    return COUNTERS_MAX;
  if (!names->names)
    names->names = xcalloc(COUNTERS_MAX, sizeof *names->names);
  memcpy(names->names[names->count], cut, sizeof cut);
  return names->count++;
}

static bool ends_in(const char *text, const char *end)
{
  size_t length = strlen(text), last = strlen(end);
  return length >= last && !strcmp(text + length - last, end);
}

uint32_t counter_ratios(const struct counter_names *names, struct counter_ratio ratios[COUNTER_RATIOS_MAX])
{
  static const char stalled[] = "stalled-cycles-";
  uint32_t instructions = counter_names_find(names, "instructions"), cycles = counter_names_find(names, "cycles"),
           count = 0;
  for (uint32_t i = 0; i < names->count; i++) {
    const char *name = names->names[i];
    struct counter_ratio *ratio = &ratios[count];
    if (i == instructions && cycles < names->count) {
      *ratio = (struct counter_ratio){.name = "instructions_per_cycle", .of = i, .per = cycles, .factor = 1};
      count++;
    } else if (ends_in(name, "-misses") && instructions < names->count) {
      *ratio = (struct counter_ratio){.of = i, .per = instructions, .factor = 1000};
      snprintf(ratio->name, sizeof ratio->name, "%s_per_1000_instructions", name);
      count++;
    } else if (!strncmp(name, stalled, sizeof stalled - 1) && cycles < names->count) {
      *ratio = (struct counter_ratio){.of = i, .per = cycles, .factor = 100};
      snprintf(ratio->name, sizeof ratio->name, "%s_pct", name);
      count++;
    }
  }
  return count;
}

/* The bit of a program that counts one of them without the other. */
static uint64_t apart_bit(uint32_t counter, uint32_t without_it)
{
  assert(counter < COUNTERS_MAX && without_it < COUNTERS_MAX);
  return UINT64_C(1) << (counter * COUNTERS_MAX + without_it);
}

struct counters_present counters_present_of(uint64_t known)
{
  struct counters_present present = {.known = known};
  for (uint32_t i = 0; i < COUNTERS_MAX; i++)
    for (uint32_t k = 0; k < COUNTERS_MAX; k++)
      if (known >> i & 1 && !(known >> k & 1))
        present.apart |= apart_bit(i, k);
  return present;
}

void counters_present_add(struct counters_present *sum, const struct counters_present *present)
{
  sum->known |= present->known;
  sum->apart |= present->apart;
}

bool counters_present_has(const struct counters_present *present, uint32_t counter)
{
  assert(counter < COUNTERS_MAX);
  return present->known >> counter & 1;
}

bool counter_ratio_value(const struct counter_ratio *ratio, const uint64_t *counts,
                         const struct counters_present *present, double *value)
{
  assert(ratio->of < COUNTERS_MAX && ratio->per < COUNTERS_MAX);
  uint64_t apart = apart_bit(ratio->of, ratio->per) | apart_bit(ratio->per, ratio->of);
  bool together = counters_present_has(present, ratio->of) && !(present->apart & apart);
  *value = counts[ratio->per] ? (double)counts[ratio->of] / (double)counts[ratio->per] * ratio->factor : 0;
  return together && counts[ratio->per] > 0;
}

void construct_times_release(struct construct_times *times)
{
  free(times->nodes);
  free(times->rows);
  free(times->tasks);
  free(times->counts);
  free(times->counters.names);
  *times = (struct construct_times){0};
}
