/* A grain: an instance of a task, a chunk of a loop or taskloop, or what an implicit or initial task runs outside
 * chunks; and what happens in its execution.  grains/grains.h delivers them, doc/grains.md defines them.
 *
 * Context: BATCH.  Amounts are in the unit of the graph log (ticks, or what is counted); clocks are logical and count
 * from the start of the program.
 */
#ifndef HPCPROF_LITE_MODEL_GRAIN_H
#define HPCPROF_LITE_MODEL_GRAIN_H

#include "common/counters.h"

#include <stdbool.h>
#include <stdint.h>

/* An amount, instant or number that is not known. */
#define GRAIN_UNKNOWN UINT64_MAX

enum { GRAIN_NO_CPU = UINT32_MAX };

enum grain_kind { GRAIN_INITIAL, GRAIN_IMPLICIT, GRAIN_TASK, GRAIN_CHUNK, GRAIN_KINDS };

/* The grains that are joined by one synchronisation of their parent (siblings). */
struct grain_siblings {
  uint64_t count;
  uint64_t exec, longest; /* sum and maximum of their execution */
  uint64_t wait;          /* ticks that the parent waited there and ran nothing else */
  uint32_t threads;       /* of a loop: threads that took part, else 0; then exec and longest are of threads, */
  uint64_t chunks;        /* and these are the chunks of this grain's thread */
  double scatter;         /* median distance between the CPUs of two siblings; negative: not known */
};

struct grain {
  uint64_t id;     /* from 1, in the order of creation in this run */
  uint64_t parent; /* id, 0: none.  A task created inside a chunk is the chunk's child */
  enum grain_kind kind;
  const char *path;      /* the same in every run; valid during the call */
  uint64_t path_hash;    /* of the whole path, also where `path` shortens it */
  uint64_t child_number; /* among the parent's, from 1 */
  uint64_t sync_grain;   /* the grain that joins it, mostly the parent; 0: none */
  uint64_t sync_number;  /* of its synchronisations, from 1; 0: none */
  uint64_t sync_instant; /* what that grain had executed then, or GRAIN_UNKNOWN */
  uint32_t row;          /* directive of the process (profile_workspan.directives); 0: the program */
  uint32_t creator_row;  /* innermost construct in which it was created; 0: the program */
  uint32_t thread;       /* on which it ran first */
  uint32_t cpu;          /* of its first fragment, or GRAIN_NO_CPU */
  uint32_t node;         /* NUMA node of the first CPU, or GRAIN_NO_CPU */
  uint64_t exec;
  uint64_t create;         /* ticks that its creation took, or GRAIN_UNKNOWN */
  uint64_t chunk_overhead; /* of a thread's first chunk: ticks between the start of the loop and its own */
  uint64_t create_instant; /* what the parent had executed when it created the grain */
  uint64_t first, last;    /* iterations of a chunk, or GRAIN_UNKNOWN */
  uint64_t parallelism;    /* minimum over its fragments of what can run at the same time; GRAIN_UNKNOWN: did nothing */
  bool critical;           /* on the critical path */
  uint64_t slack;          /* span - longest path through it; GRAIN_UNKNOWN: did nothing */
  struct grain_siblings siblings;
  const uint64_t *counts; /* events, by counter of the process; valid during the call; NULL: not known */
};

/* Parallelism over the span, on any number of cores: of each slot how many pieces of grains touch it, and how many
 * cover it. */
enum { GRAIN_CURVE_SLOTS = 60 };

struct grain_curve {
  uint64_t touching[GRAIN_CURVE_SLOTS], covering[GRAIN_CURVE_SLOTS];
};

/* What happens in the execution of a grain, delivered backwards.  Fragments, forks and joins of all
 * grains are the graph of the run: its longest path is the span. */
enum grain_event_kind {
  GRAIN_FRAGMENT, /* runs: amount, from clock `begin` to `end` */
  GRAIN_FORK, /* `other` begins: a grain that it has created here; `number` 1: a chunk of the loop that it is in, which
                 runs after what precedes GRAIN_LOOP only */
  GRAIN_LOOP, /* a worksharing loop begins */
  GRAIN_SYNC, /* its synchronisation `number`: the grains with this sync_grain and sync_number end before it */
  GRAIN_BARRIER, /* the same, and `other` names the barrier: it joins all grains that have an event with that name */
  GRAIN_OFFER,   /* dependence: what takes the join `other` later runs after this point */
  GRAIN_TAKE,    /* dependence: what was offered to the join `other` before runs before this point */
  GRAIN_END,     /* its end, its first event: the synchronisation `number` of the grain `other` (0: none) joins it; if
                    its creator waits for it alone, a second one corrects that */
};

