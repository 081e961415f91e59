#include "hpcrun-lite/rt/sampling/context.h"

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/arch/unwinding.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/sampling/call_code.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/sampling/unwind.h"

/* A stack is read from its outer end inwards.  It is a sequence of runs: user frames, then frames of the OpenMP
 * runtime, then user frames that the runtime has called, and so on.  A run of runtime frames is one of these:
 * - the entry into a region of which this thread is the master: the region's enter_frame lies in it;
 * - the base of a worker's stack: nothing outside it is user code, and the path continues in the region's creation
 *   context;
 * - a task that is run during a wait: the task's frames follow, below their region;
 * - the end of the path: the user frame outside has called the runtime, which is working (overhead).
 * Code that the runtime has called may have jumped into the runtime again and left no frame: then one run is several of
 * these.
 *
 * The current task's exit frame distinguishes the last case from the others: it lies in the run from which the runtime
 * has called user code. */
enum { TASK_LEVELS = 16 };

struct task_level {
  uint64_t exit_frame;
  uint32_t creation_context; /* see sampling/task_context.h; 0: none */
  uint32_t directive;        /* see span/directive.h; 0: not known */
};

struct stack_reader {
  struct thread_state *t;
  struct filter *filter; /* the one that holds for all of this path */
  struct frame *frames;
  int count;
  bool cut;
  int level;                            /* of the task that counts as the current one: see called_directly() */
  uint64_t sp;                          /* inside all frames of the program and the runtime */
  uint64_t exit_frame;                  /* of the current task; 0: the runtime has not called it */
  int task_flags;                       /* of OMPT, of the current task */
  const void *task_frame;               /* see struct known_task */
  bool direct;                          /* the program is known to run it itself */
  struct task_level tasks[TASK_LEVELS]; /* explicit tasks, the innermost first */
  int tasks_count;
  uint64_t end_sp;      /* the stack is needed up to here: the exit frame of an explicit task; UINT64_MAX: all */
  uint32_t task_region; /* node of the region of the task at end_sp; CCT_NONE: not known, or not needed */
  uint32_t entered;     /* entry of the innermost task read so far */
  bool interrupted;     /* the innermost frame is not that of a call */
  bool caller;          /* the path ends where user code called the runtime: the innermost run is that of a callback */
  uint64_t code;        /* address of the construct that is to be created there; 0: none */
  struct format_region *target; /* only the creation context of this region is needed: the innermost run is its entry */
  uint32_t node;                /* of the frames read so far */
  uint32_t region_node;         /* node of the innermost parallel region on the path; CCT_NONE outside any */
  uint32_t filtered, region_filtered; /* what a filter found on the path, and on that to region_node */
  uint32_t task_filtered;             /* the same for task_region */
  uint32_t stop;                      /* node below which a filter leaves everything out; CCT_NONE: none */
  bool left_out;                      /* the whole path lacks what a filter includes: nothing is added for it */
};

/* Adds a child to the path's node. */
static uint32_t child(struct stack_reader *reader, enum format_kind kind, uint32_t what, uint32_t offset)
{
  if (reader->node == CCT_NONE || reader->node == reader->stop)
    return reader->node;
  return cct_child(reader->t, reader->node, (struct cct_key){kind, what, offset});
}

/* The path goes on below a node at which another one begins; filtered: what a filter found up to there.  What is below
 * a node of kind filtered belongs to it (doc/format.md), whether it is known here or not. */
static void go_on_at(struct stack_reader *reader, uint32_t node, uint32_t filtered)
{
  if (reader->left_out)
    return;
  reader->node = node;
  reader->filtered = filtered;
  if (filtered & FORMAT_FILTERED_OUT)
    reader->stop = node;
}

/* The path enters code that the filter knows. */
static void enter_filtered(struct stack_reader *reader, uint32_t found)
{
  if (reader->node == reader->stop)
    return;
  reader->filtered |= found;
  if (found & FORMAT_FILTERED_OUT)
    reader->node = reader->stop = child(reader, FORMAT_KIND_FILTERED, 0, 0);
}

/* Publishes the creation context of a region whose entry is reached. */
static void publish(const struct stack_reader *reader, struct format_region *region)
{
  if (!reader->left_out)
    region_publish(reader->t, region, reader->node, reader->filtered);
}

/* Looks up all frames in the filter. */
static void find_filtered(struct stack_reader *reader) __attribute__((noinline));
static void find_filtered(struct stack_reader *reader)
{
  for (int i = 0; i < reader->count; i++) {
    struct frame *frame = &reader->frames[i];
    bool code = !frame->runtime && !frame->tool;
    frame->filtered = (uint8_t)(code ? filter_frame(reader->filter, frame->module, frame->offset) : 0);
  }
}

/* Is the address in a stub that leads to the OpenMP runtime? */
static bool is_runtime_stub(struct stack_reader *reader, uint64_t ip)
{
  struct call_stub stub;
  uint32_t index;
  if (!call_code_in_stub(ip, &stub) || !stub.target)
    return false;
  const struct format_module *module = modules_find(reader->t, stub.target, &index);
  return module && module->flags & FORMAT_MODULE_RUNTIME;
}

