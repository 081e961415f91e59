#include "hpcrun-lite/launch/program/refusal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

bool refuse(char *message, size_t size, const char *format, ...)
{
  assert(message && size);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, size, format, arguments);
  va_end(arguments);
  return false;
}
