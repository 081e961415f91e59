#include "hpcrun-lite/launch/safety/known_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/control_file.h"
#include "common/filter_text.h"
#include "common/format.h"
#include "common/kept_file.h"
#include "common/safe_file.h"
#include "common/trial.h"

enum { RANDOM = 6, HASH = 16, PID_DIGITS = 10, START_DIGITS = 16, TEXT_MAX = 64 << 20 };

static const char digits[] = "0123456789", hexadecimal[] = "0123456789abcdef";

/* ---- names ---- */

/* A part of a name. */
struct part {
  const char *text;
  size_t length;
};

/* Takes "-" and what stands behind the last one off; false if there is none, or nothing before it. */
static bool take_last(struct part *part, struct part *last)
{
  size_t at = part->length;
  while (at && part->text[at - 1] != '-')
    at--;
  if (at < 2)
    return false;
  *last = (struct part){part->text + at, part->length - at};
  part->length = at - 1;
  return true;
}

static bool consists_of(struct part part, const char *characters, size_t most)
{
  size_t i = 0;
  while (i < part.length && strchr(characters, part.text[i]))
    i++;
  return i == part.length && i && i <= most;
}

static bool is_random(struct part part)
{
  size_t i = 0;
  while (i < part.length && isalnum((unsigned char)part.text[i]))
    i++;
  return i == part.length && i == RANDOM;
}

/* Takes HOST-PID apart. */
static bool take_process(struct part part, struct part *host, pid_t *pid)
{
  struct part number;
  if (!take_last(&part, &number) || !consists_of(number, digits, PID_DIGITS) || *number.text == '0')
    return false;
  long long value = strtoll(number.text, NULL, 10);
  *pid = (pid_t)value;
  *host = part;
  return value <= INT_MAX;
}

/* Takes HOST-PID-START apart. */
static bool take_stem(struct part part, struct part *host, pid_t *pid)
{
  struct part start;
  return take_last(&part, &start) && consists_of(start, hexadecimal, START_DIGITS) && take_process(part, host, pid);
}

/* The name without the suffix; of length 0 if it has another one. */
static struct part without(const char *name, const char *suffix)
{
  return (struct part){name, format_has_suffix(name, suffix) ? strlen(name) - strlen(suffix) : 0};
}

bool known_file_process(const char *name, const char *suffix, char *host, size_t host_size, pid_t *pid)
{
  struct part found;
  if (!take_stem(without(name, suffix), &found, pid) || found.length >= host_size)
    return false;
  memcpy(host, found.text, found.length);
  host[found.length] = '\0';
  return true;
}

bool known_file_has_name(const char *name, const char *suffix)
{
  struct part host;
  pid_t pid;
  return take_stem(without(name, suffix), &host, &pid);
}

/* HOST-PID-START-XXXXXX.index, which hpcprof-lite renames when it is complete. */
static bool is_new_index(const char *name)
{
  struct part part = without(name, FORMAT_INDEX_SUFFIX), random, host;
  pid_t pid;
  return take_last(&part, &random) && is_random(random) && take_stem(part, &host, &pid);
}

static bool is_control(const char *name, const char *suffix)
{
  size_t skip = strlen(CONTROL_PREFIX);
  struct part part = *suffix ? without(name, suffix) : (struct part){name, strlen(name)}, random, host;
  pid_t pid;
  if (part.length <= skip || strncmp(name, CONTROL_PREFIX, skip) != 0)
    return false;
  part = (struct part){name + skip, part.length - skip};
  return (!*suffix || (take_last(&part, &random) && is_random(random))) && take_process(part, &host, &pid);
}

/* unfinished: with .XXXXXX behind it. */
static bool is_code(const char *name, bool unfinished)
{
  size_t skip = strlen("code-"), length = strlen(name), whole = skip + HASH + strlen(FILTER_SUFFIX);
  if (length != whole + (unfinished ? 1 + RANDOM : 0) || strncmp(name, "code-", skip) != 0 ||
      !consists_of((struct part){name + skip, HASH}, hexadecimal, HASH) ||
      strncmp(name + skip + HASH, FILTER_SUFFIX, strlen(FILTER_SUFFIX)) != 0)
    return false;
  return !unfinished || (name[whole] == '.' && is_random((struct part){name + whole + 1, RANDOM}));
}

/* Also with -XXXXXX behind it. */
static bool is_debug_data(const char *name)
{
  static const char whole[] = FORMAT_DEBUG_DATA_NAME;
  size_t length = strlen(whole);
  if (strncmp(name, whole, length) != 0 || !name[length])
    return !strcmp(name, whole);
  return name[length] == '-' && is_random((struct part){name + length + 1, strlen(name + length + 1)});
}

