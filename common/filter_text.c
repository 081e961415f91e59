#include "common/filter_text.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "common/hash.h"

static const char *const keys[FILTER_KEYS] = {
    [FILTER_KEY_THREADS] = "threads",
    [FILTER_KEY_RANKS] = "ranks",
    [FILTER_KEY_SKIP_FIRST] = "skip-first",
    [FILTER_KEY_ONLY] = "only",
    [FILTER_KEY_REGIONS] = "regions",
    [FILTER_KEY_FUNCTIONS] = "functions",
    [FILTER_KEY_MODULES] = "modules",
    [FILTER_KEY_CONSTRUCTS] = "constructs",
    [FILTER_KEY_CODE] = "code",
    [FILTER_KEY_CODE_FILE] = "code-file",
    [FILTER_KEY_CODE_OF] = "code-of",
    [FILTER_KEY_CODE_MISSING] = "code-missing",
};

bool filter_text_next(const char **at, struct filter_line *line)
{
  while (**at) {
    const char *end = *at + strcspn(*at, "\n");
    line->whole = filter_list_trim(*at, end);
    *at = *end ? end + 1 : end;
    if (!line->whole.length)
      continue;
    const char *word = line->whole.text, *stop = word + line->whole.length, *behind = word;
    while (behind < stop && !filter_list_blank(*behind))
      behind++;
    unsigned key = 0;
    while (key < FILTER_KEYS && !filter_list_is((struct filter_part){word, (size_t)(behind - word)}, keys[key]))
      key++;
    line->key = (enum filter_key)key;
    line->value = filter_list_trim(behind, stop);
    return true;
  }
  return false;
}

uint64_t filter_text_hash(const char *text)
{
  struct filter_line line;
  uint64_t hash = 0;
  while (filter_text_next(&text, &line))
    if (filter_key_is_users(line.key))
      hash = hash_bytes(hash_bytes(hash, line.whole.text, line.whole.length), "\n", 1);
  return hash;
}

bool filter_text_ns(struct filter_part value, uint64_t *ns)
{
  return value.length && filter_list_number(value, ns) == value.length;
}

/* Takes the last word off. */
static struct filter_part last_word(struct filter_part *part)
{
  const char *end = part->text + part->length, *word = end;
  while (word > part->text && !filter_list_blank(word[-1]))
    word--;
  *part = filter_list_trim(part->text, word);
  return (struct filter_part){word, (size_t)(end - word)};
}

bool filter_text_code(struct filter_part value, struct filter_code_line *code)
{
  struct filter_part what = last_word(&value), how = last_word(&value), end = last_word(&value),
                     start = last_word(&value);
  code->module = value; /* its name may have blanks */
  code->construct = filter_list_is(what, "construct");
  code->excludes = filter_list_is(how, "exclude");
  return value.length && (code->construct || filter_list_is(what, "function")) &&
         (code->excludes || filter_list_is(how, "include")) && filter_text_ns(start, &code->start) &&
         filter_text_ns(end, &code->end) && code->start < code->end;
}

#define NAME(prefix, enumerator, name) name,

static const char *const kind_names[FORMAT_CONSTRUCT_KINDS] = {FORMAT_CONSTRUCT_LIST(NAME)};

enum { KIND_FIRST = FORMAT_DIRECTIVE_PROGRAM + 1 }; /* the program itself cannot be left out */

int filter_text_kind(struct filter_part name)
{
  for (int kind = KIND_FIRST; kind < FORMAT_CONSTRUCT_KINDS; kind++)
    if (filter_list_is(name, kind_names[kind]))
      return kind;
  return -1;
}

bool filter_text_line(struct filter_part place, struct filter_part *file, uint32_t *line)
{
  uint64_t number;
  const char *colon = NULL;
  for (size_t i = 0; i < place.length; i++)
    colon = place.text[i] == ':' ? place.text + i : colon;
  if (!colon || colon == place.text)
    return false;
  struct filter_part digits = {colon + 1, (size_t)(place.text + place.length - colon - 1)};
  *file = (struct filter_part){place.text, (size_t)(colon - place.text)};
  bool valid = digits.length && filter_list_number(digits, &number) == digits.length && number && number <= UINT32_MAX;
  *line = valid ? (uint32_t)number : 0;
  return valid;
}

/* ---- what can be used ---- */

enum { NUMBER_MAX = 999999 };

/* Writes the reason why an item cannot be used, which it begins with. */
static bool refuse(struct filter_part item, const char *why, char *message, size_t size)
{
  snprintf(message, size, "'%.*s'%s", (int)(item.length < 60 ? item.length : 60), item.text, why);
  return false;
}

