#include "hpcprof-lite/views/construct_rows.h"

#include "common/order.h"
#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/checks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_MAX = 512 };

struct build {
  const struct profile *profile;
  struct names *names;
  const struct tree *contexts;
  const uint32_t *row_of;
  struct construct_tree *result;
  struct construct_times joined;  /* copies of the same code joined; threads of rows by their number in the result */
  struct construct_figures *sums; /* [joined node] */
  uint32_t *order;                /* joined nodes by parent, then as they are shown */
  uint32_t *first_child;          /* [joined node] position in `order` */
  uint32_t *first_row;            /* [joined node] */
  bool *used;                     /* [joined node] it has figures, or one below it has */
};

/* Gives figures a copy of their counts, counts[place], so that adding to it does not change the figures copied. */
static void copy_counts(struct construct_figures *figures, struct construct_counts *counts, size_t place)
{
  assert(!figures->counts || counts);
  if (!figures->counts)
    return;
  counts[place] = *figures->counts;
  figures->counts = &counts[place];
}

/* ---- copies joined ---- */

/* Numbers the threads of all processes that have times of constructs; first_of[process] receives the first one. */
static void number_threads(struct build *build, uint32_t *first_of)
{
  const struct profile *profile = build->profile;
  struct construct_tree *result = build->result;
  size_t room = 0, processes = 0;
  for (uint32_t i = 0, all = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    uint32_t before = all;
    all += process->usable ? process->threads_count : 0;
    first_of[i] = result->threads_count;
    if (!process->constructs.rows_count)
      continue;
    processes++;
    result->unseen |= process->workspan.unseen;
    size_t needed = (size_t)result->threads_count + process->threads_count;
    xarray_reserve(&result->threads, &room, needed, sizeof *result->threads);
    for (uint32_t j = 0; j < process->threads_count; j++)
      result->threads[result->threads_count++] = (struct construct_thread){i, j, before + j + 1};
  }
  result->several = processes > 1;
  for (uint32_t i = 0; i < result->threads_count && !result->several; i++)
    result->threads[i].number = profile->processes[result->threads[i].process].threads[result->threads[i].thread].index;
}

/* Joins the nodes of copies; map[] receives the joined node of each. */
static void join_nodes(struct build *build, uint32_t *map)
{
  assert(build->names->directives);
  const struct construct_times *times = &build->profile->constructs;
  struct hash_map known = {0};
  for (uint32_t i = 0; i < times->nodes_count; i++) {
    struct construct_node node = times->nodes[i];
    node.parent = i ? map[node.parent] : MODEL_NONE;
    node.directive = build->names->directives[node.directive].first;
    map[i] = construct_times_add(&build->joined, &known, &node);
    if (build->joined.nodes[map[i]].context == MODEL_NONE)
      build->joined.nodes[map[i]].context = node.context;
  }
  hash_map_release(&known);
}

/* Copies the counts of all rows; the sums' are before them. */
static void copy_all_counts(struct build *build)
{
  size_t rows = build->joined.rows_count, sums = build->joined.nodes_count;
  struct construct_counts *counts = build->result->counts = xcalloc(sums + rows, sizeof *counts);
  for (size_t i = 0; i < rows; i++)
    copy_counts(&build->joined.rows[i].figures, counts, sums + i);
}

static void join_rows(struct build *build, const uint32_t *map, const uint32_t *first_of)
{
  const struct profile *profile = build->profile;
  struct construct_times *joined = &build->joined;
  size_t rows = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    rows += profile->processes[i].constructs.rows_count;
  if (rows >= UINT32_MAX)
    xalloc_die();
  joined->rows = xmalloc(rows * sizeof *joined->rows);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *own = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < own->rows_count; j++) {
      struct construct_row row = own->rows[j];
      row.node = map[row.node];
      row.thread += first_of[i];
      joined->rows[joined->rows_count++] = row;
    }
  }
  if (profile->constructs.counters.count)
    copy_all_counts(build);
  construct_times_join_rows(joined);
}

