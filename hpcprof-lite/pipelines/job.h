/* Everything that one invocation of hpcprof-lite holds, and the messages of its failures.
 *
 * Context: BATCH, the main thread.  main.c chooses a view; the view's pipeline (pipelines.h) takes the profile through
 * the stages and fills the report, which belongs to the job.  Functions that return an exit status have printed the
 * reason on standard error.
 */
#ifndef HPCPROF_LITE_PIPELINES_JOB_H
#define HPCPROF_LITE_PIPELINES_JOB_H

#include "hpcprof-lite/analysis/distribution.h"
#include "hpcprof-lite/analysis/grain_groups.h"
#include "hpcprof-lite/analysis/phases.h"
#include "hpcprof-lite/grains/grain_reference.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/invocation/options.h"
#include "hpcprof-lite/ranks/ranks.h"
#include "hpcprof-lite/replay/recorded_graph.h"
#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/timeline/timeline_source.h"
#include "hpcprof-lite/views/derived.h"
#include "hpcprof-lite/views/source/source_blocks.h"

enum exit_status { EXIT_FINE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_GATE = 3 };

struct job {
  struct options options;
  struct ranks ranks;
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct totals totals;
  struct tree tree, part, view; /* top-down; what lies below --root; derived from one of them */
  struct derived_links links;   /* from part or tree to view, where statistics need them */
  struct source_blocks source;  /* lines of the source view */
  struct construct_tree constructs, construct_list;
  uint32_t *row_of; /* [context] row of the tree; then of each directive, see topdown_critical_path() */
  bool *shown;      /* [row] of the tree that is shown */
  struct statistics statistics;
  uint64_t *thread_order;
  uint32_t *row_order;
  struct table table; /* of the view, where --sort or --columns name columns of it */
  uint32_t *chosen;   /* by --columns */
  struct distribution distribution;
  struct hotspot hot[HOTSPOTS_MAX];
  uint32_t hot_critical[HOTSPOTS_CRITICAL_MAX];
  struct unnamed_module unnamed[UNNAMED_MODULES_MAX];
  struct causes_finding idle[CAUSES_WORST], locks[CAUSES_WORST];
  struct workspan_scenario scenario; /* of --what-if, with factors of the parts of the span */
  double *factors;
  struct recorded_graph recorded;
  struct phases *phases; /* of each process that has any */
  struct phases_regions *phase_regions;
  uint32_t phases_count;
  bool phases_left_out;                    /* of some process, which is reported */
  struct run_marks marks;                  /* what the program has marked */
  struct timeline_source *timeline_source; /* what delivers the timeline */
  struct grain_stream *grain_stream;       /* what delivers the grains (grain_pipelines.c) */
  uint32_t *grain_contexts;                /* [directive] row of the top-down tree in which it was met, or MODEL_NONE */
  struct grain_reference grain_reference;
  struct grain_groups grain_groups;
  struct grain_curve grain_curve;
  struct grain_graph grain_graph;
  struct problems log_problems;      /* of the graph log */
  struct problems repeated_problems; /* the same, found again in a log that was read before */
  char *arguments;                   /* see struct report */
  char filtered[PROFILE_FILTERED_MAX];
  struct report report;
  enum exit_status status; /* unless a later step fails */
};

void job_release(struct job *job);

/* Sets the job's arguments, with which a command reports the same run. */
void job_set_arguments(struct job *job);

/* Returns the list for problems of the graph log that a view finds. */
struct problems *job_log_problems(struct job *job);

/* Prints one line on standard error; characters that are unsafe on a terminal are escaped. */
void job_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print the reason of a failure that ends the invocation; each returns the exit status. */
int job_different_ranks(void);
int job_different_runs(const char *one, const char *other);
int job_nothing_matches(const char *option, const char *text);

/* Finds the columns that --sort and --columns mean in the view's table; the word of --sort is replaced by the name.
 * Requires tree_begin().  Returns 0 or the exit status. */
int job_choose_columns(struct job *job, table_maker *make);

/* Sorts rows of the view's table, which are of that size, as --sort asks for. */
void job_sort(struct job *job, void *rows, size_t count, size_t size);

/* Sorts siblings in a tree, whose rows are those of the view's table, as --sort asks for; IDs stay. */
void job_sort_tree(struct job *job, struct tree *tree);

/* Completes the measurement directories of the command line: without any, takes the newest one.  `speaks`: this process
 * prints messages.  Returns 0, or the exit status if there is none, or if they hold different runs. */
int job_choose_directories(struct options *options, bool speaks);

/* Returns 0, or the exit status if efficiency would add up different runs without --merge: unlike other views, it may
 * compare a run with one on one thread. */
int job_check_efficiency(const struct job *job);

#endif