static bool check_range(struct filter_part item, char *message, size_t size)
{
  struct filter_part from, to = item;
  const char *dash = item.length ? memchr(item.text, '-', item.length) : NULL;
  uint64_t first, last;
  from = dash ? (struct filter_part){item.text, (size_t)(dash - item.text)} : item;
  if (dash)
    to = (struct filter_part){dash + 1, item.length - from.length - 1};
  if (!filter_text_ns(from, &first) || !filter_text_ns(to, &last) || first > NUMBER_MAX || last > NUMBER_MAX)
    return refuse(item, " is no number up to 999999 or range; write, for example, 0-3,8", message, size);
  return first <= last || refuse(item, " is an empty range; write the smaller number first", message, size);
}

/* A '[' that is closed nowhere is a mistake; in "operator[]" the set is empty, and its characters are ordinary ones. */
static bool check_pattern(struct filter_part item, char *message, size_t size)
{
  bool open = false;
  for (size_t i = 0; i < item.length; i++)
    open = item.text[i] == '[' || (open && item.text[i] != ']');
  return !open ||
         refuse(item, " has '[' without ']'; write, for example, [a-z], or [[] for that character", message, size);
}

static bool check_construct(struct filter_part item, char *message, size_t size)
{
  struct filter_part file;
  uint32_t line;
  if (filter_text_kind(item) >= 0 || filter_text_line(item, &file, &line))
    return true;
  int length = snprintf(message, size, "unknown construct '%.*s'; write FILE:LINE or one of ",
                        (int)(item.length < 60 ? item.length : 60), item.text);
  for (int kind = KIND_FIRST; kind < FORMAT_CONSTRUCT_KINDS; kind++)
    if (length > 0 && (size_t)length < size)
      length +=
          snprintf(message + length, size - (size_t)length, "%s%s", kind == KIND_FIRST ? "" : ", ", kind_names[kind]);
  return false;
}

static bool check_item(enum filter_key key, const struct filter_item *item, char *message, size_t size)
{
  bool numbers = key == FILTER_KEY_THREADS || key == FILTER_KEY_RANKS;
  if (item->excludes && (numbers || key == FILTER_KEY_REGIONS))
    return refuse((struct filter_part){item->part.text - 1, item->part.length + 1},
                  ": '!' excludes functions, modules and constructs only; remove it", message, size);
  if (!item->part.length) {
    const char *reason = "the list has an empty item; remove the comma before or behind it";
    if (item->excludes)
      reason = "nothing stands behind '!'; write, for example, !init*";
    snprintf(message, size, "%s", reason);
    return false;
  }
  if (numbers)
    return check_range(item->part, message, size);
  if (key == FILTER_KEY_FUNCTIONS || key == FILTER_KEY_MODULES)
    return check_pattern(item->part, message, size);
  return key != FILTER_KEY_CONSTRUCTS || check_construct(item->part, message, size);
}

bool filter_text_check_list(enum filter_key key, struct filter_part list, char *message, size_t message_size)
{
  struct filter_item item;
  while (filter_list_item(&list, &item))
    if (!check_item(key, &item, message, message_size))
      return false;
  return true;
}

static bool check_line(const struct filter_line *line, char *message, size_t size)
{
  struct filter_code_line code;
  uint64_t ns;
  const char *reason = "has no value";
  bool fine = line->value.length;
  if (line->key == FILTER_KEYS) {
    reason = "is no filter; there are threads, ranks, skip-first, only, regions, functions, modules and constructs";
    fine = false;
  } else if (line->key == FILTER_KEY_CODE) {
    reason = "is damaged; leave such lines to hpcrun-lite";
    fine = filter_text_code(line->value, &code);
  } else if (line->key == FILTER_KEY_SKIP_FIRST || line->key == FILTER_KEY_ONLY) {
    reason = "takes a time above 0 in ns";
    fine = filter_text_ns(line->value, &ns) && ns;
  } else if (fine && filter_key_is_users(line->key)) {
    return filter_text_check_list(line->key, line->value, message, size);
  }
  snprintf(message, size, "%s", fine ? "" : reason);
  return fine;
}

bool filter_text_check(const char *text, char *message, size_t message_size)
{
  struct filter_line line;
  char reason[512];
  while (filter_text_next(&text, &line))
    if (!check_line(&line, reason, sizeof reason)) {
      snprintf(message, message_size, "filter: '%.*s': %s", (int)(line.whole.length < 200 ? line.whole.length : 200),
               line.whole.text, reason);
      return false;
    }
  return true;
}
