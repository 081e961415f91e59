#include "hpcrun-lite/process/losses.h"

#include <stdbool.h>
#include <stdio.h>

#include "common/format.h"

/* The report may not show these losses: they concern the files that it is made from. */
static bool remedy_here(unsigned loss)
{
  return loss == FORMAT_LOST_WRITES || loss == FORMAT_LOST_LOG || loss == FORMAT_LOST_UNKEPT;
}

void losses_text(const uint64_t *lost, char text[LOSSES_TEXT_MAX])
{
  size_t at = 0;
  bool elsewhere = false;
  for (unsigned i = 0; format_loss_name(i) && at < LOSSES_TEXT_MAX; i++) {
    if (!lost[i])
      continue;
    at += (size_t)snprintf(text + at, LOSSES_TEXT_MAX - at, "%s%llu %s", at ? ", " : "", (unsigned long long)lost[i],
                           format_loss_text(i, lost[i]));
    if (remedy_here(i) && at < LOSSES_TEXT_MAX)
      at += (size_t)snprintf(text + at, LOSSES_TEXT_MAX - at, " (%s)", format_loss_remedy(i));
    elsewhere |= !remedy_here(i);
  }
  if (elsewhere && at < LOSSES_TEXT_MAX)
    snprintf(text + at, LOSSES_TEXT_MAX - at, "; remedies: see 'Measurement quality' in hpcprof-lite's summary");
  if (!at)
    snprintf(text, LOSSES_TEXT_MAX, "nothing lost");
}
