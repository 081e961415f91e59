#include "hpcprof-lite/grains/graph_builder.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/grains/graph_folding.h"
#include "hpcprof-lite/model/checks.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/model/object_pool.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  LIVE_MAX = 1 << 28,
  GENERATION = 1 << 18, /* joins of a table before the older ones are forgotten */
  TAKERS = 1 << 18,     /* of dependences that are remembered */
  EDGES_MAX = 4 << 20,  /* with more, no dependences are added */
  SPARE_NODES = 1 << 14 /* beyond the limit, before nodes are folded */
};

/* Keys of synchronisations and barriers in one table. */
enum { KEY_SYNC = 1, KEY_BARRIER };

/* Remembers at least the last GENERATION entries. */
struct recent {
  struct hash_map now, before;
};

/* Where a grain takes a dependence. */
struct taker {
  uint64_t join;
  uint32_t before;  /* the last one of the same join; 0: none */
  uint32_t follows; /* the node after that; 0: none */
  uint32_t grain;   /* the grain's own node, if it has done nothing before that */
  bool offered;     /* an offer was found */
};

/* A grain whose events are being read. */
struct live {
  uint64_t id;
  uint32_t head; /* the node that follows; 0: none yet */
  uint32_t end;  /* the node that joins the grain; 0: none */
  uint32_t fork; /* = head, while further creations belong to it */
  uint32_t held; /* the join that it has passed last, while grains that it joins may follow; 0: none */
  uint32_t loop; /* hands out the chunks of the loop that the grain is in; 0: none yet */
  uint32_t last; /* unreduced: the last fragment that was added */
  uint64_t critical_exec;
  uint32_t *offers, *takes; /* from the node before; takers that may be at its beginning */
  size_t offers_count, offers_room, takes_count, takes_room;
};

struct graph_builder {
  struct folding folding;
  struct object_table live; /* by the id of the grain */
  struct recent joins;      /* [key] nodes */
  uint32_t *join_of;        /* [name of a synchronisation] node */
  size_t join_of_room;
  struct taker *takers;     /* a ring, by number */
  uint32_t takers_count;    /* number of the last one */
  struct hash_map taker_of; /* [join] the last one of the join */
  uint32_t *siblings_of;    /* unreduced: [node] the fragment of the same grain that was added before */
  size_t siblings_room;
  uint64_t forked;   /* id of the grain that the next one is created by; 0: none */
  bool forked_chunk; /* it is a chunk of the loop that its creator is in */
  uint32_t most;
  uint64_t few;  /* nodes that need no folding yet */
  uint64_t lost; /* joins to which no waiting grain has come, dependences that were forgotten */
  bool unreduced;
  enum grain_metric metric;
};

static struct live *live_at(const struct graph_builder *builder, uint32_t number)
{
  return object_pool_at(&builder->live.pool, number);
}

static void forget_recent(struct recent *recent)
{
  hash_map_release(&recent->now);
  hash_map_release(&recent->before);
  *recent = (struct recent){0};
}

void graph_builder_process(struct graph_builder *builder)
{
  forget_recent(&builder->joins);
  if (builder->join_of_room)
    memset(builder->join_of, 0, builder->join_of_room * sizeof *builder->join_of);
  hash_map_release(&builder->taker_of);
  builder->takers_count = 0;
  for (uint32_t slot = 0; slot < builder->live.names.slots; slot++)
    if (builder->live.names.keys[slot]) { /* the log ends within it */
      free(live_at(builder, builder->live.names.numbers[slot])->offers);
      free(live_at(builder, builder->live.names.numbers[slot])->takes);
      object_pool_put(&builder->live.pool, builder->live.names.numbers[slot]);
    }
  hash_map_release(&builder->live.names);
}

void graph_builder_free(struct graph_builder *builder)
{
  if (!builder)
    return;
  graph_builder_process(builder);
  folding_release(&builder->folding);
  object_table_release(&builder->live);
  free(builder->takers);
  free(builder->siblings_of);
  free(builder->join_of);
  free(builder);
}

