/* Maps the nodes of a file's threads to merged contexts, where the trees of threads become full calling contexts.
 *
 * Context: BATCH.  The tree of a worker thread belongs below the context that created its parallel region, which is a
 * node in the tree of another thread.  A LINK names that node; a PLACEHOLDER names the region, whose record names the
 * node.  Links may lead through several threads, whose nodes are loaded when a link leads there.
 *
 * A map belongs to its caller and to one thread at a time.  All input is hostile: every index is checked.  Nodes whose
 * parent or link is invalid, or whose links form a cycle, are mapped to a PARTIAL context; faults are counted for each
 * thread, and reported by the map that owns it.
 */
#ifndef HPCPROF_LITE_MERGE_NODE_MAP_H
#define HPCPROF_LITE_MERGE_NODE_MAP_H

#include "hpcprof-lite/input/generated_code.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/contexts.h"
#include "hpcprof-lite/model/profile.h"

enum node_map_fault {
  NODE_MAP_FAULT_PARENT,
  NODE_MAP_FAULT_CYCLE,
  NODE_MAP_FAULT_LINK,
  NODE_MAP_FAULT_REGION,
  NODE_MAP_FAULT_MODULE,
  NODE_MAP_FAULT_VALUE,
  NODE_MAP_FAULT_SHARE,
  NODE_MAP_FAULT_WAIT,
  NODE_MAP_FAULT_CONSTRUCT,
  NODE_MAP_FAULT_COUNT,
  NODE_MAP_FAULT_LOCK,
  NODE_MAP_FAULT_MPI,
  NODE_MAP_FAULT_ROOT,
  NODE_MAP_FAULTS
};

/* A node of a thread's tree. */
struct node_id {
  uint32_t thread, node; /* thread: position in process->threads */
};

struct node_map_thread {
  struct read_node *nodes; /* NULL unless loaded */
  uint32_t *merged;        /* NULL before the first load; complete once all nodes have been resolved */
  uint32_t count;
};

struct node_map {
  struct read_file *file; /* this and the following: the caller's */
  struct profile_process *process;
  struct catalog *catalog;
  struct contexts *contexts;
  struct problems *problems;
  bool only_find;                   /* contexts are only looked up                                         */
  uint32_t first, end;              /* positions of the threads whose faults this map reports              */
  struct node_map_thread *threads;  /* [position]                                                          */
  uint32_t *modules;                /* the file's number → the catalog's                                   */
  struct generated_code *generated; /* names of generated code, NULL: none                                 */
  uint32_t unknown;                 /* module of frames whose module is invalid, MODEL_NONE if not used    */
  struct problems ignored;          /* problems while contexts are looked up: the first reading named them */
  uint32_t last;                    /* the merged context that was found last                              */
  struct node_id *stack;
  size_t stack_count, stack_room;
  size_t nodes_total;
  uint64_t faults[NODE_MAP_FAULTS];
  uint32_t fault_first[NODE_MAP_FAULTS];
};

/* Adds the file's modules to the catalog.  node_map_release() afterwards. */
void node_map_init(struct node_map *map);

/* Prepares for the threads of the process.  A copy of a map without threads may have threads of its own, for
 * node_map_release_threads(). */
void node_map_init_threads(struct node_map *map);
void node_map_release_threads(struct node_map *map);
void node_map_release(struct node_map *map);

/* Returns whether this map reports what is wrong with a thread, which other maps find as well if they link to it. */
bool node_map_owns(const struct node_map *map, uint32_t position);
void node_map_fault(struct node_map *map, enum node_map_fault which, struct node_id id);

/* Reports the faults that were counted since the last call. */
void node_map_report(struct node_map *map, uint32_t position);

/* Loads a thread's nodes, unless they have been loaded before, and finds the contexts of all of them, which stay when
 * the nodes are unloaded. */
void node_map_resolve_thread(struct node_map *map, uint32_t position);
void node_map_unload(struct node_map *map, uint32_t position);

/* Returns the context of one node of a thread, MODEL_NONE if the node does not exist. */
uint32_t node_map_find(struct node_map *map, uint32_t position, uint32_t node);

/* Returns the context of a node, 0 for the root; MODEL_NONE if the node does not exist or has not been resolved. */
uint32_t node_map_context(const struct node_map *map, uint32_t position, uint32_t node);

#endif
