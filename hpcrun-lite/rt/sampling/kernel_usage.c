#include "hpcrun-lite/rt/sampling/kernel_usage.h"

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/core/touch.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/counts/usage.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"

/* The kernel is asked for the figures before that one. */
enum { ASKED = FORMAT_USAGE_CREATED };

static void set_figures(uint64_t figures[ASKED], const struct sys_usage *usage)
{
  figures[FORMAT_USAGE_USER] = usage->user_ns;
  figures[FORMAT_USAGE_SYSTEM] = usage->system_ns;
  figures[FORMAT_USAGE_MINOR_FAULTS] = usage->minor_faults;
  figures[FORMAT_USAGE_MAJOR_FAULTS] = usage->major_faults;
  figures[FORMAT_USAGE_GIVEN_UP] = usage->given_up;
  figures[FORMAT_USAGE_SWITCHED_OUT] = usage->switched_out;
}

/* The figures of the calling thread, without the faults of the tool's new memory. */
static bool ask(uint64_t figures[ASKED])
{
  struct sys_usage usage;
  if (!sys_usage(&usage))
    return false;
  set_figures(figures, &usage);
  figures[FORMAT_USAGE_MINOR_FAULTS] -= touch_faults();
  return true;
}

/* The figures of another thread.  Its files round both times; their sum is the thread's CPU clock. */
static bool ask_other(const struct thread_state *t, uint64_t figures[ASKED])
{
  struct sys_usage usage;
  uint64_t cpu_ns = sys_cpu_ns_of(t->tid);
  if (!usage_of_thread(t->tid, &usage) || !cpu_ns)
    return false;
  usage.system_ns = usage.system_ns < cpu_ns ? usage.system_ns : cpu_ns;
  usage.user_ns = cpu_ns - usage.system_ns;
  set_figures(figures, &usage);
  figures[FORMAT_USAGE_MINOR_FAULTS] -= sampling_of(t)->kernel_usage.touched;
  return true;
}

/* One of the two times can be less than what was charged, because the kernel's estimate has changed, or what a sample
 * took was of the other one: the difference is taken from the other one, so that their sum stays right. */
static void settle(const uint64_t charged[ASKED], uint64_t now[ASKED])
{
  enum { USER = FORMAT_USAGE_USER, SYSTEM = FORMAT_USAGE_SYSTEM };
  for (unsigned i = USER; i <= SYSTEM; i++) {
    uint64_t *other = &now[USER + SYSTEM - i], short_of = charged[i] > now[i] ? charged[i] - now[i] : 0;
    short_of = short_of < *other ? short_of : *other;
    now[i] += short_of;
    *other -= short_of;
  }
}

static void charge_one(struct thread_state *t, uint32_t node, struct format_construct *construct, unsigned i,
                       uint64_t amount)
{
  t->record->usage[i] += amount;
  if (construct)
    construct->usage[i] += amount;
  if (!cct_add(t, node, sampling_process.usage_metric + i, amount))
    rt_lost(t, FORMAT_LOST_MEMORY);
}

void kernel_usage_charge(struct thread_state *t, uint32_t node)
{
  struct kernel_usage *usage = &sampling_of(t)->kernel_usage;
  if (!usage->on)
    return;
  uint64_t now = rt_ticks();
  struct format_construct *construct = construct_open_record(t);
  settle(usage->charged, usage->now);
  for (unsigned i = 0; i < ASKED; i++) {
    if (usage->now[i] <= usage->charged[i])
      continue;
    uint64_t amount = counts_measured(usage->now[i] - usage->charged[i], usage->charged_at, now);
    usage->charged[i] = usage->now[i];
    if (amount)
      charge_one(t, node, construct, i, amount);
  }
  usage->charged_at = now;
}

void kernel_usage_sample_begin(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct kernel_usage *usage = &sampling->kernel_usage;
  usage->nodes = sampling->nodes.count;
  usage->values = sampling->values.count;
  usage->on = usage->on && ask(usage->now);
}

/* A sample that takes longer has perhaps waited for a core: the kernel is asked what it has used. */
enum { LONG_SAMPLE_NS = 100000 };

/* Sets what the tool has caused since the sample began. */
static void set_own(const struct thread_state *t, uint64_t elapsed_ns, uint64_t own[ASKED])
{
  const struct sampling_thread *sampling = sampling_of(t);
  const struct kernel_usage *usage = &sampling->kernel_usage;
  bool same = usage->nodes == sampling->nodes.count && usage->values == sampling->values.count;
  if ((!same || elapsed_ns > LONG_SAMPLE_NS) && ask(own)) {
    for (unsigned i = 0; i < ASKED; i++)
      own[i] = own[i] > usage->now[i] ? own[i] - usage->now[i] : 0;
    return;
  }
  for (unsigned i = 0; i < ASKED; i++)
    own[i] = i == FORMAT_USAGE_USER ? elapsed_ns : 0;
}

void kernel_usage_sample_end(struct thread_state *t, uint64_t elapsed_ns)
{
  struct kernel_usage *usage = &sampling_of(t)->kernel_usage;
  uint64_t own[ASKED];
  if (!usage->on)
    return;
  set_own(t, elapsed_ns, own);
  for (unsigned i = 0; i < ASKED; i++) {
    usage->charged[i] += own[i];
    t->record->tool_usage[i] += own[i];
  }
  usage->touched = touch_faults();
}

void kernel_usage_start(struct thread_state *t)
{
  struct kernel_usage *usage = &sampling_of(t)->kernel_usage;
  usage->on = ask(usage->charged);
  usage->charged_at = rt_ticks();
  usage->touched = touch_faults();
}

void kernel_usage_charge_open(struct thread_state *t)
{
  struct kernel_usage *usage = &sampling_of(t)->kernel_usage;
  if (!usage->on || (t != rt_self && __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE)))
    return;
  if (t == rt_self ? ask(usage->now) : ask_other(t, usage->now))
    kernel_usage_charge(t, construct_open_node(t));
}

void kernel_usage_stop(struct thread_state *t)
{
  rt_inside_inc(t);
  kernel_usage_charge_open(t);
  sampling_of(t)->kernel_usage.on = false;
  rt_inside_dec(t);
}

void kernel_usage_created(struct thread_state *t, uint64_t elapsed_ns)
{
  if (!sampling_of(t)->kernel_usage.on || rt_paused() || rt_stopped())
    return;
  struct format_construct *construct = construct_open_record(t);
  bool known = construct && construct->node;
  uint32_t node = known ? construct->node : context_met(t);
  node = node == CCT_NONE ? CCT_ROOT : node;
  charge_one(t, node, construct, FORMAT_USAGE_CREATED, 1);
  charge_one(t, node, construct, FORMAT_USAGE_CREATING, elapsed_ns);
}