/* Code of the runtime has no node: what it seems to have called has the mark instead. */
static void move_marks(struct stack_reader *reader)
{
  for (int i = 1; i < reader->count; i++)
    if (reader->frames[i].guessed && (reader->frames[i].runtime || reader->frames[i].tool))
      reader->frames[i - 1].guessed = true;
}

/* Forgets which functions were where, if a module was unloaded. */
static void forget_unloaded(struct thread_state *t)
{
  uint32_t generation = atomic_load_explicit(&rt.module_generation, memory_order_relaxed);
  if (sampling_of(t)->code_generation != generation) {
    sampling_of(t)->code_generation = generation;
    __builtin_memset(sampling_of(t)->calls, 0, sizeof sampling_of(t)->calls);
    __builtin_memset(sampling_of(t)->functions, 0, sizeof sampling_of(t)->functions);
  }
}

/* Finds the module of each frame. */
static void classify(struct stack_reader *reader)
{
  struct thread_state *t = reader->t;
  for (int i = 0; i < reader->count; i++) {
    struct frame *frame = &reader->frames[i];
    const struct format_module *module = modules_find(reader->t, frame->ip, &frame->module);
    uint32_t flags = module ? module->flags : 0;
    frame->offset = (uint32_t)(frame->ip - (module ? module->base : 0));
    frame->tool = flags & FORMAT_MODULE_TOOL;
    frame->system = flags & (FORMAT_MODULE_SYSTEM | FORMAT_MODULE_VDSO);
    frame->adapter = frame->tool && frame->ip - sampling_process.adapter_start < sampling_process.adapter_size;
    frame->runtime = flags & FORMAT_MODULE_RUNTIME || frame->adapter;
    frame->devices = flags & FORMAT_MODULE_DEVICES;
    frame->tool = frame->tool && !frame->adapter;
    if (!module)
      frame->module = 0;
  }
  if (__builtin_expect(unwind_has_guessed(t), 0))
    move_marks(reader);
  struct frame *innermost = &reader->frames[0];
  if (reader->interrupted && !innermost->runtime && !innermost->tool && !innermost->system)
    innermost->runtime = is_runtime_stub(reader, innermost->ip);
  if (__builtin_expect(reader->filter->paths, 0))
    find_filtered(reader);
}

/* Is everything inside the frame code of the tool or of libc?  Then it is an interposed function, and the path ends in
 * the user frame that called it. */
static bool only_tool_inside(const struct stack_reader *reader, int i)
{
  for (; i >= 0; i--)
    if (!reader->frames[i].tool && !reader->frames[i].system)
      return false;
  return true;
}

/* Adds a user frame, and the user regions that it has begun. */
static void add_frame(struct stack_reader *reader, const struct frame *frame)
{
  if (frame->tool)
    return;
  if (__builtin_expect(frame->filtered, 0) && reader->filter->paths) /* not what a filter before found */
    enter_filtered(reader, frame->filtered);
  uint32_t guessed = frame->guessed ? FORMAT_WHAT_GUESSED : 0;
  reader->node = child(reader, FORMAT_KIND_FRAME, frame->module | guessed, frame->offset);
  const struct thread_state *t = reader->t;
  int outer = (int)(frame - reader->frames) + 1;
  for (unsigned i = 0; i < construct_of(t)->user_depth && i < RT_USER_REGIONS && outer < reader->count; i++)
    if (construct_of(t)->user_regions[i].cfa == reader->frames[outer].sp) {
      reader->node = child(reader, FORMAT_KIND_USER_REGION, 0, construct_of(t)->user_regions[i].name);
      reader->filtered |= construct_of(t)->user_regions[i].wanted ? FORMAT_FILTERED_REGION : 0;
    }
}

/* The stack pointer of the user frame outside a run, which called the runtime.  In the outermost run of a
 * stack that was cut, only the frames that were found are known. */
static uint64_t outer_sp(const struct stack_reader *reader, int outermost)
{
  if (outermost + 1 < reader->count)
    return reader->frames[outermost + 1].sp;
  return reader->cut ? reader->frames[outermost].sp : UINT64_MAX;
}

/* Does an exit frame lie in the run? */
static bool within(const struct stack_reader *reader, uint64_t exit_frame, int inner, int outer)
{
  return exit_frame >= reader->frames[inner].sp && exit_frame < outer_sp(reader, outer);
}

static bool exit_in(const struct stack_reader *reader, int inner, int outer)
{
  return within(reader, reader->exit_frame, inner, outer);
}

/* The explicit task that the runtime has called from the part of a run between these stack pointers; NULL if there is
 * none. */
static const struct task_level *called_task(const struct stack_reader *reader, uint64_t sp_from, uint64_t sp_to)
{
  for (int i = 0; i < reader->tasks_count; i++)
    if (reader->tasks[i].exit_frame >= sp_from && reader->tasks[i].exit_frame < sp_to)
      return &reader->tasks[i];
  return NULL;
}

/* The function of a frame: module << 32 | offset of its start. */
static uint64_t function_of(struct stack_reader *reader, const struct frame *frame)
{
  uint64_t start = unwind_function(reader->t, frame->ip);
  uint32_t inside = start ? (uint32_t)(frame->ip - start) : 0;
  return (uint64_t)frame->module << 32 | (frame->offset - inside);
}

