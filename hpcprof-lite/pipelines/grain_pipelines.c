/* The pipelines of the views of grains.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#include "common/xalloc.h"
#include "hpcprof-lite/pipelines/pipelines.h"

#include "hpcprof-lite/analysis/grain_metrics.h"
#include "hpcprof-lite/pipelines/gather.h"
#include "hpcprof-lite/grains/grain_queue.h"
#include "hpcprof-lite/grains/grains.h"
#include "hpcprof-lite/grains/graph_builder.h"
#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/views/construct_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One pass over the grains of one process. */
struct pass {
  struct grain_stream *stream;
  const struct profile_process *process;
  struct grain_limits limits;
  uint32_t counters[COUNTERS_MAX]; /* [counter of the process] that of the run */
  uint32_t *directives;            /* [directive of the process] row of the parallelism view */
  char prefix[32];                 /* of paths; "" if there is one process */
  uint64_t key;                    /* of the process, in hashes of paths */
  uint64_t fragments_done;
  uint64_t first_id, done, all, target; /* execution so far, of all grains, and as it is shown */
};

struct grain_stream {
  struct job *job;
  bool has_reference, without_paths;
  table_take *take;
  void *to;
  uint64_t ids;                  /* of the grains of the processes that are done */
  struct graph_builder *builder; /* of the graph; NULL: only rows are wanted */
  const char *root;              /* the graph's */
};

/* ---- processes ---- */

static void find_directives(struct pass *pass)
{
  assert(pass->process->directive_map && !pass->directives);
  const struct profile_process *process = pass->process;
  pass->directives = xcalloc(process->workspan.directives_count, sizeof *pass->directives);
  for (uint32_t i = 1; i < process->workspan.directives_count; i++)
    pass->directives[i] = pass->stream->job->report.spans.workspan.row_of[process->directive_map[i]];
}

/* Returns whether the process has grains in the unit of the run. */
static bool is_recorded(const struct profile *profile, const struct profile_process *process)
{
  struct problems ignored = {0}; /* found again when the log is read */
  struct log_reader *log = NULL;
  if (process->usable && process->workspan.known && !strcmp(process->workspan.unit, profile->workspan.unit) &&
      (!process->workspan.is_time || process->workspan.tick_ns > 0))
    log = log_reader_open(process->path, &ignored);
  bool recorded = log != NULL;
  log_reader_close(log);
  problems_release(&ignored);
  return recorded;
}

/* Returns how many processes of a profile have grains, and sets has_log[process], unless that is NULL. */
static uint32_t find_recorded(const struct profile *profile, bool *has_log)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    bool recorded = is_recorded(profile, &profile->processes[i]);
    count += recorded;
    if (has_log)
      has_log[i] = recorded;
  }
  return count;
}

/* Returns the number of a process among those of its run: its rank, or its position. */
static uint32_t process_number(const struct profile *profile, const struct profile_process *process)
{
  return process->rank >= 0 ? (uint32_t)process->rank : (uint32_t)(process - profile->processes);
}

/* ---- rows ---- */

/* Returns an execution as it is shown.  Each is the difference of two rounded sums, so that they add up to the work. */
static uint64_t shown_exec(const struct pass *pass, uint64_t *done, uint64_t exec)
{
  assert(pass->target || !exec);
  uint64_t all = pass->all ? pass->all : 1;
  unsigned __int128 before = (unsigned __int128)*done * pass->target + all / 2;
  *done += exec;
  unsigned __int128 after = (unsigned __int128)*done * pass->target + all / 2;
  return (uint64_t)(after / all) - (uint64_t)(before / all);
}

/* Returns an amount of work in ns, or as a count. */
static uint64_t amount(const struct pass *pass, uint64_t in_log)
{
  if (in_log == GRAIN_UNKNOWN || !pass->process->workspan.is_time)
    return in_log;
  return model_rounded((double)in_log * pass->process->workspan.tick_ns);
}

/* Returns a time in ns; where work is counted, times do not compare to it. */
static uint64_t time_ns(const struct pass *pass, uint64_t ticks)
{
  return pass->process->workspan.is_time ? amount(pass, ticks) : GRAIN_UNKNOWN;
}

static uint64_t path_key(const struct pass *pass, const struct grain *grain)
{
  return *pass->prefix ? hash_map_key(grain->path_hash, pass->key) : grain->path_hash;
}

