#include "hpcprof-lite/model/loss_names.h"

#include "common/format.h"

_Static_assert((int)LOSS_MAX == FORMAT_LOST_MAX && (int)LOSS_MARKS == FORMAT_LOST_MARKS, "same losses");

const char *loss_name(enum profile_loss loss)
{
  return format_loss_name(loss);
}

const char *loss_text(enum profile_loss loss, uint64_t count)
{
  return format_loss_text(loss, count);
}

const char *loss_remedy(enum profile_loss loss)
{
  return format_loss_remedy(loss);
}