/* Adds the entry into a region. */
static void add_region(struct stack_reader *reader)
{
  reader->node = reader->region_node = child(reader, FORMAT_KIND_PARALLEL, 0, 0);
  reader->region_filtered = reader->filtered;
}

/* Enters the task whose function is the frame inside `inner`: below its creation context if that is known, else below
 * its region. */
static void enter_task(struct stack_reader *reader, const struct task_level *task, int inner)
{
  uint32_t base = CCT_NONE;
  reader->entered = 0;
  if (sampling_process.task_creation && task) {
    if (task->creation_context && inner > 0)
      reader->entered = task_context_enter(task->creation_context, function_of(reader, &reader->frames[inner - 1]));
    if (reader->entered)
      base = task_context_node(reader->t, reader->entered);
    if (base == CCT_NONE)
      rt_lost(reader->t, FORMAT_LOST_TASKS);
  }
  if (base != CCT_NONE)
    go_on_at(reader, base, task_context_filtered(reader->entered));
  else if (reader->region_node != CCT_NONE)
    go_on_at(reader, reader->region_node, reader->region_filtered);
  const struct format_directive *made =
      task && task->directive ? table_at(directive_table(), task->directive) : &(struct format_directive){0};
  uint32_t module = made->offset <= UINT32_MAX ? made->module : 0;
  reader->node = child(reader, FORMAT_KIND_TASK, module, module ? (uint32_t)made->offset : 0);
}

/* Enters a region.  If the run of runtime frames continues to an explicit task (run at the region's barrier), enters
 * that, too. */
static void enter_region(struct stack_reader *reader, int inner, uint64_t sp_from, uint64_t sp_to)
{
  reader->entered = 0;
  add_region(reader);
  const struct task_level *task = inner > 0 ? called_task(reader, sp_from, sp_to) : NULL;
  if (task)
    enter_task(reader, task, inner);
}

/* Has the runtime called user code from the run [inner, outer], and not only a helper function?  Without OMPT: if it
 * has called anything but libc and the tool.  Otherwise the current task's exit frame proves it if it lies in the run.
 * It may lie elsewhere or be 0: libomp clears it before GCC's combined parallel loops; and for undeferred tasks, which
 * compilers call directly, takes it from a register that is not a frame pointer.  In these cases code of the program
 * counts as user code, unless the exit frame shows that the task was called outside the run: then the code is a helper
 * of the runtime, an allocator for example. */
static bool leads_to_user(const struct stack_reader *reader, int inner, int outer)
{
  if (inner == 0 || reader->caller)
    return false;
  const struct frame *called = &reader->frames[inner - 1];
  if (rt.ompt_module && !reader->frames[inner].adapter &&
      reader->frames[inner].module != rt.ompt_module) /* a plugin of the runtime: OMPT does not know its tasks */
    return !called->system && !called->tool;
  if (!reader->t->activity.openmp) /* with OMPT: the runtime is still setting up the thread */
    return !rt.ompt && !called->system && !called->tool;
  if (exit_in(reader, inner, outer))
    return true;
  bool implicit = reader->task_flags & ompt_task_implicit;
  /* A task inherited from the parent process. */
  if (sampling_process.forked && !reader->exit_frame && !implicit)
    return !called->system && !called->tool;
  bool outside = reader->exit_frame >= outer_sp(reader, outer) && reader->exit_frame < reader->t->stack_high;
  return (reader->exit_frame || implicit) && !outside && !called->system && !called->tool;
}

/* Has the runtime called a target region from the run, which the thread runs at once?  It has no exit frame.  LLVM's
 * library for devices does so where the host is the device. */
static bool calls_target(const struct stack_reader *reader, int inner, int outer)
{
  const struct frame *called = &reader->frames[inner > 0 ? inner - 1 : 0];
  if (inner == 0 || called->system || called->tool || exit_in(reader, inner, outer))
    return false;
  if (reader->frames[inner].devices)
    return true;
  for (int i = inner; i <= outer && sampling_process.target_call; i++)
    if (reader->frames[i].adapter && unwind_function(reader->t, reader->frames[i].ip) == sampling_process.target_call)
      return true;
  return false;
}

/* The function that a direct call instruction calls, also through the procedure linkage table; 0 if it is not a direct
 * call. */
static uint64_t call_target(uint64_t ip)
{
  uint8_t code[UNWINDING_CODE_BYTES];
  uint64_t target, after = ip + 1;
  struct call_stub stub;
  if (!sys_peek(after - sizeof code, code, sizeof code) || unwinding_call(code, after, &target) != CALL_DIRECT)
    return 0;
  switch (call_code_at(target, &stub)) {
  case CODE_STUB:
    return stub.target;
  case CODE_PLAIN:
    return target;
  default:
    return 0;
  }
}

/* Adds a function, unless it is one of the runtime or the tool. */
static void add_function(struct stack_reader *reader, uint64_t address)
{
  uint32_t index;
  const struct format_module *module = address ? modules_find(reader->t, address, &index) : NULL;
  if (!module || module->flags & (FORMAT_MODULE_RUNTIME | FORMAT_MODULE_TOOL))
    return;
  uint32_t offset = (uint32_t)(address - module->base);
  if (__builtin_expect(reader->filter->paths, 0))
    enter_filtered(reader, filter_frame(reader->filter, index, offset));
  reader->node = child(reader, FORMAT_KIND_FRAME, index, offset);
}

