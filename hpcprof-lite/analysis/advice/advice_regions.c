#include "hpcprof-lite/analysis/advice/advice_regions.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void most(struct advice_amount *amount, const struct construct_entry *at, double s, bool add)
{
  if (!amount->at || s > amount->largest_s) {
    amount->at = at;
    amount->largest_s = s;
  }
  amount->s = add ? amount->s + s : fmax(amount->s, s);
}

/* Tasks of a directive, over all processes: created, and with dependences. */
static void count_tasks(const struct advice_input *input, struct advice_region *region, uint32_t directive)
{
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct construct_times *times = &input->profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      if (times->tasks[j].directive != directive)
        continue;
      region->created += (double)times->tasks[j].created;
      region->dependent += (double)times->tasks[j].dependent;
    }
  }
}

static void add_by_kind(const struct advice_input *input, struct advice_region *region,
                        const struct construct_entry *entry, const struct construct_lost *lost)
{
  const struct construct_figures *sum = &entry->sum;
  double body_s = advice_seconds(sum->own_body);
  switch (entry->kind) {
  case DIRECTIVE_SINGLE:
    region->single_s += body_s;
    region->limited_s += advice_seconds(lost->limited_parallelism);
    break;
  case DIRECTIVE_MASKED:
    most(&region->masked, entry, body_s, true);
    break;
  case DIRECTIVE_CRITICAL:
  case DIRECTIVE_LOCK:
  case CONSTRUCT_ATOMIC:
    region->locks += (double)sum->count;
    region->lock_wait_s += advice_seconds(lost->synchronisation);
    break;
  case DIRECTIVE_BARRIER:
    region->barrier_s += advice_seconds(lost->synchronisation);
    break;
  case DIRECTIVE_TASKWAIT:
  case DIRECTIVE_TASKGROUP:
    region->tasks_wait_s += advice_seconds(lost->synchronisation);
    break;
  case DIRECTIVE_ORDERED:
    most(&region->ordered, entry, advice_seconds(lost->synchronisation), true);
    break;
  case DIRECTIVE_TASK:
    region->tasks_wait_s += advice_seconds(lost->synchronisation);
    count_tasks(input, region, entry->directive);
    break;
  case CONSTRUCT_TASK_EXEC:
    region->tasks += (double)sum->count;
    most(&region->task, entry, body_s, true);
    break;
  case DIRECTIVE_FOR:
  case DIRECTIVE_SECTIONS:
    most(&region->loop, entry, body_s, false);
    if (!sum->wait)
      most(&region->open_loop, entry, body_s, false);
    break;
  case DIRECTIVE_PARALLEL:
  case DIRECTIVE_TEAMS:
    if (entry != region->at && sum->executions && sum->count == sum->executions)
      most(&region->inner, entry, advice_seconds(sum->body), true);
    break;
  default:
    break;
  }
}

/* ---- processes ---- */

static uint64_t end_ns(const struct profile_process *process)
{
  return model_sum(process->start_ns, process->wall_ns);
}

static int by_end(const void *a, const void *b, void *processes)
{
  const struct profile_process *all = processes;
  uint64_t x = end_ns(&all[*(const uint32_t *)a]), y = end_ns(&all[*(const uint32_t *)b]);
  return COMPARE(x, y);
}

static void order_processes(struct advice_run *run)
{
  struct profile_process *processes = run->input->profile->processes;
  uint32_t count = run->input->profile->processes_count;
  for (uint32_t i = 0; i < count; i++)
    run->order[i] = i;
  qsort_r(run->order, count, sizeof *run->order, by_end, processes);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t start_ns = processes[run->order[i]].start_ns;
    run->before[i] = (uint32_t)FIRST_WHERE(j, i, end_ns(&processes[run->order[j]]) > start_ns);
  }
}

/* Weighted interval scheduling: Kleinberg and Tardos, Algorithm Design, 6.1. */
double advice_chain(struct advice_run *run)
{
  assert(run->order && run->before && run->chain);
  uint32_t count = run->input->profile->processes_count;
  run->chain[0] = 0;
  for (uint32_t i = 0; i < count; i++)
    run->chain[i + 1] = fmax(run->chain[i], run->by_process[run->order[i]] + run->chain[run->before[i]]);
  return run->chain[count];
}

/* ---- the times of a region ---- */

