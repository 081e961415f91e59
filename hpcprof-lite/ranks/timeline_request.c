#include "hpcprof-lite/ranks/timeline_request.h"

#include <stdlib.h>

static void fail(struct serialisation *message, int status)
{
  message->status = message->status ? message->status : status;
}

/* A count of records that follow, each of which takes some bytes of the message. */
static uint64_t get_count(struct serialisation *message)
{
  uint64_t count = serialisation_get_number(message);
  if (count > message->size || count >= UINT32_MAX)
    fail(message, ERR_INPUT);
  return message->status ? 0 : count;
}

/* ---- directives: kinds, and their numbers in the run ---- */

static void put_directives(struct serialisation *message, const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    uint32_t count = process->directive_map ? process->workspan.directives_count : 0;
    serialisation_put_number(message, count);
    for (uint32_t j = 0; j < count; j++)
      serialisation_put(message, &process->workspan.directives[j].kind, sizeof process->workspan.directives[j].kind);
    serialisation_put_array(message, process->directive_map, count, sizeof *process->directive_map);
  }
}

static void get_directives(struct serialisation *message, struct profile_process *process)
{
  uint64_t count = get_count(message);
  struct profile_workspan *workspan = &process->workspan;
  if (!count)
    return;
  free(workspan->directives);
  workspan->directives_count = 0;
  workspan->directives = calloc(count, sizeof *workspan->directives);
  if (!workspan->directives)
    fail(message, ERR_NOMEM);
  for (; workspan->directives_count < count && !message->status; workspan->directives_count++) {
    const uint32_t *kind = serialisation_get(message, sizeof *kind);
    if (!kind || *kind >= DIRECTIVE_KINDS)
      fail(message, ERR_INPUT);
    else
      workspan->directives[workspan->directives_count].kind = *kind;
  }
}

static void get_directive_map(struct serialisation *message, struct profile_process *process)
{
  uint32_t count;
  uint32_t *map = serialisation_own_array(message, &count, sizeof *map);
  if (count && count == process->workspan.directives_count)
    process->directive_map = map;
  else
    free(map);
  if (count && !process->directive_map)
    fail(message, ERR_INPUT);
}

/* ---- the tree of contexts ---- */

static void put_rows(struct serialisation *message, const struct tree *tree)
{
  serialisation_put_number(message, tree->count);
  for (uint32_t row = 0; row < tree->count; row++)
    serialisation_put(message, &tree->rows[row].parent, sizeof tree->rows[row].parent);
}

static void get_rows(struct serialisation *message, struct tree *tree)
{
  uint64_t count = get_count(message);
  tree->rows = calloc(count + 1, sizeof *tree->rows);
  if (!tree->rows)
    fail(message, ERR_NOMEM);
  for (uint32_t row = 0; row < count && !message->status; row++) {
    const uint32_t *above = serialisation_get(message, sizeof *above);
    if (!above || (row && *above >= row)) {
      fail(message, ERR_INPUT);
      return;
    }
    tree->rows[row].parent = row ? *above : MODEL_NONE;
    tree->rows[row].depth = row ? tree->rows[*above].depth + 1 : 0;
    tree->count = row + 1;
  }
}

/* ---- constructs ---- */

static void put_entries(struct serialisation *message, const struct construct_tree *tree, uint32_t nodes)
{
  serialisation_put_number(message, tree->count);
  for (uint32_t i = 0; i < tree->count; i++) {
    serialisation_put(message, &tree->entries[i].parent, sizeof tree->entries[i].parent);
    serialisation_put(message, &tree->entries[i].kind, sizeof tree->entries[i].kind);
  }
  serialisation_put_array(message, tree->entry_of, tree->entry_of ? nodes : 0, sizeof *tree->entry_of);
}

static void get_entries(struct serialisation *message, struct construct_tree *tree, uint32_t nodes)
{
  uint64_t count = get_count(message);
  uint32_t mapped = 0;
  tree->entries = calloc(count + 1, sizeof *tree->entries);
  if (!tree->entries)
    fail(message, ERR_NOMEM);
  for (uint32_t i = 0; i < count && !message->status; i++) {
    const uint32_t *parent = serialisation_get(message, sizeof *parent);
    const uint32_t *kind = serialisation_get(message, sizeof *kind);
    if (!parent || !kind || (i && *parent >= i)) {
      fail(message, ERR_INPUT);
      return;
    }
    tree->entries[i].parent = *parent;
    tree->entries[i].kind = *kind;
    tree->count = i + 1;
  }
  uint32_t *entry_of = serialisation_own_array(message, &mapped, sizeof *entry_of);
  if (mapped)
    tree->entry_of = entry_of;
  else
    free(entry_of);
  bool valid = mapped == (tree->count ? nodes : 0);
  for (uint32_t i = 0; i < mapped && valid; i++)
    valid = entry_of[i] < tree->count || entry_of[i] == MODEL_NONE;
  if (!valid)
    fail(message, ERR_INPUT);
}

/* The constructs of the run; their contexts are of no use here. */
static void get_nodes(struct serialisation *message, struct construct_times *run)
{
  run->nodes = serialisation_own_array(message, &run->nodes_count, sizeof *run->nodes);
  for (uint32_t i = 0; i < run->nodes_count && !message->status; i++)
    if ((i && run->nodes[i].parent >= i) || run->nodes[i].kind >= CONSTRUCT_KINDS)
      fail(message, ERR_INPUT);
}

void timeline_request_put(struct serialisation *message, const struct timeline_request *request)
{
  const struct profile *profile = request->profile;
  serialisation_put_profile(message, profile, true);
  put_directives(message, profile);
  serialisation_put_array(message, profile->constructs.nodes, profile->constructs.nodes_count,
                          sizeof *profile->constructs.nodes);
  put_rows(message, request->tree);
  serialisation_put_array(message, request->row_of, profile->contexts.count, sizeof *request->row_of);
  put_entries(message, request->constructs, profile->constructs.nodes_count);
}

void timeline_request_get(struct serialisation *message, struct timeline_request *request)
{
  struct profile *profile = request->profile;
  uint32_t contexts = 0;
  catalog_init(&profile->catalog);
  serialisation_get_profile(message, profile);
  for (uint32_t i = 0; i < profile->processes_count && !message->status; i++) {
    get_directives(message, &profile->processes[i]);
    if (!message->status)
      get_directive_map(message, &profile->processes[i]);
  }
  if (!message->status)
    get_nodes(message, &profile->constructs);
  if (!message->status)
    get_rows(message, request->tree);
  if (message->status)
    return;
  request->row_of = serialisation_own_array(message, &contexts, sizeof *request->row_of);
  for (uint32_t i = 0; i < contexts && !message->status; i++)
    if (request->row_of[i] >= request->tree->count && request->row_of[i] != MODEL_NONE)
      fail(message, ERR_INPUT);
  if (contexts != profile->contexts.count)
    fail(message, ERR_INPUT);
  if (!message->status)
    get_entries(message, request->constructs, profile->constructs.nodes_count);
}