static void join(struct build *build)
{
  uint32_t *first_of = xcalloc(build->profile->processes_count, sizeof *first_of);
  uint32_t *map = xcalloc(build->profile->constructs.nodes_count, sizeof *map);
  build->result->entry_of = map; /* of joined nodes at first */
  number_threads(build, first_of);
  join_nodes(build, map);
  join_rows(build, map, first_of);
  free(first_of);
}

/* ---- order ---- */

/* By parent, then the longest time first, then by what identifies a node. */
static int by_parent(const void *a, const void *b, void *argument)
{
  const struct build *build = argument;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct construct_node *x = &build->joined.nodes[i], *y = &build->joined.nodes[j];
  uint64_t s = construct_exec(&build->sums[i]), t = construct_exec(&build->sums[j]);
  return COMPARE(x->parent, y->parent) /* of the root: the largest number */
             ?: COMPARE(t, s) ?: COMPARE(x->kind, y->kind) ?: COMPARE(x->directive, y->directive)
             ?: COMPARE(x->in_wait, y->in_wait);
}

static void set_order(struct build *build)
{
  uint32_t count = build->joined.nodes_count;
  build->sums = xcalloc(count, sizeof *build->sums);
  build->order = xcalloc(count, sizeof *build->order);
  build->first_child = model_nones(count);
  build->first_row = xcalloc(count, sizeof *build->first_row);
  build->used = xcalloc(count, sizeof *build->used);
  for (uint32_t i = 0; i < count && build->result->counts; i++)
    build->sums[i].counts = &build->result->counts[i];
  for (uint32_t i = build->joined.rows_count; i-- > 0;) {
    build->first_row[build->joined.rows[i].node] = i;
    build->used[build->joined.rows[i].node] = true;
    construct_figures_add(&build->sums[build->joined.rows[i].node], &build->joined.rows[i].figures);
  }
  for (uint32_t i = count; i-- > 1;)
    build->used[build->joined.nodes[i].parent] |= build->used[i];
  for (uint32_t i = 0; i < count; i++)
    build->order[i] = i;
  qsort_r(build->order, count, sizeof *build->order, by_parent, build);
  for (uint32_t i = count; i-- > 0;)
    if (build->order[i])
      build->first_child[build->joined.nodes[build->order[i]].parent] = i;
}

/* ---- entries ---- */

/* Appends what figures rest on whose executions were not all followed. */
static void note_estimate(uint32_t kind, const struct construct_figures *figures, char note[NOTE_MAX])
{
  char text[CONSTRUCT_ERROR_MAX];
  construct_error_text(figures->error_squares, figures->own_body, text);
  if (figures->light && !construct_is_lock(kind))
    words_append(note, NOTE_MAX,
                 "its times, and sizes of chunks, are estimates: %" PRIu64 " of %" PRIu64
                 " executions were followed; the time in its body: %s",
                 model_difference(figures->count, figures->light), figures->count, text);
  else if (figures->light)
    words_append(note, NOTE_MAX,
                 "the time in its body is an estimate: %" PRIu64 " of %" PRIu64 " executions were followed, %s",
                 model_difference(figures->count, figures->light), figures->count, text);
  else if (figures->light_inside)
    words_append(note, NOTE_MAX, "its own time is an estimate: only some executions of constructs in it were followed");
}