struct graph_builder *graph_builder_new(uint32_t most, bool unreduced, enum grain_metric metric)
{
  assert(most || unreduced);
  struct graph_builder *builder = xcalloc(1, sizeof *builder);
  builder->most = most;
  builder->few = 2 * (uint64_t)most + SPARE_NODES;
  builder->unreduced = unreduced;
  builder->metric = metric;
  builder->takers = xcalloc(TAKERS, sizeof *builder->takers);
  object_table_init(&builder->live, sizeof(struct live), LIVE_MAX);
  return builder;
}

/* ---- tables ---- */

static void remember(struct recent *recent, uint64_t key, uint32_t number)
{
  assert(number);
  if (recent->now.count >= GENERATION) {
    hash_map_release(&recent->before);
    recent->before = recent->now;
    recent->now = (struct hash_map){0};
  }
  hash_map_add(&recent->now, key, number);
}

static uint32_t recall(const struct recent *recent, uint64_t key)
{
  uint32_t found = hash_map_find(&recent->now, key);
  return found ? found : hash_map_find(&recent->before, key);
}

static uint64_t key_of(unsigned kind, uint64_t a, uint64_t b)
{
  return hash_map_key(hash_map_key(kind, a), b);
}

static struct live *live_of(struct graph_builder *builder, uint64_t id)
{
  assert(id);
  uint32_t number = hash_map_find(&builder->live.names, id);
  if (number)
    return live_at(builder, number);
  number = object_table_add(&builder->live, id);
  if (!number)
    xalloc_die();
  struct live *live = live_at(builder, number);
  live->id = id;
  return live;
}

/* ---- nodes ---- */

static uint32_t add_node(struct graph_builder *builder, enum grain_node_kind kind)
{
  uint32_t node = folding_node(&builder->folding, kind);
  struct grain_node *made = &builder->folding.nodes[node].node;
  made->forks = kind == GRAIN_NODE_FORK || kind == GRAIN_NODE_BOOKKEEPING;
  made->joins = kind == GRAIN_NODE_JOIN;
  return node;
}

/* The join that a synchronisation without a name is.  It may be made by a grain that it joins: then it is not folded
 * until the grain that waits has come to it. */
static uint32_t join_node(struct graph_builder *builder, uint64_t key, bool waits)
{
  assert(key);
  struct folding *folding = &builder->folding;
  uint32_t node = recall(&builder->joins, key);
  if (node && waits && !folding->nodes[node].node.joins) {
    builder->lost--;
    folding->nodes[node].fixed--;
    folding->nodes[node].node.joins = 1;
  }
  if (node)
    return node;
  node = add_node(builder, GRAIN_NODE_JOIN);
  remember(&builder->joins, key, node);
  folding->nodes[node].node.joins = waits;
  folding->nodes[node].fixed = !waits;
  builder->lost += !waits;
  return node;
}

/* Returns a taker, NULL if there is none of that number, or it is forgotten. */
static struct taker *taker_at(const struct graph_builder *builder, uint32_t number)
{
  return number && builder->takers_count - number < TAKERS ? &builder->takers[number % TAKERS] : NULL;
}

/* Edges from the node before an offer to all that has taken it. */
static void offer(struct graph_builder *builder, uint32_t node, uint32_t number)
{
  assert(node && node < builder->folding.nodes_count);
  struct folding *folding = &builder->folding;
  const struct taker *taker = taker_at(builder, number);
  bool room = taker && folding->edges_count < EDGES_MAX;
  for (; room && taker; taker = taker_at(builder, taker->before)) {
    uint32_t to = taker->grain ? taker->grain : taker->follows;
    to = to ? folding_find(folding, to) : 0;
    if (to != folding_find(folding, node))
      folding_edge(folding, node, to, GRAIN_EDGE_DEPENDENCE);
    room = folding->edges_count < EDGES_MAX;
  }
  builder->lost += !room;
}

/* No further edges lead to the join that the grain has passed last. */
static void release_join(struct graph_builder *builder, struct live *live)
{
  assert(!live->held || builder->folding.nodes[live->held].fixed);
  if (live->held)
    builder->folding.nodes[live->held].fixed--;
  live->held = 0;
}