/* A function whose last act is to call the runtime may have jumped there and left no frame.  The call instruction of
 * its caller still names it. */
static void add_tail_caller(struct stack_reader *reader, const struct frame *caller)
{
  struct call_cache *known = call_cache_at(sampling_of(reader->t)->calls, caller->ip);
  if (known->ip != caller->ip)
    *known = (struct call_cache){caller->ip, call_target(caller->ip)};
  add_function(reader, known->target);
}

/* Does an address stand for code that jumped into the runtime?  It is then behind the first byte of that code's
 * function (code_address.h), or inside the runtime if that is not known. */
static bool is_jump(const struct stack_reader *reader, uint64_t code)
{
  return code - rt.runtime_start < rt.runtime_size || (code && unwind_function(reader->t, code - 1) == code - 1);
}

/* Adds the function that has jumped into the runtime from what the run has called. */
static void add_jump(struct stack_reader *reader, uint64_t code)
{
  if (is_jump(reader, code))
    add_function(reader, code - 1);
}

/* Enters what the run has called up to the last region that was entered in it, and returns that region; NULL if there
 * is none.  base: the run begins in the thread's base region.  *sp_to: the end of what is left of the run. */
static struct format_region *enter_outer(struct stack_reader *reader, int inner, bool base, uint64_t *sp_to)
{
  uint64_t low = reader->frames[inner].sp;
  struct region_entry next = region_entered(reader->t, low, *sp_to);
  bool jump = next.region && is_jump(reader, next.code);
  uint64_t sp_from = next.region ? next.region->enter_frame : low;
  if (base)
    enter_region(reader, inner, sp_from, *sp_to);
  else if (jump) /* only a task can have jumped */
    enter_task(reader, called_task(reader, sp_from, *sp_to), inner);
  if (jump)
    add_function(reader, next.code - 1);
  while (next.region) {
    struct format_region *region = next.region;
    *sp_to = region->enter_frame;
    if (!next.more)
      return region;
    publish(reader, region);
    next = region_entered(reader->t, low, *sp_to);
    if (is_jump(reader, next.code)) {
      enter_region(reader, inner, next.region->enter_frame, *sp_to);
      add_function(reader, next.code - 1);
    }
  }
  return NULL;
}

/* In a callback: has code that the runtime called from the run, inside a stack address, jumped there to create a
 * construct? */
static bool creates_by_jump(const struct stack_reader *reader, int inner, uint64_t sp_to)
{
  return reader->caller && reader->code && reader->exit_frame >= reader->frames[inner].sp && reader->exit_frame < sp_to;
}

/* Enters what a run has called up to its inner end, from that region on (NULL: none), or inside that stack address. */
static void enter_run(struct stack_reader *reader, int inner, struct format_region *region, uint64_t sp_to)
{
  uint64_t low = reader->frames[inner].sp;
  if (region) {
    if (reader->cut && region_known(region)) /* the part that was cut off is known from an earlier sample */
      go_on_at(reader, region->link_node, region->filtered);
    publish(reader, region);
    enter_region(reader, inner, low, sp_to);
    return;
  }
  if (!reader->t->activity.openmp)
    enter_region(reader, inner, low, sp_to);
  else
    enter_task(reader, inner > 0 ? called_task(reader, low, sp_to) : NULL, inner);
}

/* Index of the outermost frame of the innermost run; -1 if there is none. */
static int innermost_run(struct stack_reader *reader)
{
  int i = 0;
  while (i < reader->count && !reader->frames[i].runtime)
    i++;
  if (i == reader->count)
    return -1;
  while (i + 1 < reader->count && reader->frames[i + 1].runtime)
    i++;
  return i;
}

/* A worker's stack begins in the runtime: enters its base region and skips its outermost run.  Returns the index of the
 * first frame to be read; -1 if that run is also the innermost one, so that no user frame is on this stack. */
static int enter_base(struct stack_reader *reader, int innermost)
{
  int outer = reader->count - 1;
  while (outer >= 0 && !reader->frames[outer].runtime)
    outer--;
  int inner = outer;
  while (inner > 0 && reader->frames[inner - 1].runtime)
    inner--;
  uint32_t filtered, base = region_base(reader->t, sampling_of(reader->t)->base_region, &filtered);
  if (base == CCT_NONE) {
    reader->node = child(reader, FORMAT_KIND_OUTSIDE, 0, 0);
    return -1;
  }
  go_on_at(reader, base, filtered);
  if (reader->cut || outer < 0) { /* no frame of the runtime at the outer end: read all */
    enter_region(reader, 0, 0, 0);
    if (reader->cut)
      reader->node = child(reader, FORMAT_KIND_PARTIAL, 0, 0);
    return reader->count - 1;
  }
  bool ends = outer == innermost && !leads_to_user(reader, inner, outer);
  uint64_t sp_to = outer_sp(reader, outer);
  struct format_region *region = enter_outer(reader, inner, true, &sp_to);
  bool jumped = ends && creates_by_jump(reader, inner, sp_to);
  if (region && ends && !jumped)
    publish(reader, region);
  else if (region)
    enter_run(reader, inner, region, sp_to);
  if (jumped)
    add_jump(reader, reader->code);
  else if (ends)
    reader->node = child(reader, FORMAT_KIND_RUNTIME, 0, 0);
  return ends ? -1 : inner - 1;
}

