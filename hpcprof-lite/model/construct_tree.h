/* Constructs as reports show them: with their names and places, figures for each thread, and what could be gained.
 *
 * Context: BATCH.  views/construct_rows.h makes the tree, and a flat list of the same structure; reports only read.
 * Strings belong to struct names.  The structure owns its arrays.
 */
#ifndef HPCPROF_LITE_MODEL_CONSTRUCT_TREE_H
#define HPCPROF_LITE_MODEL_CONSTRUCT_TREE_H

#include "hpcprof-lite/model/profile.h"

struct construct_entry {
  uint32_t parent, end;     /* end: the entry after its last descendant; of a flat list, the next one */
  uint32_t depth, id;       /* id: number in the complete tree, in its default order */
  uint32_t region;          /* number of the construct, the same wherever it stands; 0: the program */
  uint32_t kind, directive; /* directive: the first one that is a copy of the same code; 0: not known */
  const char *name, *file;  /* file: "" if not known */
  uint32_t line;
  uint32_t context;            /* id of a row of the top-down tree, MODEL_NONE if not known */
  const char *note;            /* limits of the figures, or "" */
  struct construct_row *lines; /* by thread; parts of construct_tree.lines */
  uint32_t lines_count;
  struct construct_figures sum; /* over the threads */
  uint32_t threads;             /* of the team in which it was executed */
  uint64_t gain_ns;             /* its lost time / threads */
};

/* A row of a report about a construct: what it is in one thread, or in all. */
struct construct_line {
  const struct construct_entry *entry;
  const struct construct_row *row; /* NULL: the sum over the threads */
};

static inline const struct construct_figures *construct_line_figures(const struct construct_line *line)
{
  return line->row ? &line->row->figures : &line->entry->sum;
}

/* A thread that has figures. */
struct construct_thread {
  uint32_t process, thread; /* positions */
  uint32_t number;          /* as reports show it: its index, or with several processes its place among all threads */
};

struct construct_tree {
  struct construct_entry *entries; /* [0]: what is outside all constructs; then depth-first */
  uint32_t count;                  /* 0: not measured */
  uint32_t *entry_of;              /* [node of the run's constructs]; NULL in a flat list */
  struct construct_row *lines;     /* their threads are numbers in `threads` */
  struct construct_counts *counts; /* of sums, and of lines; NULL: none */
  struct construct_thread *threads;
  uint32_t threads_count;
  bool several;    /* processes */
  uint32_t unseen; /* what their runtimes do not report: enum workspan_unseen */
};

/* The figures of a construct as columns of a report. */
enum construct_column {
  CONSTRUCT_EXEC,
  CONSTRUCT_COUNT,
  CONSTRUCT_BODY,
  CONSTRUCT_ENTER,
  CONSTRUCT_EXIT,
  CONSTRUCT_EXIT_BARRIER,
  CONSTRUCT_STARTUP,
  CONSTRUCT_SHUTDOWN,
  CONSTRUCT_TASK,
  CONSTRUCT_SECTION,
  CONSTRUCT_SECTION_COUNT,
  CONSTRUCT_SINGLE,
  CONSTRUCT_SINGLE_COUNT,
  CONSTRUCT_COLUMNS
};

/* Whether a column is a count; all others are times in ns. */
bool construct_column_counts(enum construct_column column);

/* Sets *value to a figure of a thread, or of the sum, in its column; false if constructs of that kind have none, or it
 * is not known. */
bool construct_cell(const struct construct_entry *entry, const struct construct_figures *figures,
                    enum construct_column column, uint64_t *value);

/* Whether a kind creates a team of threads. */
bool construct_is_region(uint32_t kind);

/* Whether the body of a kind is a function of its own, which is called from the line of the directive. */
bool construct_is_outlined(uint32_t kind);

/* Whether entering a construct of the kind may mean to wait for a lock. */
bool construct_is_lock(uint32_t kind);

/* Sets team[position of a process] to the number of threads that executed a region at once, with everything below it:
 * those that took part, but no more than ever ran at once, unless its teams had more members.  seen: room for
 * threads_count bytes, which are overwritten. */
void construct_tree_team(const struct construct_tree *tree, const struct profile *profile, uint32_t region,
                         uint8_t *seen, uint32_t *team);

/* Returns the first outermost region from entry `from` on (which must not be inside one), or tree->count: the next one
 * is sought from its end on. */
uint32_t construct_tree_next_region(const struct construct_tree *tree, uint32_t from);

void construct_tree_release(struct construct_tree *tree);

#endif