/* Room for the figures of a region, by process and by thread. */
struct room {
  uint8_t *seen;
  uint32_t *here, *team; /* threads: of an entry; the most */
  double *total_s, *lost_s;
  double *busy_s; /* [thread] without waiting for others */
};

static void add_lines(struct room *room, const struct construct_tree *tree, const struct construct_entry *entry)
{
  assert(entry->lines || !entry->lines_count);
  for (uint32_t j = 0; j < entry->lines_count; j++) {
    const struct construct_figures *figures = &entry->lines[j].figures;
    uint32_t process = tree->threads[entry->lines[j].thread].process;
    uint64_t all = construct_exclusive(entry->kind, figures), waits = figures->wait;
    struct construct_lost lost = construct_lost(entry->kind, figures);
    bool lock = construct_is_lock(entry->kind);
    room->busy_s[entry->lines[j].thread] += lock || waits > all ? 0 : advice_seconds(all - waits);
    room->total_s[process] += advice_seconds(all);
    room->lost_s[process] += advice_seconds(construct_lost_sum(&lost));
  }
}

/* Adds an occurrence of the region in the tree. */
static void add_region(struct advice_run *run, struct room *room, struct advice_region *region, uint32_t first)
{
  assert(first < run->input->constructs->count && construct_is_region(run->input->constructs->entries[first].kind));
  const struct construct_tree *tree = run->input->constructs;
  const struct construct_entry *at = &tree->entries[first];
  region->executions += (double)at->sum.executions;
  region->startup_s += advice_seconds(model_sum(at->sum.enter, at->sum.exit));
  construct_tree_team(tree, run->input->profile, first, room->seen, room->here);
  for (uint32_t i = 0; i < run->input->profile->processes_count; i++)
    room->team[i] = MAX(room->team[i], room->here[i]);
  for (uint32_t i = first; i < at->end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct construct_lost lost = construct_lost(entry->kind, &entry->sum);
    region->total_s += advice_seconds(construct_exclusive(entry->kind, &entry->sum));
    region->management_s += advice_seconds(lost.management);
    region->imbalance_s += advice_seconds(lost.imbalance);
    region->events += (double)entry->sum.count;
    run->waited_s[entry->region] +=
        advice_seconds(lost.imbalance) + (entry->kind == DIRECTIVE_BARRIER ? advice_seconds(lost.synchronisation) : 0);
    add_by_kind(run->input, region, entry, &lost);
    add_lines(room, tree, entry);
  }
}

/* Finds the construct with most waiting, over all entries of the region. */
static void find_waits(struct advice_run *run, struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  for (uint32_t first = region->first; first; first = run->next[first])
    for (uint32_t i = first; i < tree->entries[first].end; i++) {
      const struct construct_entry *entry = &tree->entries[i];
      double *waited_s = &run->waited_s[entry->region];
      bool meets =
          entry->kind == DIRECTIVE_BARRIER || entry->kind == DIRECTIVE_FOR || entry->kind == DIRECTIVE_SECTIONS;
      if (*waited_s > 0)
        most(&region->waits, entry, *waited_s, false);
      if (*waited_s > 0 && meets)
        most(&region->meeting, entry, *waited_s, false);
      *waited_s = 0;
    }
}

/* Sets what follows from the figures of each process. */
static void join_processes(struct advice_run *run, struct room *room, struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  uint32_t processes = run->input->profile->processes_count;
  double threads = 0, lost_s = 0, *by_process = run->by_process;
  uint32_t most = 0;
  for (uint32_t i = 0; i < processes; i++)
    most = MAX(most, room->team[i]);
  for (uint32_t i = 0; i < processes; i++) {
    bool counts = room->team[i] > (most > 1);
    region->processes += counts;
    threads += counts ? room->team[i] : 0;
    lost_s += room->lost_s[i];
    by_process[i] = room->total_s[i] / fmax(room->team[i], 1);
  }
  region->threads = fmax(threads / fmax(region->processes, 1), 1);
  region->wall_s = advice_chain(run);
  for (uint32_t i = 0; i < processes; i++)
    by_process[i] = room->lost_s[i] / fmax(room->team[i], 1);
  if (lost_s > 0)
    region->per_lost = advice_chain(run) / lost_s;
  else
    region->per_lost = region->total_s > 0 ? region->wall_s / region->total_s : 1 / region->threads;
  memset(by_process, 0, processes * sizeof *by_process);
  memset(room->total_s, 0, processes * sizeof *room->total_s);
  for (uint32_t i = 0; i < tree->threads_count; i++) {
    uint32_t process = tree->threads[i].process;
    by_process[process] = fmax(by_process[process], room->busy_s[i]);
    room->total_s[process] += room->busy_s[i];
  }
  for (uint32_t i = 0; i < processes; i++)
    by_process[i] = fmax(0, by_process[i] - room->total_s[i] / fmax(room->team[i], 1));
  region->excess_s = advice_chain(run);
}

