#include "hpcprof-lite/ranks/timeline_request.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

/* ---- directives: kinds, and their numbers in the run ---- */

static void put_directives(struct profile_message *message, const struct profile_process *process)
{
  assert(process->directive_map || !process->usable || !process->workspan.directives_count);
  const struct profile_workspan *workspan = &process->workspan;
  uint32_t count = process->directive_map ? workspan->directives_count : 0;
  profile_message_put_column(message, workspan->directives, count, sizeof *workspan->directives,
                             offsetof(struct profile_directive, kind));
  profile_message_put_array(message, process->directive_map, count, sizeof *process->directive_map);
}

static void get_directives(struct profile_message *message, struct profile_process *process)
{
  uint32_t count = profile_message_get_count(message);
  struct profile_workspan *workspan = &process->workspan;
  free(workspan->directives);
  workspan->directives = xcalloc(count, sizeof *workspan->directives);
  workspan->directives_count = count;
  for (uint32_t i = 0; i < count; i++)
    workspan->directives[i].kind = profile_message_get_cell(message, CONSTRUCT_KINDS, false);
  profile_message_get_numbers(message, count, UINT32_MAX, &process->directive_map);
}

/* ---- constructs ---- */

static void put_entries(struct profile_message *message, const struct construct_tree *tree, uint32_t nodes)
{
  assert(tree->entries || !tree->count);
  const struct construct_entry *entries = tree->entries;
  profile_message_put_column(message, entries, tree->count, sizeof *entries, offsetof(struct construct_entry, parent));
  profile_message_put_column(message, entries, tree->count, sizeof *entries, offsetof(struct construct_entry, kind));
  profile_message_put_array(message, tree->entry_of, tree->entry_of ? nodes : 0, sizeof *tree->entry_of);
}

static void get_entries(struct profile_message *message, struct construct_tree *tree, uint32_t nodes)
{
  uint32_t count = profile_message_get_count(message);
  tree->entries = xcalloc((size_t)count + 1, sizeof *tree->entries);
  for (uint32_t i = 0; i < count; i++)
    tree->entries[i].parent = profile_message_get_cell(message, i ? i : UINT32_MAX, !i);
  profile_message_check(message, profile_message_get_count(message) == count);
  for (uint32_t i = 0; i < count; i++)
    tree->entries[i].kind = profile_message_get_cell(message, UINT32_MAX, true);
  tree->count = message->status ? 0 : count;
  profile_message_get_numbers(message, count ? nodes : 0, count, &tree->entry_of);
}

/* The constructs of the run; their contexts are of no use here. */
static void get_nodes(struct profile_message *message, struct construct_times *run)
{
  run->nodes = profile_message_own_array(message, &run->nodes_count, sizeof *run->nodes);
  for (uint32_t i = 0; i < run->nodes_count; i++)
    profile_message_check(message, (!i || run->nodes[i].parent < i) && run->nodes[i].kind < CONSTRUCT_KINDS);
}

void timeline_request_put(struct profile_message *message, const struct timeline_request *request)
{
  assert(request->profile && request->tree && request->row_of && request->constructs);
  const struct profile *profile = request->profile;
  profile_message_put_profile(message, profile, true);
  for (uint32_t i = 0; i < profile->processes_count; i++)
    put_directives(message, &profile->processes[i]);
  profile_message_put_array(message, profile->constructs.nodes, profile->constructs.nodes_count,
                            sizeof *profile->constructs.nodes);
  profile_message_put_tree(message, request->tree);
  profile_message_put_array(message, request->row_of, profile->contexts.count, sizeof *request->row_of);
  put_entries(message, request->constructs, profile->constructs.nodes_count);
}

void timeline_request_get(struct profile_message *message, struct timeline_request *request)
{
  assert(request->profile && request->tree && request->constructs);
  struct profile *profile = request->profile;
  catalog_init(&profile->catalog);
  profile_message_get_profile(message, profile);
  for (uint32_t i = 0; i < profile->processes_count && !message->status; i++)
    get_directives(message, &profile->processes[i]);
  get_nodes(message, &profile->constructs);
  profile_message_get_tree(message, request->tree);
  profile_message_get_numbers(message, profile->contexts.count, request->tree->count, &request->row_of);
  get_entries(message, request->constructs, profile->constructs.nodes_count);
}