static const char *note_of(struct names *names, uint32_t unseen, const struct construct_entry *entry)
{
  char note[NOTE_MAX] = "";
  if (construct_is_region(entry->kind) && unseen & UNSEEN_INLINED)
    words_append(note, NOTE_MAX, "GCC's code divides static loops itself: such loops, and masked, have no rows");
  if (construct_is_region(entry->kind) && unseen & UNSEEN_WORK)
    words_append(note, NOTE_MAX, "this runtime does not report loops, sections and single");
  if (construct_is_region(entry->kind) && unseen & UNSEEN_WAITS)
    words_append(note, NOTE_MAX, "this runtime does not report waits: waiting counts as body");
  if (entry->kind == DIRECTIVE_FOR && unseen & UNSEEN_CHUNKS)
    words_append(note, NOTE_MAX, "this runtime does not report chunks");
  if (entry->kind == DIRECTIVE_SECTIONS && !entry->sum.chosen && !entry->sum.cut)
    words_append(note, NOTE_MAX, "this runtime does not report single sections");
  if (entry->kind == DIRECTIVE_BARRIER && unseen & UNSEEN_INLINED)
    words_append(note, NOTE_MAX, "an explicit barrier, or the end of a loop with a static schedule");
  if (entry->kind == DIRECTIVE_SINGLE && unseen & UNSEEN_INLINED)
    words_append(note, NOTE_MAX,
                 "a barrier that follows nowait counts as its end; may be several constructs of a region");
  if (construct_is_target(entry->kind) && unseen & UNSEEN_OPERATIONS)
    words_append(note, NOTE_MAX,
                 "this runtime does not report what constructs copy and allocate on devices, nor waiting for these");
  if (entry->kind == DIRECTIVE_LOCK)
    words_append(note, NOTE_MAX, "the body counts for the construct around it as well");
  if (entry->kind != DIRECTIVE_PROGRAM && !*entry->name && !*entry->file)
    words_append(note, NOTE_MAX, "its place is not known");
  if (entry->sum.device_operations < entry->sum.device_expected)
    words_append(note, NOTE_MAX,
                 "the device has reported %" PRIu64 " of %" PRIu64 " operations: its time lacks the others",
                 entry->sum.device_operations, entry->sum.device_expected);
  if (entry->sum.unended)
    words_append(note, NOTE_MAX, "executions whose end was not seen: %" PRIu64, entry->sum.unended);
  note_estimate(entry->kind, &entry->sum, note);
  return *note ? names_own(names, xstrdup(note)) : "";
}

/* The id of the top-down tree's row for a context, or else for the nearest one around it: the runtime's own leaves are
 * parts of the function that called it. */
static uint32_t context_id(const struct build *build, uint32_t context)
{
  assert(build->row_of && build->contexts->count);
  const struct context_node *nodes = build->profile->contexts.nodes;
  for (; context && context != MODEL_NONE; context = nodes[context].parent) {
    uint32_t row = nodes[context].kind == CONTEXT_RUNTIME ? MODEL_NONE : build->row_of[context];
    if (row != MODEL_NONE)
      return build->contexts->rows[row].id;
  }
  return MODEL_NONE;
}

/* Adds the entry of a joined node. */
static void add_entry(struct build *build, uint32_t number, uint32_t parent)
{
  struct construct_tree *result = build->result;
  const struct construct_node *node = &build->joined.nodes[number];
  const struct names_directive *place = &build->names->directives[node->directive];
  struct construct_entry *entry = &result->entries[result->count];
  *entry = (struct construct_entry){.parent = parent,
                                    .id = result->count,
                                    .kind = node->kind,
                                    .directive = node->directive,
                                    .name = build->contexts->rows[0].name,
                                    .file = "",
                                    .context = context_id(build, node->context),
                                    .lines = &result->lines[build->first_row[number]],
                                    .sum = build->sums[number],
                                    .threads = 1};
  if (number) {
    entry->depth = result->entries[parent].depth + 1;
    entry->name = place->name;
    entry->file = place->file;
    entry->line = place->line;
  }
  for (uint32_t i = build->first_row[number]; i < build->joined.rows_count && result->lines[i].node == number; i++)
    entry->lines_count++;
  entry->note = note_of(build->names, build->result->unseen, entry);
  result->count++;
}

