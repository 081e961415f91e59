#include "hpcrun-lite/launch/finding.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"

enum { WIDTH = 80, INDENT = 13 };

/* The length of the text's first line: up to the last space that fits; a word that does not fit is not broken. */
static size_t fitting(const char *text)
{
  size_t length = strlen(text), room = WIDTH - INDENT, take = room;
  if (length <= room)
    return length;
  while (take > 0 && text[take] != ' ')
    take--;
  return take > 0 ? take : strcspn(text, " ");
}

void finding(bool good, const char *topic, const char *format, ...)
{
  static char unescaped[3 * PATH_MAX], text[2 * sizeof unescaped];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(unescaped, sizeof unescaped, format, arguments);
  va_end(arguments);
  escape_text(unescaped, text, sizeof text);
  const char *at = text;
  printf("%s %-9s ", good ? "ok" : "!!", topic);
  for (size_t take; *at; at += take, at += strspn(at, " ")) {
    take = fitting(at);
    printf("%*s%.*s\n", at == text ? 0 : INDENT, "", (int)take, at);
  }
}
