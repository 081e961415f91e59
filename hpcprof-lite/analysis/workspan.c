#include "hpcprof-lite/analysis/workspan.h"

#include "common/order.h"
#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_MAX = 512 };

double workspan_parallelism(uint64_t work, uint64_t span)
{
  return span ? (double)work / (double)span : 0;
}

/* Returns how long threads worked whose work is not counted: the graph has those of OpenMP, and the initial ones. */
static uint64_t uncounted_ns(const struct profile *profile)
{
  uint64_t sum_ns = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    for (uint32_t j = 1; j < process->threads_count && process->usable && process->workspan.known; j++)
      if (!(process->threads[j].flags & (THREAD_OPENMP | THREAD_HELPER)))
        model_add(&sum_ns, process->threads[j].work_ns);
  }
  return sum_ns;
}

static void note_program(const struct profile *profile, char note[NOTE_MAX])
{
  assert(profile->span_process < profile->processes_count);
  const struct profile_process *process = &profile->processes[profile->span_process];
  uint32_t unseen = profile->workspan.unseen;
  if (profile->span_processes > 1 && !profile->span_of_job)
    words_append(note, NOTE_MAX, "work of %" PRIu32 " processes, span of process %" PRIu32, profile->span_processes,
                 process->pid);
  uint32_t known = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    known += profile->processes[i].usable && profile->processes[i].workspan.known;
  if (known > profile->span_processes)
    words_append(note, NOTE_MAX, "processes with another unit of work are omitted");
  uint64_t others_ns = uncounted_ns(profile);
  if (others_ns)
    words_append(note, NOTE_MAX, "threads outside OpenMP are in neither work nor span: %.3g s of their work",
                 (double)others_ns / 1e9);
  if (profile->span_unseen_calls)
    words_append(note, NOTE_MAX,
                 "calls of MPI that are not followed, in which ranks can wait for each other: %" PRIu64
                 " (the span may be too short)",
                 profile->span_unseen_calls);
  if (process->threads_max <= 1 && process->flags & PROCESS_OMPT)
    words_append(note, NOTE_MAX, "one thread: loops and taskloops show no parallelism");
  if (unseen & UNSEEN_NEEDED)
    words_append(note, NOTE_MAX, "this runtime does not report all events: work and span are incomplete");
  if (unseen & UNSEEN_WAITS)
    words_append(note, NOTE_MAX, "this runtime does not report waits: the span may be too short");
  if (unseen & UNSEEN_WORK)
    words_append(note, NOTE_MAX, "this runtime does not report loops, sections and single");
  if (unseen & UNSEEN_DEPENDENCES)
    words_append(note, NOTE_MAX, "this runtime does not report task dependences: the span may be too short");
  if (unseen & UNSEEN_MASKED)
    words_append(note, NOTE_MAX, "this runtime does not report masked");
  if (unseen & UNSEEN_INLINED)
    words_append(note, NOTE_MAX,
                 "GCC's code divides static loops itself: such loops, and masked, have no rows; their work is in their "
                 "region's row");
  if (process->lost[LOSS_GRAPH])
    words_append(note, NOTE_MAX, "some tasks or joins were not followed: work and span are incomplete");
  if (process->lost[LOSS_WORK])
    words_append(note, NOTE_MAX, "the hardware counter did not run all the time: work and span are too small");
}

static void note_directive(const struct profile *profile, const struct profile_directive *directive,
                           char note[NOTE_MAX])
{
  bool chunks = !(profile->workspan.unseen & UNSEEN_CHUNKS);
  switch (directive->kind) {
  case DIRECTIVE_FOR:
  case DIRECTIVE_TASKLOOP:
    if (!chunks)
      words_append(note, NOTE_MAX, "this runtime does not report chunks: all that one thread runs count as one");
    if (directive->kind == DIRECTIVE_FOR && directive->instances && !directive->iterations)
      words_append(note, NOTE_MAX, "number of iterations not known");
    break;
  case DIRECTIVE_SECTIONS:
    if (!chunks)
      words_append(note, NOTE_MAX,
                   "this runtime does not report single sections: all that one thread runs count as one chunk");
    else if (!(profile->workspan.unseen & UNSEEN_INLINED))
      words_append(note, NOTE_MAX,
                   "if the runtime does not report single sections, all that one thread runs count as one chunk");
    break;
  case DIRECTIVE_SINGLE:
    words_append(note, NOTE_MAX,
                 "after nowait, it begins when the thread that runs it arrives: figures can differ from run to run");
    break;
  case DIRECTIVE_BARRIER:
    if (profile->workspan.unseen & UNSEEN_INLINED)
      words_append(note, NOTE_MAX, "an explicit barrier, or the end of a loop with a static schedule");
    break;
  case DIRECTIVE_CRITICAL:
  case DIRECTIVE_LOCK:
    words_append(note, NOTE_MAX, "the span does not include waiting for the lock");
    break;
  default:
    break;
  }
}

