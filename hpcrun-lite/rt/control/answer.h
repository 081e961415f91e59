/* The text of an answer to the commander.  What does not fit is left out.
 *
 * Context: RT. */
#ifndef HPCRUN_LITE_RT_CONTROL_ANSWER_H
#define HPCRUN_LITE_RT_CONTROL_ANSWER_H

#include <string.h>

#include "common/control_file.h"

static inline void answer_bytes(struct control_answer *answer, const char *text, size_t length)
{
  size_t room = sizeof answer->text - answer->length;
  length = length < room ? length : room;
  memcpy(answer->text + answer->length, text, length);
  answer->length += (uint32_t)length;
}

static inline void answer_text(struct control_answer *answer, const char *text)
{
  answer_bytes(answer, text, strlen(text));
}

static inline void answer_number(struct control_answer *answer, const char *name, uint64_t number)
{
  char digits[24];
  unsigned at = sizeof digits - 1;
  digits[at] = 0;
  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  answer_text(answer, name);
  answer_text(answer, digits + at);
}

#endif