/* Code of GCC before 4.9 enters a region by a call that returns, and then calls the region's function itself: a frame
 * of that function follows, without one of the runtime. */
static void enter_started_region(struct stack_reader *reader, int i)
{
  if (!span_of(reader->t)->open_region || i + 1 >= reader->count || reader->frames[i + 1].runtime)
    return;
  uint64_t sp = reader->frames[i + 1].sp;
  struct format_region *region = region_entered(reader->t, sp - RT_STARTED_BYTES, sp - RT_STARTED_BYTES + 1).region;
  if (!region)
    return;
  publish(reader, region);
  reader->entered = 0;
  add_region(reader);
}

/* Reads the run [inner, outer].  Returns whether the path ends in it. */
static bool read_run(struct stack_reader *reader, int inner, int outer, int innermost)
{
  if (calls_target(reader, inner, outer))
    return false;
  bool setting_up = !reader->t->activity.openmp && !reader->caller; /* it may be called back by libc */
  bool ends = (outer == innermost || setting_up) && !leads_to_user(reader, inner, outer);
  uint64_t sp_to = outer_sp(reader, outer);
  struct format_region *region = enter_outer(reader, inner, false, &sp_to);
  if (ends && !creates_by_jump(reader, inner, sp_to)) {
    region = reader->target ? reader->target : region;
    if (region)
      publish(reader, region);
    if (!reader->caller)
      reader->node = child(reader, FORMAT_KIND_RUNTIME, 0, 0);
    return true;
  }
  enter_run(reader, inner, region, sp_to);
  if (ends)
    add_jump(reader, reader->code);
  return ends;
}

/* Reads frames from index i inwards.  Returns whether the path ends in the runtime. */
static bool read_frames(struct stack_reader *reader, int i, int innermost)
{
  while (i >= 0) {
    if (reader->frames[i].tool && only_tool_inside(reader, i))
      return false;
    if (!reader->frames[i].runtime) {
      enter_started_region(reader, i);
      add_frame(reader, &reader->frames[i--]);
      continue;
    }
    int outer = i;
    while (i > 0 && reader->frames[i - 1].runtime)
      i--;
    if (outer + 1 < reader->count)
      add_tail_caller(reader, &reader->frames[outer + 1]);
    if (read_run(reader, i--, outer, innermost))
      return true;
  }
  return false;
}

/* The innermost frame of the run from which the runtime has called the task at end_sp; -1 if the walk did not end
 * there: the exit frames of some undeferred tasks lie anywhere. */
static int task_run(const struct stack_reader *reader)
{
  int outer = reader->count - 1;
  outer -= outer > 0 && !reader->frames[outer].runtime; /* the first frame beyond end_sp */
  int inner = outer;
  while (inner > 0 && reader->frames[inner - 1].runtime)
    inner--;
  return reader->frames[outer].runtime && within(reader, reader->end_sp, inner, reader->count - 1) ? inner : -1;
}

/* Reads a stack that was walked up to a task whose region is known.  The same as read_stack(). */
static bool read_task(struct stack_reader *reader, int innermost)
{
  int inner = reader->cut ? reader->count : task_run(reader);
  go_on_at(reader, reader->task_region, reader->task_filtered);
  add_region(reader);
  if (inner == 0) { /* the task has not begun, or has ended */
    reader->node = child(reader, FORMAT_KIND_RUNTIME, 0, 0);
    return true;
  }
  enter_task(reader, &reader->tasks[0], inner);
  if (reader->cut)
    reader->node = child(reader, FORMAT_KIND_PARTIAL, 0, 0);
  else if (reader->caller && only_tool_inside(reader, inner - 1))
    add_jump(reader, reader->code);
  return read_frames(reader, inner - 1, innermost);
}

/* Does the stack end outside the thread's own one?  Then the program has switched stacks: it runs a coroutine. */
static bool on_other_stack(const struct stack_reader *reader)
{
  const struct thread_state *t = reader->t;
  uint64_t sp = reader->frames[reader->count - 1].sp;
  return t->stack_high && (sp < t->stack_low || sp > t->stack_high);
}

/* The region in which a coroutine was resumed, as region_around() has it. */
static uint32_t region_of_coroutine(const struct stack_reader *reader, uint32_t *filtered)
{
  uint64_t low = reader->frames[0].sp, high = reader->frames[reader->count - 1].sp;
  return region_around(reader->t, low, high + 1, filtered);
}

/* Nothing shows what has resumed a coroutine, only in which region of the thread that was. */
static void enter_coroutine(struct stack_reader *reader)
{
  uint32_t filtered, base = region_of_coroutine(reader, &filtered);
  if (base != CCT_NONE) {
    go_on_at(reader, base, filtered);
    add_region(reader);
  }
  if (reader->cut || base == CCT_NONE)
    reader->node = child(reader, FORMAT_KIND_PARTIAL, 0, 0);
}