/* Notes that the program's span rests on regions of which not all were followed. */
static void note_light(const struct profile *profile, uint64_t span, char note[NOTE_MAX])
{
  struct construct_figures regions = profile_light_regions(profile);
  char text[CONSTRUCT_ERROR_MAX];
  if (!regions.light)
    return;
  construct_error_text(regions.error_squares, span, text);
  words_append(note, NOTE_MAX,
               "the span and shares of the critical path are estimates: %" PRIu64 " of %" PRIu64
               " regions were followed, the span %s",
               model_difference(regions.count, regions.light), regions.count, text);
}

/* Notes that tasks may begin too early in the span of a row that can contain some. */
static void note_untimed(const struct profile *profile, uint32_t kind, char note[NOTE_MAX])
{
  char text[PROFILE_UNTIMED_MAX];
  bool contains = kind <= DIRECTIVE_TASKGROUP || kind == DIRECTIVE_TEAMS || kind == DIRECTIVE_USER_REGION;
  if (contains && profile_untimed_text(profile, text))
    words_append(note, NOTE_MAX, "%s", text);
}

static void note_scenario(const struct profile *profile, const struct workspan_scenario *scenario, uint64_t span,
                          char note[NOTE_MAX])
{
  assert(!scenario || scenario->low <= scenario->high);
  double unit = profile->workspan.is_time ? 1e9 : 1;
  if (!scenario)
    return;
  if (!scenario->shares) {
    if (span != profile->workspan.span)
      words_append(note, NOTE_MAX,
                   "best case of the scenario: another path may become critical; rows' work and span as measured");
    return;
  }
  words_append(note, NOTE_MAX, "in the scenario, %s", scenario->note);
  if (scenario->low < scenario->high)
    words_append(note, NOTE_MAX, "span %.6g to %.6g", scenario->low / unit, scenario->high / unit);
}

static void fill_row(const struct profile *profile, struct names *names, const struct tree *tree,
                     const struct workspan_scenario *scenario, uint64_t span, struct workspan_row *row)
{
  assert(row->directive < profile->workspan.directives_count);
  const struct profile_directive *directive = &profile->workspan.directives[row->directive];
  char note[NOTE_MAX] = "";
  row->kind = profile_directive_name(directive->kind);
  if (directive->kind == DIRECTIVE_PROGRAM) {
    row->name = tree->rows[0].name;
    row->file = "";
    row->instances = 1;
    row->work = profile->workspan.work;
    row->device_time = directive->device_time;
    row->span = span;
    note_scenario(profile, scenario, span, note);
    note_program(profile, note);
    note_light(profile, span, note);
  } else {
    row->instances = directive->instances;
    row->work = directive->work;
    row->device_time = directive->device_time;
    row->span = directive->span;
    row->lock_bound = directive->lock_bound;
    row->light = directive->light;
    if (row->light) { /* estimates may exceed the run's */
      row->work = MIN(row->work, profile->workspan.work);
      row->span = MIN(row->span, model_sum(row->work, row->device_time));
    }
    if (scenario && scenario->shares) {
      row->span = scenario->spans[row->directive];
      row->lock_bound = scenario->lock_bounds[row->directive];
    }
    if (directive->kind == DIRECTIVE_FOR && directive->instances && directive->iterations && directive->work)
      row->iteration_parallelism = (double)directive->iterations / (double)directive->instances;
    note_directive(profile, directive, note);
    const struct names_directive *place = &names->directives[row->directive];
    row->name = place->name;
    row->file = place->file;
    row->line = place->line;
  }
  note_untimed(profile, directive->kind, note);
  row->note = *note ? names_own(names, xstrdup(note)) : "";
}

/* Adds the row of a copy to that of the first one.  Instances in each other cannot be told apart: then the sums exceed
 * the program's. */
