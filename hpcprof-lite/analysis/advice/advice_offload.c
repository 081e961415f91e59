#include "hpcprof-lite/analysis/advice/advice_offload.h"

#include "common/order.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* Copies are many from this part of a target region's time on; regions are many and small from these figures on. */
static const double copies_part = 1.0 / 3, small_s = 50e-6;
enum { MANY = 100 };

/* What the executions of a target region do, in all threads. */
struct region {
  const struct construct_entry *at;
  double s, copies_s, memory_s; /* all; copying; allocating and releasing memory */
  uint64_t bytes;               /* copied */
};

static double time_of(const struct construct_entry *entry)
{
  return advice_seconds(construct_exec(&entry->sum));
}

static uint32_t device_of(const struct advice_run *run, const struct construct_entry *entry)
{
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  return entry->directive && entry->directive < workspan->directives_count
             ? workspan->directives[entry->directive].device
             : 0;
}

static struct region region_of(const struct construct_tree *tree, uint32_t number)
{
  struct region region = {.at = &tree->entries[number], .s = time_of(&tree->entries[number])};
  for (uint32_t i = number + 1; i < region.at->end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    if (entry->parent != number)
      continue;
    if (entry->kind == CONSTRUCT_COPY_TO_DEVICE || entry->kind == CONSTRUCT_COPY_FROM_DEVICE) {
      region.copies_s += time_of(entry);
      model_add(&region.bytes, entry->sum.bytes);
    } else if (entry->kind == CONSTRUCT_DEVICE_ALLOC || entry->kind == CONSTRUCT_DEVICE_FREE) {
      region.memory_s += time_of(entry);
    }
  }
  return region;
}

/* A finding about a region.  Its range begins at 0, since it is not known how much of it the program can do without. */
static void settle(const struct advice_run *run, struct advice_finding *found, const struct construct_entry *at,
                   const char *title, const struct advice_remedy *remedy, double high_s, const char *reason)
{
  advice_place(found, at, at);
  found->region = found->construct = at->region;
  found->title = title;
  found->remedy = remedy;
  found->low_s = 0;
  found->high_s = fmin(high_s, run->advice->elapsed_s);
  found->reason = reason;
}

/* Data that stays on the device is moved once, not for each execution. */
static void find_copies(const struct advice_run *run, const struct region *region)
{
  static const struct advice_remedy keep = {
      "Keep data on the device: target data around the code that executes the region again and again, or target enter "
      "data and target exit data; map(to) or map(from) for what is only read or written; target update for what the "
      "host needs meanwhile.",
      "Keep data on the device: target data around the executions", NULL};
  double executions = (double)region->at->sum.executions, threads = fmax(region->at->lines_count, 1);
  double moved_s = region->copies_s + region->memory_s, gain_s = moved_s * (executions - 1) / executions / threads;
  if (executions < 2 || region->copies_s < copies_part * region->s)
    return;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_OFFLOAD, gain_s,
      "%.0f executions copy %" PRIu64 " bytes in %.3f s, %.0f %% of their time, and allocate and release memory on "
      "the device for %.3f s; once would take %.3f s",
      executions, region->bytes, region->copies_s, 100 * region->copies_s / region->s, region->memory_s,
      moved_s / executions);
  settle(run, found, region->at, "copies to and from a device", &keep, gain_s,
         "whether the same data could stay on the device is not known");
}

static void find_small(const struct advice_run *run, const struct region *region)
{
  static const struct advice_remedy larger = {
      "Do more in one region: put the loop around it into the region, or merge neighbouring ones; if(N > LIMIT) where "
      "there is little work.",
      "More work in one region; if(N > LIMIT) for little work", NULL};
  double executions = (double)region->at->sum.executions, mean_s = region->s / fmax(executions, 1);
  double elapsed_s = region->s / fmax(region->at->lines_count, 1);
  if (executions < MANY || mean_s > small_s)
    return;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_OFFLOAD, elapsed_s / 2, "%.0f executions take %.3f s, %.1f us each on average",
                 executions, region->s, 1e6 * mean_s);
  settle(run, found, region->at, "target regions too small", &larger, elapsed_s,
         "how much of that is work on the device is not known");
}

/* If the host worked while the device does, the shorter one of both times would cost nothing. */
static void find_overlap(const struct advice_run *run, const struct region *longest)
{
  static const struct advice_remedy beside = {
      "Let host and device work at the same time: nowait on the target construct, and taskwait or depend where its "
      "results are needed, after work of the host that does not need them.",
      "nowait on the target, and taskwait or depend where its results are needed", NULL};
  const struct profile *profile = run->input->profile;
  double waited_s = advice_seconds(run->input->ns[TIMELINE_DEVICE]) / fmax(longest->at->lines_count, 1);
  uint64_t busy_ns = 0, beside_ns = 0, idle_ns = 0;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    for (uint32_t j = 0; j < profile->processes[i].devices_count; j++)
      if (!profile->processes[i].devices[j].on_host) {
        model_add(&busy_ns, profile->processes[i].devices[j].busy_ns);
        model_add(&beside_ns, profile->processes[i].devices[j].beside_ns);
      }
  for (uint32_t i = 0; i < profile->contexts.devices_count; i++)
    model_add(&idle_ns, profile->contexts.devices[i].ns);
  double both_s = fmin(waited_s, advice_seconds(idle_ns));
  if (beside_ns > busy_ns / ADVICE_MUCH)
    return;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_OFFLOAD, both_s / 2,
                 "Threads wait %.3f s for devices, which are busy for %.3f s, %.0f %% of it beside work of the host; "
                 "while devices are idle, the host works for %.3f s",
                 advice_seconds(run->input->ns[TIMELINE_DEVICE]), advice_seconds(busy_ns),
                 busy_ns ? 100 * (double)beside_ns / (double)busy_ns : 0, advice_seconds(idle_ns));
  settle(run, found, longest->at, "host and device take turns", &beside, both_s,
         "how much of the host's work does not need the results is not known");
}

static void find_no_device(const struct advice_run *run, const struct region *longest, double all_s, uint64_t all)
{
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_NO_DEVICE, all_s,
      "%" PRIu64 " target regions ran on the host for %.3f s, because the runtime has no device; the forecast is that "
      "of a device that takes no time",
      all, all_s);
  settle(run, found, longest->at, found->title, found->remedy, all_s, "how fast a device would be is not known");
}

void advice_offload_find(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  struct region awaited = {0}, alone = {0};
  double alone_s = 0;
  uint64_t alone_count = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t device = device_of(run, &tree->entries[i]);
    if (tree->entries[i].kind != DIRECTIVE_TARGET || !device)
      continue;
    const struct region region = region_of(tree, i);
    if (device == DEVICE_NONE) {
      alone_s += region.s / fmax(region.at->lines_count, 1);
      model_add(&alone_count, region.at->sum.executions);
      alone = !alone.at || region.s > alone.s ? region : alone;
      continue;
    }
    find_copies(run, &region);
    find_small(run, &region);
    awaited = !awaited.at || region.s > awaited.s ? region : awaited;
  }
  if (awaited.at && run->input->ns[TIMELINE_DEVICE])
    find_overlap(run, &awaited);
  if (alone.at)
    find_no_device(run, &alone, alone_s, alone_count);
}