/* Adds all entries, depth-first.  The rows become their lines. */
static void add_entries(struct build *build)
{
  struct construct_tree *result = build->result;
  uint32_t count = build->joined.nodes_count, depth = 0;
  result->lines = build->joined.rows;
  build->joined.rows = NULL;
  result->entries = xcalloc(count, sizeof *result->entries);
  uint32_t *next = xcalloc(count, sizeof *next); /* [depth] position in `order` */
  uint32_t *open = xcalloc(count, sizeof *open); /* [depth] entry */
  uint32_t *made = xcalloc(count, sizeof *made); /* [joined node] entry; 0: it has none */
  add_entry(build, 0, 0);
  next[0] = build->first_child[0];
  for (uint32_t node = 0;;) {
    uint32_t at = next[depth], child = at < count ? build->order[at] : 0;
    if (child && build->joined.nodes[child].parent == node) {
      next[depth]++;
      if (!build->used[child])
        continue;
      add_entry(build, child, open[depth]);
      made[child] = open[++depth] = result->count - 1;
      next[depth] = build->first_child[child];
      node = child;
      continue;
    }
    result->entries[open[depth]].end = result->count;
    if (!depth--)
      break;
    node = build->joined.nodes[node].parent;
  }
  for (uint32_t i = 0; i < build->profile->constructs.nodes_count; i++)
    result->entry_of[i] = made[result->entry_of[i]];
  free(next);
  free(open);
  free(made);
}

/* Numbers the constructs: equal ones get one number wherever they stand. */
static void number_regions(struct construct_tree *result)
{
  struct hash_map known = {0};
  uint32_t regions = 0;
  for (uint32_t i = 1; i < result->count; i++) {
    struct construct_entry *entry = &result->entries[i];
    uint64_t key = (uint64_t)entry->kind << 32 | entry->directive;
    entry->region = hash_map_find(&known, key);
    if (entry->region)
      continue;
    entry->region = ++regions;
    hash_map_add(&known, key, regions);
  }
  hash_map_release(&known);
}

/* Sets what could be gained: lost time divided by the threads of the outermost region around a construct. */
static void set_gains(const struct profile *profile, struct construct_tree *result)
{
  uint8_t *seen = xmalloc(result->threads_count);
  uint32_t *team = xcalloc(profile->processes_count, sizeof *team);
  uint32_t region = 0;
  uint64_t threads = 0;
  for (uint32_t i = 1; i < result->count; i++) {
    struct construct_entry *entry = &result->entries[i];
    if (construct_is_region(entry->kind) && (!region || i >= result->entries[region].end)) {
      region = i;
      threads = 0;
      construct_tree_team(result, profile, region, seen, team);
      for (uint32_t j = 0; j < profile->processes_count; j++)
        threads += team[j];
    }
    bool inside = region && i < result->entries[region].end;
    struct construct_lost lost = construct_lost(entry->kind, &entry->sum);
    entry->threads = inside ? (uint32_t)threads : entry->lines_count;
    entry->gain_ns = entry->threads ? construct_lost_sum(&lost) / entry->threads : 0;
  }
  free(seen);
  free(team);
}

void construct_rows(const struct profile *profile, struct names *names, const struct tree *contexts,
                    const uint32_t *row_of_context, struct construct_tree *result)
{
  assert(names->directives || !profile->constructs.nodes_count);
  struct build build = {
      .profile = profile, .names = names, .contexts = contexts, .row_of = row_of_context, .result = result};
  *result = (struct construct_tree){0};
  if (!profile->constructs.nodes_count)
    return;
  join(&build);
  set_order(&build);
  add_entries(&build);
  number_regions(result);
  set_gains(profile, result);
  construct_times_release(&build.joined);
  free(build.sums);
  free(build.order);
  free(build.first_child);
  free(build.first_row);
  free(build.used);
  assert(check_construct_tree(result));
}

/* ---- the list ---- */