/* unfinished: with -XXXXXX behind it. */
static bool is_trial(const char *name, bool unfinished)
{
  size_t length = strlen(TRIAL_FILE);
  if (strncmp(name, TRIAL_FILE, length) != 0 || !unfinished)
    return !strcmp(name, TRIAL_FILE);
  return name[length] == '-' && is_random((struct part){name + length + 1, strlen(name + length + 1)});
}

/* ---- contents ---- */

/* Reads the whole file, with a NUL at its end.  NULL: it is too large for a text, has a NUL, or cannot be read.  The
 * caller frees it. */
static char *read_text(int fd, size_t most)
{
  struct stat status;
  if (fstat(fd, &status) != 0 || (uintmax_t)status.st_size > most)
    return NULL;
  size_t size = (size_t)status.st_size;
  char *text = malloc(size + 1);
  if (text && (pread(fd, text, size, 0) != (ssize_t)size || memchr(text, 0, size))) {
    free(text);
    text = NULL;
  }
  if (text)
    text[size] = '\0';
  return text;
}

static bool has_magic(int fd, uint64_t magic)
{
  uint64_t found;
  return pread(fd, &found, sizeof found, 0) == (ssize_t)sizeof found && found == magic;
}

static bool has_size(int fd, off_t size)
{
  struct stat status;
  return fstat(fd, &status) == 0 && status.st_size == size;
}

/* unfinished: the last line may be cut off, or there is nothing yet. */
static bool is_code_text(int fd, bool unfinished)
{
  char *text = read_text(fd, TEXT_MAX), *end = text ? strrchr(text, '\n') : NULL;
  struct filter_line line;
  struct filter_code_line code;
  bool any = text && !*text && unfinished;
  bool fine = any || (end && (!end[1] || (unfinished && !strncmp(end + 1, "code", 4))));
  if (end)
    end[1] = '\0';
  for (const char *at = text; fine && filter_text_next(&at, &line); any = true) {
    if (line.key == FILTER_KEY_CODE)
      fine = filter_text_code(line.value, &code);
    else
      fine = line.key == FILTER_KEY_CODE_MISSING && line.value.length;
  }
  free(text);
  return fine && any;
}

static bool is_filter_text(int fd)
{
  char *text = read_text(fd, TEXT_MAX), message[512];
  const char *at = text;
  struct filter_line line;
  bool fine = text && filter_text_next(&at, &line) && filter_text_check(text, message, sizeof message);
  free(text);
  return fine;
}

static bool is_snapshot_text(int fd)
{
  char *text = read_text(fd, TEXT_MAX);
  size_t title = strlen(FORMAT_SNAPSHOT_TITLE);
  const char *at = text && strncmp(text, FORMAT_SNAPSHOT_TITLE, title) == 0 ? strchr(text + title, '\n') : NULL;
  bool fine = at && at > text + title;
  for (at = fine ? at + 1 : NULL; fine && *at;) {
    size_t length = strspn(at, digits);
    fine = length && length <= PID_DIGITS && at[length] == '\n';
    at += length + 1;
  }
  free(text);
  return fine;
}

/* Whether the text, which ends at `end`, is HOST.PID.SECONDS.NANOSECONDS. */
static bool is_launch(const char *text, const char *end)
{
  for (int fields = 0; fields < 3; fields++) {
    const char *at = end;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
      at--;
    if (at == end || at < text + 2 || at[-1] != '.' || (!fields && end - at != 9))
      return false;
    end = at - 1;
  }
  return true;
}

/* Whether it is the name of a job, in which there are no blanks, and nothing that a shell would take for more. */
static bool is_of_job(char letter)
{
  return isalnum((unsigned char)letter) || strchr("._:@/+-,[]%", letter);
}

static bool is_job(const char *text, const char *end)
{
  for (const char *at = text; at < end; at++)
    if (!is_of_job(*at))
      return false;
  return text < end;
}

void known_file_fit_job(char *name)
{
  for (; *name; name++)
    if (!is_of_job(*name))
      *name = '_';
}