/* What is created before belongs to another fork node. */
static void close_fork(struct graph_builder *builder, struct live *live)
{
  assert(!live->fork || builder->folding.nodes[live->fork].fixed);
  if (!live->fork)
    return;
  builder->folding.nodes[live->fork].fixed--;
  live->fork = 0;
  release_join(builder, live);
}

/* The node comes before all of the grain that is known. */
static void prepend(struct graph_builder *builder, struct live *live, uint32_t node)
{
  assert(node && node < builder->folding.nodes_count);
  enum grain_node_kind kind = builder->folding.nodes[node].node.kind;
  bool to_join = !live->head && live->end;
  close_fork(builder, live);
  if (kind != GRAIN_NODE_FORK)
    release_join(builder, live);
  folding_edge(&builder->folding, node, live->head ? live->head : live->end,
               to_join ? GRAIN_EDGE_JOIN : GRAIN_EDGE_CONTINUATION);
  for (size_t i = 0; i < live->offers_count; i++)
    offer(builder, node, live->offers[i]);
  live->offers_count = live->takes_count = 0;
  live->head = node;
  if (kind == GRAIN_NODE_JOIN) {
    builder->folding.nodes[node].fixed++;
    live->held = node;
  }
}

/* ---- events ---- */

static void on_fragment(struct graph_builder *builder, struct live *live, const struct grain_event *event)
{
  live->critical_exec += event->critical ? event->amount : 0;
  if (!builder->unreduced)
    return;
  uint32_t node = add_node(builder, GRAIN_NODE_FRAGMENT);
  xarray_reserve_zero(&builder->siblings_of, &builder->siblings_room, (size_t)node + 1, sizeof *builder->siblings_of);
  struct grain_node *made = &builder->folding.nodes[node].node;
  made->exec = event->amount;
  made->critical = event->critical;
  made->critical_exec = event->critical ? event->amount : 0;
  made->grain.thread = event->thread;
  made->grain.cpu = event->cpu;
  builder->siblings_of[node] = live->last;
  live->last = node;
  prepend(builder, live, node);
}

static void on_sync(struct graph_builder *builder, struct live *live, const struct grain_event *event)
{
  assert(event->kind == GRAIN_SYNC || event->kind == GRAIN_BARRIER);
  bool barrier = event->kind == GRAIN_BARRIER; /* its events of all grains are near to each other */
  uint32_t node;
  if (barrier)
    node = join_node(builder, key_of(KEY_BARRIER, event->other, 0), true);
  else if (!event->sync)
    node = join_node(builder, key_of(KEY_SYNC, live->id, event->number), true);
  else
    node = add_node(builder, GRAIN_NODE_JOIN);
  xarray_reserve_zero(&builder->join_of, &builder->join_of_room, (size_t)event->sync + 1, sizeof *builder->join_of);
  builder->join_of[event->sync] = event->sync ? node : 0;
  prepend(builder, live, node);
}

static void on_end(struct graph_builder *builder, struct live *live, const struct grain_event *event)
{
  if (!event->other)
    return;
  if (event->sync)
    live->end = event->sync < builder->join_of_room ? builder->join_of[event->sync] : 0;
  else
    live->end = join_node(builder, key_of(KEY_SYNC, event->other, event->number), false);
}

/* Adds a taker in place of the oldest one.  Returns its number. */
static uint32_t add_taker(struct graph_builder *builder, uint64_t join)
{
  uint32_t number = builder->takers_count + 1, before = hash_map_find(&builder->taker_of, join);
  struct taker *taker = &builder->takers[number % TAKERS];
  if (number > TAKERS) {
    builder->lost += !taker->offered;
    if (hash_map_find(&builder->taker_of, taker->join) == number - TAKERS)
      hash_map_remove(&builder->taker_of, taker->join);
  }
  if (before)
    hash_map_remove(&builder->taker_of, join);
  hash_map_add(&builder->taker_of, join, number);
  *taker = (struct taker){.join = join, .before = before};
  return builder->takers_count = number;
}