ORDER(by_thread, struct construct_row, COMPARE(x->thread, y->thread))

/* Adds up the lines of one thread. */
static void join_lines(struct construct_entry *entry)
{
  assert(entry->lines || !entry->lines_count);
  uint32_t count = 0;
  if (entry->lines_count)
    qsort(entry->lines, entry->lines_count, sizeof *entry->lines, by_thread);
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    if (count && entry->lines[count - 1].thread == entry->lines[i].thread)
      construct_figures_add(&entry->lines[count - 1].figures, &entry->lines[i].figures);
    else
      entry->lines[count++] = entry->lines[i];
  }
  entry->lines_count = count;
}

static int longest_first(const struct construct_entry *x, const struct construct_entry *y)
{
  uint64_t s = construct_exec(&x->sum), t = construct_exec(&y->sum);
  return COMPARE(t, s);
}

/* The entries of each construct, the longest time first. */
ORDER(by_region, struct construct_entry, COMPARE(x->region, y->region) ?: longest_first(x, y) ?: COMPARE(x->id, y->id))

/* The program, then the longest time first. */
ORDER(by_time, struct construct_entry,
      COMPARE(!!x->region, !!y->region) ?: longest_first(x, y) ?: COMPARE(x->region, y->region))

/* Moves the entries of a list together, and their lines into result->lines. */
static void join_entries(struct construct_tree *result)
{
  uint32_t kept = 0, lines = 0;
  for (uint32_t i = 0; i < result->count; i++) {
    struct construct_entry entry = result->entries[i];
    struct construct_row *to = &result->lines[lines];
    memcpy(to, entry.lines, entry.lines_count * sizeof *to);
    for (uint32_t j = 0; j < entry.lines_count; j++)
      copy_counts(&to[j].figures, result->counts, (size_t)result->count + lines + j);
    copy_counts(&entry.sum, result->counts, i);
    lines += entry.lines_count;
    entry.lines = to;
    if (!kept || result->entries[kept - 1].region != entry.region) {
      result->entries[kept++] = entry;
      continue;
    }
    struct construct_entry *into = &result->entries[kept - 1];
    into->lines_count += entry.lines_count;
    construct_figures_add(&into->sum, &entry.sum);
    model_add(&into->gain_ns, entry.gain_ns);
    if (into->context == MODEL_NONE)
      into->context = entry.context;
  }
  result->count = kept;
}

void construct_rows_flat(const struct construct_tree *tree, struct names *names, struct construct_tree *result)
{
  uint32_t lines = 0;
  *result = (struct construct_tree){.several = tree->several, .unseen = tree->unseen};
  if (!tree->count)
    return;
  for (uint32_t i = 0; i < tree->count; i++)
    lines += tree->entries[i].lines_count;
  result->entries = xcalloc(tree->count, sizeof *result->entries);
  result->lines = xcalloc(lines, sizeof *result->lines);
  result->threads = xcalloc(tree->threads_count, sizeof *result->threads);
  if (tree->counts)
    result->counts = xcalloc((size_t)tree->count + lines, sizeof *result->counts);
  result->count = tree->count;
  result->threads_count = tree->threads_count;
  memcpy(result->entries, tree->entries, tree->count * sizeof *result->entries);
  memcpy(result->threads, tree->threads, tree->threads_count * sizeof *result->threads);
  qsort(result->entries, result->count, sizeof *result->entries, by_region);
  join_entries(result);
  qsort(result->entries, result->count, sizeof *result->entries, by_time);
  for (uint32_t i = 0; i < result->count; i++) {
    struct construct_entry *entry = &result->entries[i];
    join_lines(entry);
    entry->parent = 0;
    entry->depth = i > 0;
    entry->id = entry->region;
    entry->end = i ? i + 1 : result->count;
    entry->note = note_of(names, result->unseen, entry);
  }
  assert(check_construct_tree(result));
}