/* Sets the counts of a row; those that the process does not have are not known. */
static void set_counts(const struct pass *pass, const uint64_t *counts, struct grain_row *row)
{
  for (uint32_t i = 0; i < COUNTERS_MAX; i++)
    row->counts[i] = GRAIN_UNKNOWN;
  for (uint32_t i = 0; counts && i < pass->process->constructs.counters.count; i++)
    if (pass->counters[i] < COUNTERS_MAX)
      row->counts[pass->counters[i]] = counts[i];
}

static int tell_row(void *context, const struct grain *grain)
{
  struct pass *pass = context;
  struct grain_stream *stream = pass->stream;
  bool waits =
      (grain->kind == GRAIN_TASK || grain->kind == GRAIN_CHUNK) && grain->sync_number && !grain->siblings.threads;
  struct grain_row row = {.grain = grain,
                          .prefix = pass->prefix,
                          .first_id = pass->first_id,
                          .directive = pass->directives[grain->row],
                          .creator = pass->directives[grain->creator_row],
                          .context = stream->job->grains.contexts[pass->directives[grain->row]],
                          .exec = shown_exec(pass, &pass->done, grain->exec),
                          .create = time_ns(pass, grain->create),
                          .chunk_overhead = time_ns(pass, grain->chunk_overhead),
                          .sync_overhead = waits ? time_ns(pass, grain->siblings.wait) : GRAIN_UNKNOWN,
                          .create_instant = amount(pass, grain->create_instant),
                          .sync_instant = amount(pass, grain->sync_instant),
                          .slack = amount(pass, grain->slack)};
  set_counts(pass, grain->counts, &row);
  uint64_t before = UINT64_MAX;
  if (stream->has_reference)
    before = grain_reference_next(&stream->job->grains.reference);
  grain_metrics_compute(&pass->limits, before == UINT64_MAX ? NAN : (double)before,
                        &stream->job->profile.constructs.counters, &row);
  return stream->take(stream->to, &row);
}

static void tell_event(void *context, const struct grain_event *event)
{
  struct pass *pass = context;
  struct grain_event shown = *event;
  if (event->kind == GRAIN_FRAGMENT)
    shown.amount = shown_exec(pass, &pass->fragments_done, event->amount);
  graph_builder_event(pass->stream->builder, &shown);
}

static int add_reference(void *context, const struct grain *grain)
{
  struct pass *pass = context;
  return grain_reference_add(&pass->stream->job->grains.reference, path_key(pass, grain), amount(pass, grain->exec));
}

static int want_reference(void *context, const struct grain *grain)
{
  struct pass *pass = context;
  return grain_reference_want(&pass->stream->job->grains.reference, path_key(pass, grain));
}

/* ---- passes ---- */

static int pass_grains(struct pass *pass, int (*each)(void *context, const struct grain *grain),
                       struct problems *problems)
{
  assert(each);
  const struct profile_workspan *workspan = &pass->process->workspan;
  struct grain_stream *stream = pass->stream;
  bool graph = stream->builder && each == tell_row;
  const char *root = graph ? stream->root : NULL;
  size_t prefix = root ? strlen(pass->prefix) : 0;
  struct grains *grains;
  int status = grains_open(pass->process, problems, &grains);
  if (status || !grains)
    goto out;
  const struct grains_totals *totals = grains_totals(grains);
  pass->all = pass->target = totals->work;
  if (workspan->is_time)
    pass->target = totals->differs ? amount(pass, pass->all) : workspan->work;
  if (!root || !strncmp(root, pass->prefix, prefix))
    status = grains_each(grains, &(struct grains_visitor){.grain = each,
                                                          .event = graph ? tell_event : NULL,
                                                          .root = root ? root + prefix : NULL,
                                                          .without_paths = !graph && stream->without_paths,
                                                          .context = pass});
  if (graph)
    graph_builder_process(stream->builder);
  stream->ids += totals->last_id;
  stream->job->report.log_differs |= totals->differs;
  stream->job->grains.curve = totals->curve;
out:
  grains_close(grains);
  return status;
}