static void fill_region(struct advice_run *run, struct room *room, struct advice_region *region)
{
  assert(region->first);
  size_t processes = run->input->profile->processes_count;
  memset(room->team, 0, processes * sizeof *room->team);
  memset(room->total_s, 0, processes * sizeof *room->total_s);
  memset(room->lost_s, 0, processes * sizeof *room->lost_s);
  memset(room->busy_s, 0, run->input->constructs->threads_count * sizeof *room->busy_s);
  for (uint32_t first = region->first; first; first = run->next[first])
    add_region(run, room, region, first);
  find_waits(run, region);
  join_processes(run, room, region);
}

static void fill_regions(struct advice_run *run)
{
  size_t threads = run->input->constructs->threads_count, processes = run->input->profile->processes_count;
  struct room room = {.seen = xcalloc(threads, 1),
                      .here = xcalloc(processes, sizeof *room.here),
                      .team = xcalloc(processes, sizeof *room.team),
                      .total_s = xcalloc(processes, sizeof *room.total_s),
                      .lost_s = xcalloc(processes, sizeof *room.lost_s),
                      .busy_s = xcalloc(threads, sizeof *room.busy_s)};
  for (uint32_t i = 0; i < run->count; i++)
    fill_region(run, &room, &run->regions[i]);
  free(room.seen);
  free(room.here);
  free(room.team);
  free(room.total_s);
  free(room.lost_s);
  free(room.busy_s);
}

/* ---- samples ---- */

/* Where a region is: in a line or, if that is not known, at a name. */
struct place {
  uint32_t line;
  const char *file, *name;
  size_t length; /* of the name */
};

static int compare_places(const struct place *x, const struct place *y)
{
  if (x->line || y->line)
    return COMPARE(x->line, y->line) ?: strcmp(x->file, y->file);
  return memcmp(x->name, y->name, MIN(x->length, y->length)) ?: COMPARE(x->length, y->length);
}

static struct place place_of(const struct construct_entry *at)
{
  assert(at->name && at->file);
  return (struct place){at->line, at->file, at->name, strlen(at->name)};
}

/* The name of a row without a line is "parallel @ program+0x1234 [program._omp_fn.0]". */
static struct place place_of_row(const struct tree_row *row)
{
  const char *name = strstr(row->name, " @ "), *end;
  name = name ? name + 3 : row->name;
  end = strstr(name, " [");
  return (struct place){row->line, row->file, name, end ? (size_t)(end - name) : strlen(name)};
}

static int by_place(const void *a, const void *b, void *regions)
{
  const struct advice_region *all = regions;
  struct place x = place_of(all[*(const uint32_t *)a].at), y = place_of(all[*(const uint32_t *)b].at);
  return compare_places(&x, &y);
}

static int compare_with(const struct advice_run *run, uint32_t region, const struct place *place)
{
  assert(region < run->count);
  struct place other = place_of(run->regions[region].at);
  return compare_places(&other, place);
}

/* Adds samples to the regions in a place: in proportion to their times if there are several. */
static void add_samples(struct advice_run *run, const uint32_t *sorted, const struct tree_row *row, double work_s,
                        double overhead_s)
{
  struct place place = place_of_row(row);
  uint32_t low = (uint32_t)FIRST_WHERE(i, run->count, compare_with(run, sorted[i], &place) >= 0), end = low;
  double all_s = 0;
  for (; end < run->count && !compare_with(run, sorted[end], &place); end++)
    all_s += run->regions[sorted[end]].total_s;
  for (uint32_t i = low; i < end; i++) {
    struct advice_region *region = &run->regions[sorted[i]];
    double part = all_s > 0 ? region->total_s / all_s : 1.0 / (end - low);
    region->sampled_work_s += work_s * part;
    region->sampled_overhead_s += overhead_s * part;
  }
}

