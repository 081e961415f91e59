#define _GNU_SOURCE
#include "hpcrun-lite/rt/sample.h"

#include <errno.h>
#include <ucontext.h>

#include "hpcrun-lite/rt/cct.h"
#include "hpcrun-lite/rt/context.h"
#include "hpcrun-lite/rt/region.h"
#include "hpcrun-lite/rt/source.h"

struct rt_process rt;
__thread struct thread_state *rt_self;
const char sample_publish;

/* Columns of a value record: samples, work, overhead, then the other events in their order. */
enum { METRIC_SAMPLES = 0, METRIC_WORK = 1, METRIC_OVERHEAD = 2 };

static unsigned event_metric(unsigned event)
{
  unsigned column = rt.driver < 0 ? 1 : 3;
  for (unsigned i = 0; i < event; i++)
    column += (int)i != rt.driver;
  return column;
}

/* Samples of threads that idle or wait for a lock charge nothing to their own context: they are counted, and it is here
 * that they will be charged to their causes. */
static bool charge_waiting(struct thread_state *t, uint64_t weight)
{
  struct format_thread *record = t->record;
  if (t->lockwait) {
    record->samples_lockwait++;
    record->lockwait_sampled_ns += weight;
  } else if (t->idle) {
    record->samples_idle++;
    record->idle_sampled_ns += weight;
  }
  return t->lockwait || t->idle;
}

static void charge(struct thread_state *t, unsigned event, uint64_t weight, const ucontext_t *context)
{
  bool driver = (int)event == rt.driver, overhead;
  bool counted = driver || (rt.driver < 0 && event == 0);
  if (counted)
    t->record->samples++;
  if (driver && charge_waiting(t, weight)) {
    if (region_wanted(t)) /* not sampled in user code, but others wait to learn where our regions come from */
      context_publish_open(t);
    return;
  }
  region_fold(t);
  uint32_t node = context_interrupted(t, context->uc_mcontext.gregs, &overhead);
  unsigned column = driver ? (overhead ? METRIC_OVERHEAD : METRIC_WORK) : event_metric(event);
  if (node == CCT_NONE || !cct_add(t, node, column, weight) || (counted && !cct_add(t, node, METRIC_SAMPLES, 1)))
    rt_lost(t, FORMAT_LOST_MEMORY);
}

static void refuse(struct thread_state *t, const struct source *source, uint64_t weight)
{
  t->record->lost[FORMAT_LOST_REFUSED]++;
  if ((int)source->event == rt.driver)
    t->record->tool_ns += weight;
}

static bool wants_publication(const siginfo_t *info)
{
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &sample_publish;
}

bool sample_signal(const siginfo_t *info, void *context)
{
  struct thread_state *t = rt_self;
  if (!t)
    return false;
  bool publish = wants_publication(info);
  struct source *source = publish ? NULL : source_of(t, info);
  if (!source && !publish)
    return false;
  int saved_errno = errno;
  if (!rt_closed() || publish) {
    uint64_t weight = source ? source_weight(t, source) : 0;
    if (source && atomic_load_explicit(&rt.paused, memory_order_relaxed)) {
      /* weighed, so that the time until now does not count later, and dropped */
    } else if (rt_enter(t)) {
      if (publish)
        context_publish_open(t);
      else if (!rt_closed()) /* the one who closes waits for those inside */
        charge(t, source->event, weight, context);
      rt_leave(t);
    } else if (source) {
      refuse(t, source, weight);
    }
  }
  errno = saved_errno;
  return true;
}