static void on_take(struct graph_builder *builder, struct live *live, const struct grain_event *event)
{
  uint32_t number = add_taker(builder, event->other);
  builder->takers[number % TAKERS].follows = live->head ? live->head : live->end;
  *XAPPEND(live->takes, live->takes_count, live->takes_room) = number;
  close_fork(builder, live);
}

static void on_offer(struct graph_builder *builder, struct live *live, const struct grain_event *event)
{
  uint32_t number = hash_map_find(&builder->taker_of, event->other);
  live->takes_count = 0; /* those are not at its beginning */
  close_fork(builder, live);
  if (!number)
    return;
  *XAPPEND(live->offers, live->offers_count, live->offers_room) = number;
  for (struct taker *taker = taker_at(builder, number); taker && !taker->offered;
       taker = taker_at(builder, taker->before))
    taker->offered = true;
}

static void on_loop(struct graph_builder *builder, struct live *live)
{
  uint32_t loop = live->loop;
  if (!loop)
    return;
  live->loop = 0;
  builder->folding.nodes[loop].fixed = 0;
  prepend(builder, live, loop);
}

void graph_builder_event(struct graph_builder *builder, const struct grain_event *event)
{
  assert(event->grain);
  struct live *live = live_of(builder, event->grain);
  switch (event->kind) {
  case GRAIN_FRAGMENT:
    on_fragment(builder, live, event);
    break;
  case GRAIN_FORK:
    builder->forked = event->grain;
    builder->forked_chunk = event->number;
    break;
  case GRAIN_LOOP:
    on_loop(builder, live);
    break;
  case GRAIN_SYNC:
  case GRAIN_BARRIER:
    on_sync(builder, live, event);
    break;
  case GRAIN_END:
    on_end(builder, live, event);
    break;
  case GRAIN_TAKE:
    on_take(builder, live, event);
    break;
  default:
    on_offer(builder, live, event);
  }
}

/* ---- grains ---- */

static void add_known(uint64_t amount, uint64_t *sum, uint64_t *count)
{
  if (amount == GRAIN_UNKNOWN)
    return;
  *sum += amount;
  ++*count;
}

/* The path of a grain, with its process where there are several. */
static char *path_of(const struct grain_row *row)
{
  assert(row->prefix && row->grain->path);
  size_t before = strlen(row->prefix), length = strlen(row->grain->path);
  char *path = xmalloc(before + length + 1);
  memcpy(path, row->prefix, before);
  memcpy(path + before, row->grain->path, length + 1);
  return path;
}

/* part: the node is one of the grain's fragments. */
static void describe(const struct graph_builder *builder, struct grain_node *node, const struct grain_row *row,
                     bool part)
{
  uint32_t thread = node->grain.thread, cpu = node->grain.cpu;
  node->row = *row;
  node->row.grain = NULL;
  node->grain = *row->grain;
  node->grain.path = path_of(row);
  node->problems = row->problems;
  node->metric = row->metric[builder->metric];
  if (part) {
    node->grain.thread = thread;
    node->grain.cpu = cpu;
    return;
  }
  node->grains = 1;
  node->problem_grains = row->problems != 0;
  node->exec = node->longest = row->exec;
  node->metric_exec = isnan(node->metric) ? 0 : row->exec;
  node->critical = row->grain->critical;
  add_known(row->create, &node->create, &node->created);
  add_known(row->chunk_overhead, &node->overhead, &node->overheads);
}

/* Makes the grain's own node, or describes its fragments.  Returns its first node. */
static uint32_t own_node(struct graph_builder *builder, struct live *live, const struct grain_row *row)
{
  struct folding *folding = &builder->folding;
  if (!builder->unreduced || !live->last) {
    uint32_t node = add_node(builder, builder->unreduced ? GRAIN_NODE_FRAGMENT : GRAIN_NODE_GRAIN);
    for (size_t i = 0; i < live->takes_count; i++) {
      struct taker *taker = taker_at(builder, live->takes[i]);
      if (taker)
        taker->grain = node;
    }
    describe(builder, &folding->nodes[node].node, row, false);
    folding->nodes[node].node.critical_exec = builder->unreduced ? 0 : live->critical_exec;
    prepend(builder, live, node);
    return node;
  }
  for (uint32_t i = live->last; i; i = builder->siblings_of[i])
    describe(builder, &folding->nodes[i].node, row, true);
  folding->nodes[live->last].node.grains = 1; /* counted with its first fragment */
  folding->nodes[live->last].node.problem_grains = row->problems != 0;
  return live->head;
}

