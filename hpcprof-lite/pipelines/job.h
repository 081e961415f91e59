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
#include "hpcprof-lite/messages/wait_state_rows.h"
#include "hpcprof-lite/timeline/mpi_events.h"
#include "hpcprof-lite/timeline/timeline_source.h"
#include "hpcprof-lite/views/derived.h"
#include "hpcprof-lite/views/lock_rows.h"
#include "hpcprof-lite/views/device_rows.h"
#include "hpcprof-lite/views/mpi_rows.h"
#include "hpcprof-lite/views/rank_rows.h"
#include "hpcprof-lite/views/source/source_blocks.h"

enum exit_status { EXIT_FINE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_GATE = 3 };

/* What tree_pipeline makes of the top-down tree. */
struct job_trees {
  struct tree part, derived;  /* what lies below --root; derived from it or from the top-down tree */
  struct derived_links links; /* from one of these to derived, where statistics need them */
  struct source_blocks source;
  struct statistics statistics;
};

/* The rows of views that show elements of an array, in order; see struct report_list. */
struct job_lists {
  uint64_t *threads;
  uint32_t *rows;
  struct distribution distribution;
  struct lock_rows locks, pools;
  struct rank_rows ranks;
  struct mpi_rows mpi;
  struct device_rows devices;
};

/* What the graph logs of all ranks have of MPI. */
struct job_mpi {
  struct job_messages messages;
  struct wait_state_rows wait_states;
};

/* The columns that --sort and --columns name. */
struct job_choice {
  struct table table; /* of the view, if one of these is given */
  uint32_t *columns;  /* by --columns */
};

/* What the views of work and span read of the graph log. */
struct job_spans {
  struct workspan_scenario scenario; /* of --what-if, with factors of the parts of the span */
  double *factors;
  struct recorded_graph recorded;
};

/* What the views on the axis of time have open. */
struct job_time {
  struct phases *phases; /* of each process that has any */
  struct phases_regions *regions;
  uint32_t phases_count;
  bool phases_left_out;           /* of some process, which is reported */
  struct run_marks marks;         /* what the program has marked */
  struct timeline_source *source; /* what delivers the timeline */
  struct mpi_events *mpi;         /* what exports show of MPI */
};

/* What the views of grains have open, and their results. */
struct job_grains {
  struct grain_stream *stream; /* what delivers the grains (grain_pipelines.c) */
  uint32_t *contexts;          /* [directive] row of the top-down tree in which it was met, or MODEL_NONE */
  struct grain_reference reference;
  struct grain_groups groups;
  struct grain_curve curve;
  struct grain_graph graph;
};

/* What hpcrun-lite --try left beside the measurement. */
struct job_trial {
  struct trial record;
  struct trial_figures figures;
};

struct job {
  struct options options;
  struct ranks ranks;
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct totals totals;
  struct tree tree; /* top-down */
  uint32_t *row_of; /* [context] row of the tree; then of each directive, see topdown_critical_path() */
  struct construct_tree constructs, construct_list;
  bool *shown; /* [row] of the tree that is shown */
  struct job_choice choice;
  struct job_trees trees;
  struct job_lists lists;
  struct job_mpi mpi;
  struct job_spans spans;
  struct job_time time;
  struct job_grains grains;
  struct job_trial trial;
  struct problems log_problems;      /* of the graph log */
  struct problems repeated_problems; /* the same, found again in a log that was read before */
  char *arguments;                   /* see struct report_command */
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

/* Returns --percent-limit, or what is the default in the format. */
double job_percent_limit(const struct job *job);

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