static void add_copy(const struct profile *profile, const struct workspan *result, struct workspan_row *row,
                     const struct workspan_row *copy)
{
  assert(row != copy);
  double iterations = row->iteration_parallelism * (double)row->instances;
  iterations += copy->iteration_parallelism * (double)copy->instances;
  row->instances += copy->instances;
  row->light += copy->light;
  model_add(&row->executions, copy->executions);
  row->chunk_most = MAX(row->chunk_most, copy->chunk_most);
  row->work = MIN(model_sum(row->work, copy->work), result->work);
  row->device_time = MIN(model_sum(row->device_time, copy->device_time), profile->workspan.directives[0].device_time);
  row->span = MIN(model_sum(row->span, copy->span), model_sum(row->work, row->device_time));
  row->critical += copy->critical;
  row->lock_bound = MAX(row->lock_bound, copy->lock_bound);
  row->iteration_parallelism = row->instances ? iterations / (double)row->instances : 0;
}

/* Makes one row of the copies of a construct, and leaves out constructs without figures. */
static void join_copies(const struct profile *profile, const struct names *names, struct workspan *result)
{
  assert(names->directives);
  uint32_t *leader = model_nones(result->count), kept = 0; /* [first of the copies] */
  for (uint32_t i = 0; i < result->count; i++) {
    uint32_t *first = &leader[names->directives[i].first];
    if (!profile->workspan.directives[i].counted)
      continue;
    if (*first == MODEL_NONE)
      *first = i;
    else
      add_copy(profile, result, &result->rows[*first], &result->rows[i]);
    result->row_of[i] = *first;
  }
  for (uint32_t i = 0; i < result->count; i++)
    if (result->row_of[i] == i && profile->workspan.directives[i].counted)
      result->rows[kept++] = result->rows[i];
  result->count = kept;
  free(leader);
}

/* The program first, then by critical path, work and number. */
ORDER(by_rank, struct workspan_row,
      COMPARE(!!x->directive, !!y->directive) ?: COMPARE(y->critical, x->critical)
      ?: COMPARE(y->work, x->work) ?: COMPARE(x->directive, y->directive))

/* Adds the shares of the span to `critical` of their directives and returns the span.  With factors, each amount is the
 * difference of two rounded sums, so that they add up to the span. */
static uint64_t add_shares(const struct workspan *result, const double *factors)
{
  struct workspan_row *rows = result->rows;
  double sum = 0;
  uint64_t before = 0;
  for (uint32_t i = 0; i < result->shares_count; i++) {
    const struct context_share *share = &result->shares[i];
    uint64_t here = before + share->amount;
    if (factors) {
      sum += (double)share->amount / factors[i];
      here = model_rounded(sum);
    }
    rows[share->directive].critical += here - before;
    before = here;
  }
  return before;
}

/* Counts all executions of each construct, and notes the largest chunks, where times of constructs were measured. */
static void count_executions(const struct profile *profile, struct workspan *result)
{
  const struct construct_node *nodes = profile->constructs.nodes;
  result->executions_known = profile->constructs.nodes_count > 0 && !profile->range.limited;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    const struct construct_times *times = &process->constructs;
    if (process->usable && process->workspan.known && process->flags & PROCESS_OMPT && !times->rows_count)
      result->executions_known = false;
    for (uint32_t j = 0; j < times->rows_count; j++) {
      const struct construct_node *node = &nodes[times->rows[j].node];
      struct workspan_row *row = &result->rows[node->directive];
      bool is_part =
          construct_is_operation(node->kind) && construct_is_target(profile->workspan.directives[node->directive].kind);
      if (node->kind == CONSTRUCT_TASK_EXEC || is_part) /* that is counted where it is created; of a target construct */
        continue;
      model_add(&row->executions, times->rows[j].figures.executions);
      row->chunk_most = MAX(row->chunk_most, times->rows[j].figures.chunk_most);
    }
  }
  for (uint32_t i = 1; i < profile->workspan.directives_count; i++) /* those of copies in target constructs */
    if (construct_is_copy(profile->workspan.directives[i].kind))
      result->rows[i].executions = MAX(result->rows[i].executions, profile->workspan.directives[i].instances);
  result->rows[0].executions = 1;
}

/* Notes the loops whose iterations are chunks already. */
static void note_single_iterations(struct names *names, struct workspan *result)
{
  for (uint32_t i = 1; i < result->count; i++) {
    struct workspan_row *row = &result->rows[i];
    char note[NOTE_MAX];
    if (row->chunk_most != 1 || row->iteration_parallelism <= 0)
      continue;
    snprintf(note, sizeof note, "%s", row->note);
    words_append(note, NOTE_MAX,
                 "every chunk is one iteration: iteration_parallelism is the number of iterations, and "
                 "not what smaller chunks would allow");
    row->note = names_own(names, xstrdup(note));
  }
}