/* Reads the whole stack.  Returns whether the path ends in the runtime. */
static bool read_stack(struct stack_reader *reader)
{
  struct thread_state *t = reader->t;
  reader->node = reader->left_out ? reader->stop : CCT_ROOT;
  reader->region_node = CCT_NONE;
  int called = 0;
  while (called < reader->count && reader->frames[called].tool)
    called++;
  if (reader->caller && !reader->target && called < reader->count && !reader->frames[called].runtime)
    reader->caller = false; /* the runtime has jumped into the callback and left no frame */
  int innermost = innermost_run(reader);
  if (reader->task_region != CCT_NONE)
    return read_task(reader, innermost);
  if (on_other_stack(reader)) {
    enter_coroutine(reader);
    return read_frames(reader, reader->count - 1, innermost);
  }
  if (t->activity.openmp && sampling_of(t)->base_region) {
    int first = enter_base(reader, innermost);
    if (first < 0)
      return true;
    return read_frames(reader, first, innermost);
  }
  if (reader->cut) {
    uint32_t filtered, base = region_around(t, 0, reader->frames[reader->count - 1].sp, &filtered);
    if (base != CCT_NONE) {
      go_on_at(reader, base, filtered);
      add_region(reader);
    }
    reader->node = child(reader, FORMAT_KIND_PARTIAL, 0, 0);
  }
  return read_frames(reader, reader->count - 1, innermost);
}

static bool begins_undeferred(const struct stack_reader *reader)
{
  return rt_begins_undeferred(reader->t, reader->sp);
}

/* What the runtime knows of a task. */
struct known_task {
  int flags;
  const void *frame; /* where its frames are kept: differs between tasks */
  uint64_t exit_frame, word;
};

/* While an undeferred task begins: the task whose code creates it, from the graph, without its frames. */
static bool find_creator(const struct stack_reader *reader, struct known_task *task)
{
  uint32_t index = span_process.online ? explicit_task_called(reader->t) : 0;
  if (!index)
    return false;
  uint32_t flags = graph_task(index)->flags;
  *task = (struct known_task){.flags = flags & TASK_IMPLICIT ? ompt_task_implicit : ompt_task_explicit,
                              .word = flags & TASK_IMPLICIT ? 0 : rt_task_word(index)};
  if (flags & TASK_DIRECT) /* too many are one within another */
    task->flags |= ompt_task_undeferred;
  return true;
}

/* Finds a task on this stack; level 0 is the current one.  Returns false if there is none. */
static bool find_task(const struct stack_reader *reader, int level, struct known_task *task)
{
  enum { LOWEST_POINTER = 65536 };
  ompt_frame_t *frame = NULL;
  ompt_data_t *data = NULL;
  task->word = 0;
  if (level > 0 && begins_undeferred(reader))
    return level == 1 && find_creator(reader, task);
  if (!rt_task_info(level, &task->flags, &data, &frame))
    return false;
  task->frame = frame;
  if (level > 0)
    return sys_peek((uint64_t)&frame->exit_frame, &task->exit_frame, sizeof task->exit_frame) &&
           sys_peek((uint64_t)data, &task->word, sizeof task->word);
  task->exit_frame = frame->exit_frame.value;
  if ((uint64_t)data >= LOWEST_POINTER)
    task->word = data->value;
  return true;
}

/* Finds the tasks on this stack: the current one, and with sampling_process.task_creation the explicit ones outside it,
 * up to one whose creation context is known. */
static void find_tasks(struct stack_reader *reader)
{
  int count = sampling_process.task_creation ? TASK_LEVELS : 1;
  struct known_task task = {0};
  reader->exit_frame = 0;
  reader->task_flags = reader->tasks_count = 0;
  reader->task_frame = NULL;
  reader->direct = false;
  if (!reader->t->activity.openmp || !rt.ompt)
    return;
  for (int i = 0; i < count && find_task(reader, reader->level + i, &task); i++) {
    if (i == 0) {
      reader->exit_frame = task.exit_frame;
      reader->task_flags = task.flags;
      reader->task_frame = task.frame;
      reader->direct = span_process.online && task.flags & ompt_task_explicit && explicit_task_direct(task.word);
    }
    uint32_t creation_context =
        span_process.online ? explicit_task_creation_context(task.word) : rt_task_index(task.word);
    if (!(task.flags & (ompt_task_explicit | ompt_task_target)))
      continue;
    reader->tasks[reader->tasks_count++] = (struct task_level){
        task.exit_frame, creation_context, span_process.online ? explicit_task_directive(task.word) : 0};
    if (!sampling_process.task_creation || !creation_context || !task.exit_frame)
      continue;
    reader->end_sp = task.exit_frame; /* what lies outside the task is not needed */
    break;
  }
}

/* Without creation contexts, a task's path begins in its region: if the node of that is known, the stack outside the
 * task is not needed.  Tasks that are run within the waits of others can make it deeper than a walk goes. */
static void end_at_task(struct stack_reader *reader)
{
  const struct thread_state *t = reader->t;
  if (sampling_process.task_creation || !reader->tasks_count || reader->exit_frame < t->stack_low ||
      reader->exit_frame >= t->stack_high)
    return;
  reader->task_region = region_around(reader->t, 0, reader->exit_frame, &reader->task_filtered);
  if (reader->task_region != CCT_NONE)
    reader->end_sp = reader->exit_frame;
}