/* What was sampled in the regions. */
static void find_samples(struct advice_run *run)
{
  const struct tree *tree = run->input->tree;
  const struct tree_columns *columns = run->input->columns;
  uint32_t *sorted = xcalloc(run->count, sizeof *sorted);
  bool *inside = xcalloc(tree->count, sizeof *inside);
  for (uint32_t i = 0; i < run->count; i++)
    sorted[i] = i;
  qsort_r(sorted, run->count, sizeof *sorted, by_place, run->regions);
  for (uint32_t i = 1; i < tree->count; i++) { /* a parent has a smaller number */
    const struct tree_row *row = &tree->rows[i];
    bool below = row->parent != MODEL_NONE && inside[row->parent];
    inside[i] = below || row->kind == ROW_PARALLEL;
    if (!below && inside[i])
      add_samples(run, sorted, row, advice_seconds(tree_incl(tree, i, columns->work)),
                  advice_seconds(tree_incl(tree, i, columns->overhead)));
  }
  free(sorted);
  free(inside);
}

/* ---- all regions ---- */

/* Divides this tool's time among the regions. */
static void divide_tool(struct advice_run *run)
{
  double events = 0;
  for (uint32_t i = 0; i < run->count; i++)
    events += run->regions[i].events;
  for (uint32_t i = 0; i < run->count; i++) {
    struct advice_region *region = &run->regions[i];
    double all_s = advice_seconds(run->input->ns[TIMELINE_TOOL]);
    region->tool_s = fmin(all_s * region->events / fmax(events, 1), 0.9 * region->total_s);
    run->lost_s += region->total_s > 0 ? region->wall_s * region->tool_s / region->total_s : 0;
  }
}

/* Lists the regions, each with the entries in which it stands. */
static void list_regions(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  uint32_t *place = xcalloc(tree->count, sizeof *place);            /* [number of construct] region + 1 */
  uint32_t *last = xcalloc(tree->count, sizeof *last), regions = 0; /* [region + 1] its last entry */
  uint32_t i = construct_tree_next_region(tree, 1);
  for (uint32_t j = i; j < tree->count; j = construct_tree_next_region(tree, tree->entries[j].end))
    regions++;
  run->regions = xcalloc(regions, sizeof *run->regions);
  for (; i < tree->count; i = construct_tree_next_region(tree, tree->entries[i].end)) {
    const struct construct_entry *entry = &tree->entries[i];
    uint32_t *number = &place[entry->region];
    if (*number) {
      run->next[last[*number]] = i;
    } else {
      run->regions[run->count] = (struct advice_region){.at = entry, .first = i};
      *number = ++run->count;
    }
    last[*number] = i;
  }
  free(place);
  free(last);
}

void advice_regions_find(struct advice_run *run)
{
  assert(!run->regions);
  size_t entries = run->input->constructs->count, processes = run->input->profile->processes_count;
  run->next = xcalloc(entries, sizeof *run->next);
  run->waited_s = xcalloc(entries, sizeof *run->waited_s);
  run->by_process = xcalloc(processes, sizeof *run->by_process);
  run->order = xcalloc(processes, sizeof *run->order);
  run->before = xcalloc(processes, sizeof *run->before);
  run->chain = xcalloc(processes + 1, sizeof *run->chain);
  run->taken = xcalloc(run->input->tree->count, sizeof *run->taken);
  run->mpi = xcalloc(run->input->tree->count, sizeof *run->mpi);
  order_processes(run);
  list_regions(run);
  fill_regions(run);
  find_samples(run);
  divide_tool(run);
}

double advice_region_own(const struct advice_region *region, double s)
{
  assert(s >= 0);
  return region->total_s > 0 ? s * (1 - region->tool_s / region->total_s) : s;
}

double advice_region_gain(const struct advice_region *region, double lost_s)
{
  return advice_region_own(region, lost_s) * region->per_lost;
}

double advice_region_wall(const struct advice_region *region)
{
  return advice_region_own(region, region->wall_s);
}

double advice_region_together(const struct advice_region *region)
{
  return region->total_s > 0 ? region->wall_s * region->threads / region->total_s : 1 / fmax(region->processes, 1);
}

void advice_regions_release(struct advice_run *run)
{
  free(run->regions);
  free(run->next);
  free(run->waited_s);
  free(run->by_process);
  free(run->order);
  free(run->before);
  free(run->chain);
  free(run->taken);
  free(run->mpi);
}