/* Notes the rows whose executions were not all followed, with the error of the time in their constructs' bodies. */
static void note_estimates(const struct profile *profile, struct names *names, struct workspan *result)
{
  const struct construct_node *nodes = profile->constructs.nodes;
  struct construct_figures *sums = xcalloc(result->count, sizeof *sums);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *times = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->rows_count; j++) {
      struct construct_figures figures = times->rows[j].figures;
      figures.counts = NULL;
      construct_figures_add(&sums[nodes[times->rows[j].node].directive], &figures);
    }
  }
  for (uint32_t i = 1; i < result->count; i++) {
    struct workspan_row *row = &result->rows[i];
    char note[NOTE_MAX], text[CONSTRUCT_ERROR_MAX];
    if (!row->light)
      continue;
    const struct profile_directive *directive = &profile->workspan.directives[row->directive];
    snprintf(note, sizeof note, "%s", row->note);
    if (!construct_is_lock(directive->kind)) {
      construct_error_text(directive->error_squares, row->span, text);
      words_append(note, NOTE_MAX, "%s an estimate: %" PRIu64 " of %" PRIu64 " executions were followed, the span %s",
                   directive->kind == DIRECTIVE_PARALLEL ? "the span is" : "work and span are each",
                   model_difference(row->instances, row->light), row->instances, text);
      row->note = names_own(names, xstrdup(note));
      continue;
    }
    construct_error_text(sums[i].error_squares, sums[i].own_body, text);
    words_append(note, NOTE_MAX,
                 "work, span and lock bound are estimates: %" PRIu64 " of %" PRIu64
                 " executions were followed; their errors are about that of the time in the body: %s; its share of the "
                 "critical path is a lower bound",
                 model_difference(sums[i].count, sums[i].light), sums[i].count, text);
    row->note = names_own(names, xstrdup(note));
  }
  free(sums);
}

/* Sets row_of to the rows in their order. */
static void number_rows(uint32_t directives, struct workspan *result)
{
  uint32_t *row = xcalloc(directives, sizeof *row); /* [first of the copies] */
  for (uint32_t i = 0; i < result->count; i++)
    row[result->rows[i].directive] = i;
  for (uint32_t i = 0; i < directives; i++)
    result->row_of[i] = row[result->row_of[i]];
  free(row);
}

void workspan_compute(const struct profile *profile, struct names *names, const struct tree *tree,
                      const struct workspan_scenario *scenario, struct workspan *result)
{
  const struct profile_workspan *workspan = &profile->workspan;
  bool recorded = scenario && scenario->shares;
  *result = (struct workspan){.work = workspan->work,
                              .span = workspan->span,
                              .shares = recorded ? scenario->shares : profile->contexts.shares,
                              .shares_count = recorded ? scenario->shares_count : profile->contexts.shares_count};
  if (!workspan->known)
    return;
  result->rows = xcalloc(workspan->directives_count, sizeof *result->rows);
  result->row_of = xcalloc(workspan->directives_count, sizeof *result->row_of);
  result->span = add_shares(result, scenario ? scenario->factors : NULL);
  for (; result->count < workspan->directives_count; result->count++) {
    result->rows[result->count].directive = result->row_of[result->count] = result->count;
    fill_row(profile, names, tree, scenario, result->span, &result->rows[result->count]);
  }
  count_executions(profile, result);
  note_single_iterations(names, result);
  note_estimates(profile, names, result);
  join_copies(profile, names, result);
  qsort(result->rows, result->count, sizeof *result->rows, by_rank);
  number_rows(workspan->directives_count, result);
}

void workspan_find_top(const uint32_t *row_of, uint32_t rows, struct workspan *result)
{
  assert(row_of);
  uint64_t *amounts = xcalloc(rows, sizeof *amounts);
  uint32_t top = 0;
  assert(!result->count || !result->rows[0].directive);
  for (uint32_t i = 1; i < result->count; i++)
    if (result->rows[i].critical > result->rows[top].critical)
      top = i;
  if (result->count)
    result->top = result->rows[top];
  for (uint32_t i = 0; i < result->shares_count && result->top.critical; i++) {
    const struct context_share *share = &result->shares[i];
    uint32_t row = share->context == MODEL_NONE ? MODEL_NONE : row_of[share->context];
    if (result->row_of[share->directive] != top || row == MODEL_NONE || row >= rows)
      continue;
    amounts[row] += share->amount;
    if (amounts[row] > amounts[result->top_context])
      result->top_context = row;
  }
  free(amounts);
}

void workspan_release(struct workspan *result)
{
  free(result->rows);
  free(result->row_of);
  *result = (struct workspan){0};
}