/* Passes the grains of all processes of a profile. */
static int pass_all(struct grain_stream *stream, const struct profile *profile,
                    int (*each)(void *context, const struct grain *grain), struct problems *problems)
{
  bool *has_log = xcalloc(profile->processes_count, sizeof *has_log);
  uint32_t recorded = find_recorded(profile, has_log);
  int status = 0;
  stream->ids = 0;
  for (uint32_t i = 0; i < profile->processes_count && !status; i++) {
    struct pass pass = {.stream = stream, .process = &profile->processes[i], .first_id = stream->ids};
    if (!has_log[i])
      continue;
    pass.limits = grain_limits_of(&stream->job->options.grains.limits, pass.process);
    for (uint32_t k = 0; k < pass.process->constructs.counters.count; k++)
      pass.counters[k] = counter_names_find(&profile->constructs.counters, pass.process->constructs.counters.names[k]);
    pass.key = process_number(profile, pass.process) + 1;
    if (recorded > 1)
      snprintf(pass.prefix, sizeof pass.prefix, "%" PRIu64 ":", pass.key - 1);
    if (profile == &stream->job->profile)
      find_directives(&pass);
    status = pass_grains(&pass, each, problems);
    free(pass.directives);
  }
  free(has_log);
  return status;
}

/* ---- the reference run ---- */

static int read_reference(struct grain_stream *stream, struct job *other)
{
  struct job *job = stream->job;
  char *directory = (char *)job->options.grains.reference;
  int status = gather_beside(job, &directory, other);
  if (status)
    return status;
  if (!find_recorded(&other->profile, NULL) || strcmp(other->profile.workspan.unit, job->profile.workspan.unit)) {
    job_print_error("cannot use '--reference %s': it has no graph log in the unit of this run", directory);
    return EXIT_INPUT;
  }
  struct grain_reference *reference = &job->grains.reference;
  struct problems *problems = &job->log_problems, again = {0}; /* again: the pass that follows finds them, too */
  stream->without_paths = true;
  grain_reference_init(reference, problems);
  int failed = pass_all(stream, &other->profile, add_reference, problems);
  if (!failed)
    failed = pass_all(stream, &job->profile, want_reference, &again);
  if (!failed)
    failed = grain_reference_join(reference);
  if (failed)
    problems_append(problems, &again);
  else if (reference->missing && !job->options.quiet)
    job_print_error("%s: grains that this run does not have: %" PRIu64 " of %" PRIu64, directory, reference->missing,
                    reference->wanted_count);
  problems_release(&again);
  return failed ? EXIT_INPUT : 0;
}

static int prepare_reference(struct grain_stream *stream)
{
  struct job other = {0};
  int status = read_reference(stream, &other);
  job_release(&other);
  stream->has_reference = !status;
  return status;
}

/* ---- the pipeline ---- */

enum { SEVERAL_CONTEXTS = MODEL_NONE - 1 };

/* Finds the rows of the top-down tree in which constructs were met, as far as each was met in one. */
static void find_contexts(struct job *job)
{
  assert(!job->grains.contexts && job->row_of);
  uint32_t count = job->profile.workspan.directives_count;
  job->grains.contexts = xmalloc(((size_t)count + 1) * sizeof *job->grains.contexts);
  construct_rows(&job->profile, &job->names, &job->tree, job->row_of, &job->constructs);
  for (uint32_t i = 0; i <= count; i++)
    job->grains.contexts[i] = MODEL_NONE;
  for (uint32_t i = 1; i < job->constructs.count; i++) {
    const struct construct_entry *entry = &job->constructs.entries[i];
    if (!entry->directive || entry->directive >= count || entry->context == MODEL_NONE)
      continue;
    uint32_t *context = &job->grains.contexts[job->report.spans.workspan.row_of[entry->directive]];
    if (*context == MODEL_NONE)
      *context = entry->context;
    else if (*context != entry->context)
      *context = SEVERAL_CONTEXTS;
  }
  for (uint32_t i = 0; i <= count; i++)
    if (job->grains.contexts[i] == SEVERAL_CONTEXTS)
      job->grains.contexts[i] = MODEL_NONE;
}

static int each_row(void *context, table_take *take, void *to)
{
  struct grain_stream *stream = context;
  stream->take = take;
  stream->to = to;
  stream->without_paths = stream->job->report.grains.groups;
  return pass_all(stream, &stream->job->profile, tell_row, job_log_problems(stream->job));
}

/* The same; with several threads, one reads the grains and one prints them. */
static int each_row_queued(void *context, table_take *take, void *to)
{
  struct grain_stream *stream = context;
  const struct options *options = &stream->job->options;
  if (options->threads < 2)
    return each_row(context, take, to);
  struct grain_queue queue;
  int error = grain_queue_begin(&queue, take, to);
  if (error) {
    if (!options->quiet)
      job_print_error(
          "cannot create a thread that prints grains: %s: the main thread prints them while it reads; allow "
          "more processes (ulimit -u), or use -j 1",
          strerror(error));
    return each_row(context, take, to);
  }
  int status = each_row(context, grain_queue_put, &queue);
  int printed = grain_queue_end(&queue);
  return status ? status : printed;
}