static uint32_t open_fork(struct graph_builder *builder, enum grain_node_kind kind, uint32_t directive)
{
  assert(kind == GRAIN_NODE_FORK || kind == GRAIN_NODE_BOOKKEEPING);
  uint32_t fork = add_node(builder, kind);
  builder->folding.nodes[fork].node.row.directive = directive;
  builder->folding.nodes[fork].fixed = 1;
  return fork;
}

/* The node that hands out a chunk of the loop that its creator is in: it follows what was before the loop. */
static void chunk_to(struct graph_builder *builder, struct live *creator, uint32_t node, const struct grain_row *row)
{
  assert(node && creator);
  if (!creator->loop)
    creator->loop = open_fork(builder, GRAIN_NODE_BOOKKEEPING, row->directive);
  struct grain_node *loop = &builder->folding.nodes[creator->loop].node;
  loop->grain.thread = row->grain->thread;
  add_known(row->chunk_overhead, &loop->overhead, &loop->overheads);
  folding_edge(&builder->folding, creator->loop, node, GRAIN_EDGE_CREATION);
}

/* The grain's creator has a fork node for it.  Creations one after the other have one in the reduced graph. */
static void fork_to(struct graph_builder *builder, struct live *creator, uint32_t node, const struct grain_row *row)
{
  assert(node && creator);
  if (builder->unreduced || !creator->fork) {
    uint32_t fork = open_fork(builder, GRAIN_NODE_FORK, row->creator);
    prepend(builder, creator, fork);
    creator->fork = fork;
  }
  folding_edge(&builder->folding, creator->fork, node, GRAIN_EDGE_CREATION);
}

static void forget(struct graph_builder *builder, uint64_t id)
{
  assert(hash_map_find(&builder->live.names, id));
  uint32_t number = hash_map_find(&builder->live.names, id);
  free(live_at(builder, number)->offers);
  free(live_at(builder, number)->takes);
  object_table_remove(&builder->live, number, id);
}

/* ---- few nodes ---- */

static void renumber(uint32_t *node, const uint32_t *numbers)
{
  *node = numbers[*node];
}

static void renumber_map(struct hash_map *map, const uint32_t *numbers)
{
  for (uint32_t slot = 0; slot < map->slots; slot++)
    if (map->keys[slot])
      renumber(&map->numbers[slot], numbers);
}

static void compact(struct graph_builder *builder)
{
  uint32_t *numbers = folding_compact(&builder->folding);
  for (uint32_t slot = 0; slot < builder->live.names.slots; slot++)
    if (builder->live.names.keys[slot]) {
      struct live *live = live_at(builder, builder->live.names.numbers[slot]);
      renumber(&live->head, numbers);
      renumber(&live->end, numbers);
      renumber(&live->fork, numbers);
      renumber(&live->loop, numbers);
      renumber(&live->held, numbers);
    }
  for (size_t i = 0; i < builder->join_of_room; i++)
    renumber(&builder->join_of[i], numbers);
  renumber_map(&builder->joins.now, numbers);
  renumber_map(&builder->joins.before, numbers);
  for (uint32_t i = 0; i < TAKERS && i <= builder->takers_count; i++) {
    renumber(&builder->takers[i].follows, numbers);
    renumber(&builder->takers[i].grain, numbers);
  }
  free(numbers);
}

bool graph_builder_full(const struct graph_builder *builder)
{
  return builder->unreduced && builder->folding.nodes_count > GRAPH_BUILDER_UNREDUCED_MAX;
}

/* Folds when there are twice as many nodes as after the last time: the nodes of live grains may be many, and are not
 * folded. */
