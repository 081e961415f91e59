#include "hpcrun-lite/process/losses.h"

#include <stdbool.h>
#include <stdio.h>

#include "common/format.h"

/* The report may not show these losses: they concern the files that it is made from. */
static bool remedy_here(unsigned loss)
{
  return loss == FORMAT_LOST_WRITES || loss == FORMAT_LOST_LOG || loss == FORMAT_LOST_UNKEPT;
}

/* The remedy of a loss of files; where the measurement file could not be written, the others were not for that reason.
 */
static const char *remedy_of(unsigned loss, const struct losses_write *write)
{
  return write->error ? format_write_remedy(write->error) : format_loss_remedy(loss);
}

/* Writes that the file is not written, but its data are kept.  Returns the length. */
static size_t put_kept(const struct losses_write *write, char *text)
{
  if (!write->error || write->kept == LOSSES_GONE)
    return 0;
  return (size_t)snprintf(text, LOSSES_TEXT_MAX, "file not written, its data kept in the live file (%s)",
                          format_write_remedy(write->error));
}

void losses_text(const uint64_t *lost, const struct losses_write *write, char text[LOSSES_TEXT_MAX])
{
  size_t at = put_kept(write, text);
  bool elsewhere = false;
  for (unsigned i = 0; format_loss_name(i) && at < LOSSES_TEXT_MAX; i++) {
    if (!lost[i])
      continue;
    at += (size_t)snprintf(text + at, LOSSES_TEXT_MAX - at, "%s%llu %s", at ? ", " : "", (unsigned long long)lost[i],
                           format_loss_text(i, lost[i]));
    if (remedy_here(i) && at < LOSSES_TEXT_MAX)
      at += (size_t)snprintf(text + at, LOSSES_TEXT_MAX - at, " (%s)", remedy_of(i, write));
    elsewhere |= !remedy_here(i);
  }
  if (elsewhere && at < LOSSES_TEXT_MAX)
    snprintf(text + at, LOSSES_TEXT_MAX - at, "; remedies: see 'Measurement quality' in hpcprof-lite's summary");
  if (!at)
    snprintf(text, LOSSES_TEXT_MAX, "nothing lost");
}