/* Unwinds from the registers; NULL: from here. */
static void unwind(struct stack_reader *reader, const machine_register_t *registers)
{
  struct thread_state *t = reader->t;
  forget_unloaded(t);
  bool apart = counts_leave_out(t); /* page faults of reading tables and the stack */
  if (registers)
    reader->count = unwind_walk(t, registers, reader->end_sp, sampling_of(t)->frames, &reader->cut);
  else
    reader->count = unwind_here(t, reader->end_sp, sampling_of(t)->frames, &reader->cut);
  if (apart)
    counts_own_end(t);
  classify(reader);
}

/* Does the exit frame of the current task lie in a run of runtime frames? */
static bool has_exit(const struct stack_reader *reader)
{
  for (int inner = 0, outer; inner < reader->count; inner = outer + 1) {
    outer = inner;
    if (!reader->frames[inner].runtime)
      continue;
    while (outer + 1 < reader->count && reader->frames[outer + 1].runtime)
      outer++;
    if (exit_in(reader, inner, outer))
      return true;
  }
  return false;
}

/* Does code of the program run the current task itself?  Clang's code does so with undeferred tasks: it calls libomp
 * when such a task begins and ends, and the frames of the task are those of the code that has created it.  libomp then
 * takes the exit frame from the frame pointer of its caller.  That can be another value, or still be the frame pointer
 * of the runtime's code that has called the task outside.  An untied task that the runtime has resumed from within it
 * is its own task outside. */
static bool called_directly(const struct stack_reader *reader)
{
  const int directly = ompt_task_explicit | ompt_task_undeferred;
  struct known_task outside;
  if ((reader->task_flags & directly) != directly)
    return false;
  if (reader->direct || (!reader->level && begins_undeferred(reader)))
    return true;
  if (find_task(reader, reader->level + 1, &outside) && outside.frame != reader->task_frame && outside.exit_frame &&
      outside.exit_frame == reader->exit_frame)
    return true;
  return !reader->cut && !has_exit(reader);
}

/* The exit frame of a task of which only the graph knows: its code is outside the innermost run. */
static void place_exit(struct stack_reader *reader)
{
  int inner = innermost_run(reader) + 1;
  while (inner < reader->count && !reader->frames[inner].runtime)
    inner++;
  if (inner < reader->count)
    reader->exit_frame = reader->tasks[0].exit_frame = reader->frames[inner].sp;
}

/* Forgets the frames outside the task, as if the walk had ended there, if its region is known: they may be those of
 * other tasks, in whose waits it runs. */
static void end_at_outer_task(struct stack_reader *reader)
{
  int count = 1, whole = reader->count;
  end_at_task(reader);
  if (reader->task_region == CCT_NONE)
    return;
  while (count < whole && reader->frames[count - 1].sp <= reader->end_sp)
    count++;
  reader->count = count;
  if (task_run(reader) >= 0)
    return;
  reader->count = whole;
  reader->task_region = CCT_NONE;
  reader->end_sp = UINT64_MAX;
}

/* Takes the first task outside that the runtime has called for the current one.  The whole stack is needed. */
static void leave_direct_tasks(struct stack_reader *reader, const machine_register_t *registers)
{
  bool whole = reader->end_sp == UINT64_MAX;
  do {
    reader->level++;
    find_tasks(reader);
    reader->end_sp = UINT64_MAX;
    if (!whole)
      unwind(reader, registers);
    whole = true;
    if (reader->tasks_count && !reader->exit_frame)
      place_exit(reader);
  } while (called_directly(reader) && reader->level < DIRECT_LEVELS && !begins_undeferred(reader));
  reader->cut |= called_directly(reader);
  reader->task_region = CCT_NONE;
  if (!reader->cut)
    end_at_outer_task(reader);
}

/* Finds the tasks and the frames that are needed. */
static void walk(struct stack_reader *reader, const machine_register_t *registers)
{
  find_tasks(reader);
  end_at_task(reader);
  unwind(reader, registers);
  if (called_directly(reader)) {
    leave_direct_tasks(reader, registers);
  } else if (reader->task_region != CCT_NONE && !reader->cut && task_run(reader) < 0) {
    reader->task_region = CCT_NONE;
    reader->end_sp = UINT64_MAX;
    unwind(reader, registers);
  }
  uint32_t filtered;
  if (reader->cut || (on_other_stack(reader) && region_of_coroutine(reader, &filtered) == CCT_NONE))
    rt_lost(reader->t, FORMAT_LOST_PARTIAL);
  if (unwind_has_guessed(reader->t))
    rt_lost(reader->t, FORMAT_LOST_GUESSED);
}

static struct stack_reader reader_of(struct thread_state *t)
{
  return (struct stack_reader){.t = t,
                               .filter = filter_now(),
                               .frames = sampling_of(t)->frames,
                               .sp = (uint64_t)__builtin_frame_address(0),
                               .end_sp = UINT64_MAX,
                               .task_region = CCT_NONE,
                               .stop = CCT_NONE};
}

/* The node to which something on a path is charged: with a filter that includes, another one if the path lacks what it
 * includes. */
static uint32_t charged(const struct stack_reader *reader)
{
  uint32_t filtered = reader->filtered;
  if (__builtin_expect(!(reader->filter->needs & ~filtered) || filtered & FORMAT_FILTERED_OUT, 1))
    return reader->node;
  return cct_child(reader->t, CCT_ROOT, (struct cct_key){FORMAT_KIND_FILTERED, 0, 0});
}