struct grain_event {
  enum grain_event_kind kind;
  uint64_t grain, other, number;
  uint32_t sync;               /* of a synchronisation and the end of what it joins: names it, until that name is given
                                  again; 0: grain and number do, and the two are near to each other */
  uint64_t amount, begin, end; /* of a fragment */
  uint32_t thread, cpu;        /* of a fragment */
  bool critical;               /* of a fragment */
};

/* Figures derived from the properties of a grain (analysis/grain_metrics.h). */
enum grain_metric {
  GRAIN_PARALLEL_BENEFIT,
  GRAIN_PARALLELISM,
  GRAIN_SCATTER,
  GRAIN_MEMORY,
  GRAIN_DEVIATION,
  GRAIN_BALANCE,
  GRAIN_METRICS
};

/* The names of the metrics, as options and columns have them. */
extern const char *const grain_metric_names[GRAIN_METRICS + 1]; /* ends in NULL */

/* The names of the kinds of grains, as columns have them. */
extern const char *const grain_kind_names[GRAIN_KINDS];

/* "load_balance scatter": the names of problems, which are bits 1 << enum grain_metric. */
enum { GRAIN_PROBLEM_NAMES = 256 };
void grain_problem_names(uint32_t problems, char names[GRAIN_PROBLEM_NAMES]);

/* The figures of a metric that are a problem: those beyond a limit. */
struct grain_limits {
  double limit[GRAIN_METRICS]; /* NAN: the metric's default */
};

/* Returns limits that are all defaults. */
struct grain_limits grain_limits_default(void);

/* Sets a limit from NAME=VALUE.  Returns whether the text names a metric and a number from 0. */
bool grain_limits_parse(const char *text, struct grain_limits *limits);

/* A grain with everything that a row of the grains view shows.  Times are in ns, or what is counted; GRAIN_UNKNOWN
 * where they are not known. */
struct grain_row {
  const struct grain *grain;
  const char *prefix; /* names the process where there are several; stands before the path */
  uint64_t first_id;  /* number of the grains of earlier processes */
  uint32_t directive; /* row of the parallelism view */
  uint32_t creator;   /* likewise, of the construct in which it was created */
  uint32_t context;   /* row of the top-down view that created it, MODEL_NONE: not known */
  uint64_t exec, create, chunk_overhead, sync_overhead, create_instant, sync_instant, slack;
  uint64_t counts[COUNTERS_MAX]; /* events, by counter of the run; GRAIN_UNKNOWN: not known */
  double metric[GRAIN_METRICS];  /* NAN: not known */
  uint32_t problems;             /* bits: 1 << enum grain_metric */
};

/* ---- the graph of grains as it is drawn ----
 *
 * grains/graph_builder.h makes it, report/exports write it.  Nodes are numbered from 0 in an order in which every edge
 * leads to a higher number.  Amounts are in ns, or counts.  The structure owns its memory. */

enum grain_node_kind {
  GRAIN_NODE_GRAIN,
  GRAIN_NODE_FORK,
  GRAIN_NODE_JOIN,
  GRAIN_NODE_BOOKKEEPING, /* hands out the chunks of a loop to a thread */
  GRAIN_NODE_FRAGMENT,    /* a part of a grain */
  GRAIN_NODE_KINDS
};

enum grain_edge_kind { GRAIN_EDGE_CREATION, GRAIN_EDGE_JOIN, GRAIN_EDGE_CONTINUATION, GRAIN_EDGE_DEPENDENCE };

/* A node, or several that were folded into one.  Sums are over all of them. */
struct grain_node {
  enum grain_node_kind kind;
  struct grain grain;   /* of a grain or fragment; of several grains one of them.  path: owned, NULL: none */
  struct grain_row row; /* the same; directive is that of forks, too, creator that in which a grain was created */
  uint64_t grains, forks, joins;
  uint64_t exec, critical_exec; /* critical_exec: on the critical path */
  uint64_t longest;             /* longest execution of a grain */
  uint64_t create, overhead;    /* of the grains for which they are known */
  uint64_t created, overheads;  /* how many those are */
  uint64_t problem_grains;      /* how many of the grains have a problem */
  uint32_t problems;            /* which ones, as the caller numbers them */
  double metric;                /* by which the node is coloured: the grains' mean, NaN: not known */
  uint64_t metric_exec;         /* execution of the grains for which it is known */
  bool critical;                /* on the critical path */
};

struct grain_edge {
  uint32_t from, to;
  enum grain_edge_kind kind;
  uint64_t count; /* edges folded into this one */
  bool critical;
};

struct grain_graph {
  struct grain_node *nodes;
  struct grain_edge *edges;
  uint32_t nodes_count, edges_count;
  uint64_t exec;    /* of all nodes */
  uint64_t longest; /* path: of the nodes' exec */
  uint64_t folded;  /* nodes that were folded into others */
  uint64_t lost;    /* synchronisations and dependences of which only one end is known */
};

void grain_graph_release(struct grain_graph *graph);

#endif