static int add_to_graph(void *context, const void *row)
{
  return graph_builder_grain(context, row);
}

static int add_to_groups(void *context, const void *row)
{
  grain_groups_add(context, row);
  return 0;
}

/* Prepares a pass over all grains.  *count: the number of processes that have grains. */
static int prepare(struct job *job, uint32_t *count)
{
  assert(!job->grains.stream);
  const struct options *options = &job->options;
  *count = 0;
  if (!job->profile.workspan.known)
    return 0;
  *count = find_recorded(&job->profile, NULL);
  if (!*count) {
    job_print_error("%s: there is no graph log: run 'hpcrun-lite -p log' for the grains",
                    options->input.directories[0]);
    return EXIT_INPUT;
  }
  job->grains.stream = xcalloc(1, sizeof *job->grains.stream);
  job->grains.stream->job = job;
  workspan_compute(&job->profile, &job->names, &job->tree, NULL, &job->report.spans.workspan);
  find_contexts(job);
  if (!options->grains.reference)
    return 0;
  return prepare_reference(job->grains.stream);
}

/* Whether groups of grains are shown. */
static bool shows_groups(const struct options *options)
{
  return options->grains.groups || options->format == OPTIONS_TEXT;
}

table_maker *grains_pipeline_maker(const struct options *options)
{
  return shows_groups(options) ? grain_groups_table : grains_table;
}

int grains_pipeline(struct job *job)
{
  const struct options *options = &job->options;
  uint32_t count;
  int status = prepare(job, &count);
  if (!count)
    return status;
  job->report.grains.rows = (struct grain_source){each_row_queued, job->grains.stream};
  if (status || !shows_groups(options))
    return status;
  job->report.grains.groups = &job->grains.groups;
  status = each_row(job->grains.stream, add_to_groups, &job->grains.groups);
  grain_groups_finish(&job->grains.groups);
  job->report.grains.curve = count == 1 ? &job->grains.curve : NULL;
  return status ? EXIT_INPUT : 0;
}

/* Whether work and span were wanted of a process that ended, but no OpenMP runtime reported events. */
static bool has_no_events(const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable && !process->unfinished && process->flags & PROCESS_ONLINE && !process->workspan.known)
      return true;
  }
  return false;
}

/* Graph files of a run without grains: empty, if no OpenMP was seen in it. */
static int without_grains(struct job *job)
{
  if (notes_cut(&job->report)) {
    job_print_error("there are no tasks and chunks to draw: a process was killed, or still runs, and its work and "
                    "span are not known");
    return EXIT_INPUT;
  }
  if (has_no_events(&job->profile)) {
    job_print_error("the graph is empty: no OpenMP runtime reported its events");
    return 0;
  }
  job_print_error("there are no tasks and chunks to draw: record them with 'hpcrun-lite -p log'");
  return EXIT_INPUT;
}

int grain_graph_pipeline(struct job *job)
{
  const struct options *options = &job->options;
  uint32_t count;
  int status = prepare(job, &count);
  if (!status && !count && (options->format == OPTIONS_DOT || options->format == OPTIONS_GRAPHML))
    return without_grains(job);
  if (!count || status)
    return status;
  struct grain_stream *stream = job->grains.stream;
  stream->root = options->root.text;
  stream->builder = graph_builder_new(options->grains.max_nodes, options->grains.unreduced, options->grains.colour);
  status = each_row(stream, add_to_graph, stream->builder);
  if (graph_builder_full(stream->builder))
    job_print_error("the unreduced graph has more than %d nodes: choose a part with --root",
                    GRAPH_BUILDER_UNREDUCED_MAX);
  if (!status)
    graph_builder_end(stream->builder, &job->grains.graph);
  graph_builder_free(stream->builder);
  stream->builder = NULL;
  job->report.grains.graph = &job->grains.graph;
  if (!status && !job->grains.graph.nodes_count && options->root.text) {
    job_print_error("nothing matches '--root %s': see the paths of --view grains -f csv", options->root.text);
    return EXIT_USAGE;
  }
  return status ? EXIT_INPUT : 0;
}
