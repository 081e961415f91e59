/* What devices did when, as far as the host knows: from the intervals of its threads.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_DEVICE_USES_H
#define HPCPROF_LITE_REPORT_DEVICE_USES_H

#include "hpcprof-lite/report/report.h"

enum device_action { DEVICE_COPY_TO, DEVICE_COPY_FROM, DEVICE_OTHER, DEVICE_ACTIONS };

struct device_use {
  uint32_t process, device; /* position; number as in struct format_directive */
  uint32_t action;          /* enum device_action; OTHER: the remaining time of target constructs, but target data */
  uint32_t construct;       /* entry of the tree of constructs: of the copy, or of the target construct */
  uint64_t start_ns, end_ns;
};

/* A device of a process. */
struct device_lane {
  uint32_t process, device; /* as in struct device_use */
  uint32_t first, end;      /* its uses, in the order of time: [first, end) */
};

struct device_lanes {
  struct device_lane *lanes; /* by process and device */
  uint32_t count;
  struct device_use *uses;
  uint32_t uses_count;
  size_t room, uses_room;
};

typedef void device_uses_visit(void *context, const struct device_use *use);

/* Delivers the uses of all devices in the range; those of a device follow each other and do not overlap, whatever the
 * threads' intervals do.  Nothing without devices.  Returns 0 or an error. */
int device_uses_each(const struct report *report, device_uses_visit *visit, void *context);

/* The same, device by device: 32 bytes a use.  The caller releases the lanes, also after an error. */
int device_lanes_read(const struct report *report, struct device_lanes *lanes);
void device_lanes_release(struct device_lanes *lanes);

#endif
