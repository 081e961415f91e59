#include "hpcrun-lite/rt/construct/construct_table.h"

#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/span/directive.h"

enum { RECORDS_MAX = 1 << 16 };

/* The list of records that a hash leads to.  parent: for links, the owner and its record. */
static uint32_t *list_of(struct thread_state *t, uint64_t parent, uint32_t kind, uint32_t directive)
{
  struct construct_thread *construct = construct_of(t);
  enum { LISTS = sizeof construct->heads / sizeof *construct->heads };
  uint64_t key = parent * 0xff51afd7ed558ccdULL + ((uint64_t)directive << 8 | kind);
  return &construct->heads[(key * 0x9e3779b97f4a7c15ULL >> 32) % LISTS];
}

static struct format_construct *add_record(struct thread_state *t, uint32_t *list, uint32_t parent, uint32_t kind,
                                           uint32_t directive, uint32_t flags, uint32_t *record)
{
  struct table *records = &construct_of(t)->records;
  struct format_construct *made = records->count < RECORDS_MAX ? table_next(records, record) : NULL;
  if (!made)
    return NULL;
  made->parent = parent;
  made->kind = kind;
  made->directive = directive;
  made->flags = flags;
  made->next = *list;
  *list = *record;
  table_publish(records);
  return made;
}

/* Finds a construct that is open around a record, or one below that record; or adds it. */
static struct format_construct *seek(struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive,
                                     uint32_t flags, uint32_t *record)
{
  struct format_construct *at;
  for (*record = parent; *record; *record = at->parent)
    if ((at = construct_record(t, *record))->kind == kind && at->directive == directive)
      return at;
  uint32_t *list = list_of(t, parent, kind, directive);
  for (*record = *list; *record; *record = at->next)
    if ((at = construct_record(t, *record))->kind == kind && at->directive == directive && at->parent == parent &&
        at->flags == flags)
      return at;
  return add_record(t, list, parent, kind, directive, flags, record);
}

struct format_tasks *construct_find_tasks(struct thread_state *t, uint32_t directive, uint32_t *index)
{
  struct table *tasks = &construct_of(t)->tasks;
  for (*index = 0; *index < tasks->count; ++*index) {
    struct format_tasks *known = table_at(tasks, *index);
    if (known->directive == directive)
      return known;
  }
  struct format_tasks *made = table_next(tasks, index);
  if (!made) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return NULL;
  }
  made->directive = directive;
  table_publish(tasks);
  return made;
}

/* The figures of a record of a task construct; NULL for others. */
static struct format_tasks *tasks_of(struct thread_state *t, struct format_construct *at)
{
  if (at->kind != FORMAT_DIRECTIVE_TASK && at->kind != FORMAT_CONSTRUCT_TASK_EXEC)
    return NULL;
  if (at->tasks)
    return table_at(&construct_of(t)->tasks, at->tasks - 1);
  uint32_t index;
  struct format_tasks *tasks = construct_find_tasks(t, at->directive, &index);
  at->tasks = tasks ? index + 1 : 0;
  return tasks;
}

/* Is the construct left out?  What is inside a user region to which records are limited stands below its record. */
static bool is_filtered(const struct thread_state *t, uint32_t parent, uint32_t kind, uint32_t directive)
{
  const struct format_directive *row = table_at(directive_table(), directive);
  unsigned depth = construct_of(t)->user_depth;
  bool wanted = kind == FORMAT_DIRECTIVE_USER_REGION && depth && depth <= RT_USER_REGIONS &&
                construct_of(t)->user_regions[depth - 1].wanted;
  return filter_construct(parent, kind, row->module, row->offset, wanted);
}

const struct construct_known *construct_not_kept(struct thread_state *t, uint32_t parent)
{
  construct_of(t)->unkept = (struct construct_known){.at = construct_record(t, parent), .record = parent};
  return &construct_of(t)->unkept;
}

const struct construct_known *construct_look_up(struct thread_state *t, unsigned place, uint64_t key, uint32_t parent,
                                                uint32_t kind, uint32_t directive, bool in_wait)
{
  struct construct_known *known = &construct_of(t)->known[place];
  struct construct_known found = {.key = key};
  if (filter_now()->constructs && is_filtered(t, parent, kind, directive))
    return construct_not_kept(t, parent);
  found.at = seek(t, parent, kind, directive, in_wait ? FORMAT_CONSTRUCT_IN_WAIT : 0, &found.record);
  if (!found.at) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return construct_not_kept(t, parent);
  }
  found.tasks = tasks_of(t, found.at);
  construct_of(t)->known[place ^ 1] = *known;
  *known = found;
  return known;
}

void construct_forget(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  __builtin_memset(construct->known, 0, sizeof construct->known);
  if (construct->records.count)
    construct_record(t, 0)->context_sought |= filter_now()->constructs; /* as construct_start() */
}

struct format_construct *construct_find_link(struct thread_state *t, uint32_t kind, uint32_t directive, uint32_t owner,
                                             uint32_t link, uint32_t *record)
{
  struct format_construct *at;
  uint32_t *list = list_of(t, (uint64_t)owner << 32 | link, kind, directive);
  for (*record = *list; *record; *record = at->next)
    if ((at = construct_record(t, *record))->flags == FORMAT_CONSTRUCT_LINK && at->owner == owner && at->link == link &&
        at->kind == kind && at->directive == directive)
      return at;
  at = add_record(t, list, 0, kind, directive, FORMAT_CONSTRUCT_LINK, record);
  if (at) {
    at->owner = owner;
    at->link = link;
  }
  return at;
}
