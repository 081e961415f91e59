/* The grains of a recorded process: task instances, chunks, and what implicit and initial tasks run outside chunks.
 *
 * Context: BATCH, one thread at a time.  Sources: "Grain Graphs: OpenMP Performance Analysis Made Easy" (Muddukrishna
 * et al., PPoPP 2016) and "Generating Grain Graphs Using the OpenMP Tools API" (Langdal) for the properties;
 * doc/grains.md defines them.
 *
 * grains_open() replays the graph log once and keeps a compact record of it in a temporary file (scratch_file.h), of
 * about the log's size.  grains_each() reads that backwards: at each point it knows what follows, so that the longest
 * path through a grain, and the synchronisation that joins it, are exact.  Grains are delivered from the last created
 * one to the first: `id` falls from call to call, and a grain comes after all grains that it has created.
 *
 * If a process is limited to a part of the run, only grains that ran in it are delivered, unless the visitor takes
 * events, too: those need the whole graph, in which nothing outside does work.
 *
 * Memory: live tasks, taskgroups and synchronisations; never the number of tasks.
 */
#ifndef HPCPROF_LITE_GRAINS_GRAINS_H
#define HPCPROF_LITE_GRAINS_GRAINS_H

#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/profile.h"

/* Functions may be NULL. */
struct grains_visitor {
  int (*grain)(void *context, const struct grain *grain);        /* returns 0, or an error that ends the pass */
  void (*event)(void *context, const struct grain_event *event); /* those of a grain come before it */
  void *context;
  bool without_paths; /* grain->path is NULL */
  const char *root;   /* path: only that grain and those below it are delivered; NULL: all */
};

/* Sums over the whole process. */
struct grains_totals {
  uint64_t count[GRAIN_KINDS], last_id;
  uint64_t work, span; /* work = the sum of exec of all grains */
  bool differs;        /* the log is incomplete or contradicts itself */
  struct grain_curve curve;
};

struct grains;

/* Replays the graph log of a process.  *out is NULL if there is no usable log.  What is wrong with the log is added to
 * problems.  Returns 0, or ERR_INPUT without space for the temporary file, which is then in problems too;
 * grains_close() in any case. */
int grains_open(const struct profile_process *process, struct problems *problems, struct grains **out);
void grains_close(struct grains *grains); /* NULL is allowed */

const struct grains_totals *grains_totals(const struct grains *grains);

/* Delivers all grains, and all events.  May be called again.  Returns 0, ERR_INPUT if the temporary file cannot be read
 * any more, or what visitor->grain has returned. */
int grains_each(struct grains *grains, const struct grains_visitor *visitor);

#endif
