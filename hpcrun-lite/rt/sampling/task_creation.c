#include "hpcrun-lite/rt/sampling/task_creation.h"

#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/span/explicit_task.h"

enum { STACKS = 64, WORDS = 40 };

struct creation {
  uint64_t enter_frame, code, region;
  uint32_t creator;
};

/* A stack at a creation: return addresses and where they lie, from the caller of the runtime outwards to the start of
 * its task or region; and the context that was found for it. */
struct stack {
  struct creation of;
  uint32_t creation_context, node, entered, filtered, count;
  bool known, in_program; /* in_program: the innermost address is that of the program's code */
  struct {
    uint64_t at, value;
  } words[WORDS];
};

static struct stack *stack_at(struct thread_state *t, uint64_t enter_frame, uint64_t code)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (!sampling->stacks_extent && !rt_stopped())
    sampling->stacks_extent = arena_new(ARENA_STACKS, 0, FORMAT_FREE, t->index, sizeof(struct stack), STACKS);
  uint64_t hash = (enter_frame ^ code << 20) * 0x9e3779b97f4a7c15ULL;
  return sampling->stacks_extent ? (struct stack *)arena_data(sampling->stacks_extent) + (hash >> 32) % STACKS : NULL;
}

/* Is the present stack the one that was kept? */
static bool same_stack(const struct stack *stack, const struct creation *wanted)
{
  const struct creation *of = &stack->of;
  if (!stack->known || of->enter_frame != wanted->enter_frame || of->code != wanted->code ||
      of->region != wanted->region || of->creator != wanted->creator)
    return false;
  for (uint32_t i = 0; i < stack->count; i++)
    if (*(const volatile uint64_t *)stack->words[i].at != stack->words[i].value)
      return false;
  return true;
}

/* Keeps the return addresses of the stack just walked, unless they are too many or outside the thread's own stack. */
static void keep_words(const struct thread_state *t, struct stack *stack, const struct call_site *site)
{
  stack->count = 0;
  for (int i = site->first; i < site->end; i++) {
    uint64_t word = sampling_of(t)->frames[i].return_at;
    if (stack->count == WORDS || word < t->stack_low || word >= t->stack_high)
      return;
    stack->words[stack->count].at = word;
    stack->words[stack->count++].value = *(const uint64_t *)word;
  }
}

/* The stack that enters the runtime, walked if it is not known.  NULL without memory, and if measuring has ended: that
 * is asked where the stack must be walked, since the question costs a fence. */
static struct stack *find_stack(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code)
{
  struct creation wanted = {.enter_frame = enter_frame, .code = code, .region = region_identity(t), .creator = creator};
  struct stack *stack = stack_at(t, enter_frame, code);
  if (!stack || same_stack(stack, &wanted))
    return stack;
  if (rt_stopped())
    return NULL;
  struct call_site site = context_caller(t, code);
  *stack = (struct stack){.of = wanted};
  stack->node = site.node;
  stack->entered = site.entered;
  stack->filtered = site.filtered;
  if (site.node != CCT_NONE && cct_kind(t, cct_top(t, site.node)) == FORMAT_KIND_PLACEHOLDER)
    stack->node = CCT_NONE; /* the node may be moved, because the region's start could not be unwound */
  keep_words(t, stack, &site);
  stack->in_program =
      stack->count && !sampling_of(t)->frames[site.first].tool && !sampling_of(t)->frames[site.first].system;
  stack->known = stack->node != CCT_NONE && stack->count == (uint32_t)(site.end - site.first);
  return stack;
}

uint32_t task_creation_context(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code)
{
  struct stack *stack = find_stack(t, creator, enter_frame, code);
  if (!stack || stack->node == CCT_NONE)
    return 0;
  if (!stack->creation_context)
    stack->creation_context = task_context_create(t->index, stack->node, stack->entered, stack->filtered);
  return stack->creation_context;
}

uint32_t task_creation_node(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code,
                            uint32_t *filtered)
{
  const struct stack *stack = find_stack(t, creator, enter_frame, code);
  *filtered = stack ? stack->filtered : 0;
  return stack ? stack->node : CCT_NONE;
}

uint32_t task_creation_known(const ompt_data_t *data)
{
  if (!data || !(span_process.online || sampling_process.task_creation))
    return 0;
  return span_process.online ? explicit_task_creation_context(data->value) : rt_task_index(data->value);
}

const void *task_creation_caller(struct thread_state *t, uint32_t creator, const void *code, uint64_t end)
{
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  const struct stack *stack = find_stack(t, creator, here, (uint64_t)code);
  if (!stack || !stack->in_program || (end > here && end < t->stack_high && stack->words[0].at >= end))
    return NULL;
  return (const void *)machine_address(stack->words[0].value);
}

void task_creation_forget(struct thread_state *t)
{
  struct stack *stacks = sampling_of(t)->stacks_extent ? arena_data(sampling_of(t)->stacks_extent) : NULL;
  for (unsigned i = 0; stacks && i < STACKS; i++)
    stacks[i].known = false;
}