static int keep_small(struct graph_builder *builder)
{
  struct folding *folding = &builder->folding;
  if (builder->unreduced)
    return graph_builder_full(builder) ? ERR_INPUT : 0;
  if (folding->nodes_count < builder->few)
    return 0;
  folding_reduce(folding, builder->most + SPARE_NODES / 4);
  compact(builder);
  builder->few = MAX(builder->few, 2 * (uint64_t)folding->nodes_count);
  return 0;
}

int graph_builder_grain(struct graph_builder *builder, const struct grain_row *row)
{
  assert(row->grain && row->grain->id);
  struct live *live = live_of(builder, row->grain->id);
  uint32_t node = own_node(builder, live, row);
  close_fork(builder, live);
  release_join(builder, live);
  forget(builder, row->grain->id);
  if (builder->forked) {
    struct live *creator = live_of(builder, builder->forked);
    builder->forked = 0;
    if (builder->forked_chunk)
      chunk_to(builder, creator, node, row);
    else
      fork_to(builder, creator, node, row);
  }
  return keep_small(builder);
}

/* ---- the result ---- */

/* The longest path by the nodes' amounts; critical: by those on the critical path, whose edges are marked. */
static uint64_t longest_path(struct grain_graph *graph, bool critical, uint64_t *below, uint32_t *best)
{
  uint64_t longest = 0;
  uint32_t first = MODEL_NONE;
  for (uint32_t i = 0; i < graph->nodes_count; i++) {
    below[i] = 0;
    best[i] = MODEL_NONE;
  }
  for (uint32_t i = graph->edges_count, node = graph->nodes_count; node-- > 0;) {
    for (; i > 0 && graph->edges[i - 1].from == node; i--)
      if (best[node] == MODEL_NONE || below[graph->edges[i - 1].to] > below[node]) {
        below[node] = below[graph->edges[i - 1].to];
        best[node] = i - 1;
      }
    below[node] += critical ? graph->nodes[node].critical_exec : graph->nodes[node].exec;
    if (below[node] >= longest) {
      longest = below[node];
      first = node;
    }
  }
  for (uint32_t edge = critical && longest ? best[first] : MODEL_NONE; edge != MODEL_NONE;
       edge = best[graph->edges[edge].to])
    graph->edges[edge].critical = true;
  return longest;
}

ORDER(by_from, struct grain_edge, COMPARE(x->from, y->from) ?: COMPARE(x->to, y->to))

/* Moves nodes and edges to the graph, in their order. */
static void move_to(struct folding *folding, struct grain_graph *graph)
{
  uint32_t *position = xcalloc(folding->nodes_count, sizeof *position);
  graph->nodes = xcalloc(folding->alive, sizeof *graph->nodes);
  graph->edges = xcalloc(folding->edges_count, sizeof *graph->edges);
  for (uint32_t i = 0; i < folding->alive; i++) {
    struct grain_node *node = &folding->nodes[folding->order[i]].node;
    position[folding->order[i]] = i;
    graph->nodes[graph->nodes_count++] = *node;
    graph->exec += node->exec;
    node->grain.path = NULL;
  }
  for (uint32_t i = 0; i < folding->edges_count; i++) {
    graph->edges[i] = folding->edges[i];
    graph->edges[i].from = position[folding->edges[i].from];
    graph->edges[i].to = position[folding->edges[i].to];
  }
  graph->edges_count = folding->edges_count;
  qsort(graph->edges, graph->edges_count, sizeof *graph->edges, by_from);
  free(position);
}

void graph_builder_end(struct graph_builder *builder, struct grain_graph *graph)
{
  struct folding *folding = &builder->folding;
  *graph = (struct grain_graph){.lost = builder->lost};
  if (!folding->nodes_count)
    return;
  if (!builder->unreduced)
    folding_reduce(folding, builder->most);
  folding_sort(folding);
  move_to(folding, graph);
  uint64_t *below = xmalloc(graph->nodes_count * sizeof *below);
  uint32_t *best = xmalloc(graph->nodes_count * sizeof *best);
  graph->folded = folding->folded;
  graph->longest = longest_path(graph, false, below, best);
  longest_path(graph, true, below, best);
  free(below);
  free(best);
  assert(check_grain_graph(graph));
}