bool known_file_read_marker(int fd, char id[KNOWN_FILE_ID_BYTES])
{
  static const char *const names[] = {KNOWN_FILE_JOBS, KNOWN_FILE_SLURM, KNOWN_FILE_PMI, KNOWN_FILE_LAUNCH};
  char *text = read_text(fd, KNOWN_FILE_ID_BYTES), *end = text ? strchr(text, '\n') : NULL;
  bool fine = false;
  for (size_t i = 0; end && !end[1] && i < sizeof names / sizeof *names; i++) {
    const char *value = text + strlen(names[i]) + 1;
    bool launch = !strcmp(names[i], KNOWN_FILE_LAUNCH);
    if (!strncmp(text, names[i], strlen(names[i])) && value[-1] == '=' && value < end)
      fine |= launch ? is_launch(value, end) : is_job(value, end);
  }
  if (fine)
    snprintf(id, KNOWN_FILE_ID_BYTES, "%.*s", (int)(end - text), text);
  free(text);
  return fine;
}

/* An ELF file; incomplete: or nothing, or reserved space. */
static bool is_kept(int fd, bool incomplete)
{
  static const char magic[] = {'\177', 'E', 'L', 'F'}, none[sizeof magic];
  char found[sizeof magic];
  ssize_t size = pread(fd, found, sizeof found, 0);
  if (incomplete && (size == 0 || (size == (ssize_t)sizeof found && !memcmp(found, none, sizeof none))))
    return true;
  return size == (ssize_t)sizeof found && !memcmp(found, magic, sizeof magic);
}

/* unfinished: the rest may be missing. */
static bool is_trial_text(int fd, bool unfinished)
{
  char *text = read_text(fd, TEXT_MAX);
  struct trial trial = {0};
  bool fine = text && !trial_read(text, &trial);
  fine |= text && unfinished && (!*text || !strncmp(text, TRIAL_TITLE, strlen(TRIAL_TITLE)));
  trial_release(&trial);
  free(text);
  return fine;
}

static bool is_marker(int fd)
{
  char id[KNOWN_FILE_ID_BYTES];
  return known_file_read_marker(fd, id);
}

/* ---- both ---- */

/* Whether the name is one of a process's file that begins with FORMAT_MAGIC. */
static bool is_of_process(const char *name, bool *unfinished)
{
  static const char *const whole[] = {FORMAT_SUFFIX,       FORMAT_LIVE_SUFFIX,  FORMAT_GRAPH_SUFFIX,
                                      FORMAT_TRACE_SUFFIX, FORMAT_INDEX_SUFFIX, FORMAT_FLUSH_SUFFIX};
  static const char *const parts[] = {FORMAT_PART_SUFFIX, ".packing" FORMAT_GRAPH_SUFFIX,
                                      ".packing" FORMAT_TRACE_SUFFIX, FORMAT_FLUSH_SUFFIX FORMAT_FLUSH_SUFFIX};
  bool complete = false, part = is_new_index(name);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    complete |= known_file_has_name(name, whole[i]);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    part |= known_file_has_name(name, parts[i]);
  *unfinished = part && !complete;
  return complete || part;
}

/* Whether the file, of that name, has contents that hpcrun-lite writes. */
static bool has_contents(int fd, const char *name)
{
  bool unfinished;
  if (is_of_process(name, &unfinished))
    return has_magic(fd, FORMAT_MAGIC) || (unfinished && has_size(fd, 0));
  if (is_debug_data(name))
    return has_magic(fd, FORMAT_MAGIC) || has_size(fd, 0);
  if (known_file_has_name(name, FORMAT_PERF_MAP_SUFFIX) ||
      known_file_has_name(name, FORMAT_PART_SUFFIX FORMAT_PERF_MAP_SUFFIX))
    return true; /* any text that the program has written, a part of it, or reserved space */
  if (known_file_has_name(name, KEPT_FILE_PART_SUFFIX))
    return is_kept(fd, true);
  if (kept_file_name(name))
    return is_kept(fd, false);
  if (is_control(name, ""))
    return has_size(fd, CONTROL_FILE_SIZE) && has_magic(fd, CONTROL_MAGIC);
  if (is_control(name, FILTER_SUFFIX))
    return is_filter_text(fd);
  if (is_code(name, false) || is_code(name, true))
    return is_code_text(fd, is_code(name, true));
  if (is_trial(name, false))
    return is_trial_text(fd, false);
  if (is_trial(name, true))
    return is_trial_text(fd, true);
  if (!strcmp(name, FORMAT_SNAPSHOT_MARKER))
    return is_snapshot_text(fd);
  return !strcmp(name, FORMAT_LAUNCH_MARKER) && is_marker(fd);
}

bool known_file_is(int directory, const char *name)
{
  int fd = safe_file_open(directory, name, O_RDONLY, geteuid());
  bool known = fd >= 0 && has_contents(fd, name);
  if (fd >= 0)
    close(fd);
  return known;
}