/* Before a stack is read whose path is charged: may the path have what a filter includes?  Otherwise it is not made. */
static void choose_path(struct stack_reader *reader) __attribute__((noinline));
static void choose_path(struct stack_reader *reader)
{
  const struct thread_state *t = reader->t;
  uint32_t found = region_filtered(t);
  if (reader->task_region != CCT_NONE)
    found |= reader->task_filtered;
  for (int i = 0; i < reader->count; i++)
    found |= reader->frames[i].filtered;
  for (unsigned i = 0; i < construct_of(t)->user_depth && i < RT_USER_REGIONS; i++)
    found |= construct_of(t)->user_regions[i].wanted ? FORMAT_FILTERED_REGION : 0;
  if (reader->cut || (sampling_process.task_creation && reader->tasks_count) || !(reader->filter->needs & ~found) ||
      found & FORMAT_FILTERED_OUT)
    return;
  reader->left_out = true;
  reader->stop = cct_child(reader->t, CCT_ROOT, (struct cct_key){FORMAT_KIND_FILTERED, 0, 0});
}

uint32_t context_interrupted(struct thread_state *t, const machine_register_t *registers, bool *overhead)
{
  struct stack_reader reader = reader_of(t);
  reader.interrupted = true;
  reader.sp = machine_sp_of(registers);
  walk(&reader, registers);
  if (__builtin_expect(reader.filter->needs, 0))
    choose_path(&reader);
  *overhead = read_stack(&reader);
  return charged(&reader);
}

struct call_site context_caller(struct thread_state *t, uint64_t code)
{
  struct stack_reader reader = reader_of(t);
  reader.caller = true;
  reader.code = code;
  walk(&reader, NULL);
  read_stack(&reader);
  struct call_site site = {.node = reader.node, .entered = reader.entered, .filtered = reader.filtered};
  while (site.first < reader.count && reader.frames[site.first].tool)
    site.first++;
  while (site.first < reader.count && reader.frames[site.first].runtime)
    site.first++;
  for (site.end = site.first; site.end < reader.count && !reader.frames[site.end].runtime;)
    site.end++;
  return site;
}

uint32_t context_met(struct thread_state *t)
{
  struct stack_reader reader = reader_of(t);
  reader.caller = true;
  walk(&reader, NULL);
  if (reader.filter->needs)
    choose_path(&reader);
  read_stack(&reader);
  return charged(&reader);
}

uint32_t context_met_at(struct thread_state *t, struct context_return returns[], unsigned room, unsigned *count)
{
  struct stack_reader reader = reader_of(t);
  reader.caller = true;
  walk(&reader, NULL);
  int i = 0;
  *count = 0;
  while (i < reader.count && reader.frames[i].tool)
    i++;
  for (; i < reader.count && *count < room; i++) {
    const struct frame *frame = &reader.frames[i];
    uint64_t slot = *count ? frame->return_at : frame->sp - sizeof(uint64_t); /* mpi_entries.S puts the first there */
    bool readable = !*count || (slot >= t->stack_low && slot < t->stack_high);
    if (!readable || frame->guessed || machine_address(*(const uint64_t *)slot) != frame->ip + 1)
      break;
    returns[(*count)++] = (struct context_return){slot, *(const uint64_t *)slot};
  }
  if (reader.filter->needs)
    choose_path(&reader);
  read_stack(&reader);
  return charged(&reader);
}

/* The number of frames up to the one in which the address lies; 0: none. */
static int frames_up_to(const struct stack_reader *reader, uint64_t address)
{
  int i = 0;
  while (i + 1 < reader->count && reader->frames[i + 1].sp <= address)
    i++;
  return i + 1 < reader->count && reader->frames[i].sp <= address ? i + 1 : 0;
}

uint32_t context_call(struct thread_state *t, uint64_t inside)
{
  struct stack_reader reader = reader_of(t);
  walk(&reader, NULL);
  int skipped = frames_up_to(&reader, inside);
  reader.frames += skipped;
  reader.count -= skipped;
  read_stack(&reader);
  return charged(&reader);
}

uint64_t context_frame_end(struct thread_state *t, uint64_t inside)
{
  struct stack_reader reader = reader_of(t);
  unwind(&reader, NULL);
  int i = frames_up_to(&reader, inside);
  while (i < reader.count && reader.frames[i].tool)
    i++;
  return i + 1 < reader.count ? reader.frames[i + 1].sp : 0;
}

void context_publish(struct thread_state *t, struct format_region *region)
{
  struct stack_reader reader = reader_of(t);
  reader.caller = true;
  reader.target = region;
  if (sampling_process.task_creation)
    find_tasks(&reader);
  unwind(&reader, NULL);
  read_stack(&reader);
  if (!region_known(region)) /* no entry into the runtime was found: the context will stay unknown */
    region_publish(t, region, cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_PARTIAL, 0, 0}), 0);
}

void context_publish_open(struct thread_state *t)
{
  struct stack_reader reader = reader_of(t);
  find_tasks(&reader);
  reader.end_sp = UINT64_MAX;
  unwind(&reader, NULL);
  read_stack(&reader);
}
