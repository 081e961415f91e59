#define _GNU_SOURCE
#include "hpcrun-lite/launch/control/targets.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/format.h"
#include "common/safe_file.h"
#include "hpcrun-lite/launch/safety/known_file.h"

enum { FILE_MAX_BYTES = 4 << 20 }; /* of a file in /proc */

/* ---- /proc ---- */

char *target_file(pid_t pid, const char *name, size_t *size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC), error;
  char *text = fd >= 0 ? malloc(FILE_MAX_BYTES + 1) : NULL;
  ssize_t got = 1;
  *size = 0;
  while (text && got > 0 && *size < FILE_MAX_BYTES) {
    got = read(fd, text + *size, FILE_MAX_BYTES - *size);
    *size += got > 0 ? (size_t)got : 0;
  }
  error = errno;
  if (fd >= 0)
    close(fd);
  if (text && got < 0 && !*size) {
    free(text);
    text = NULL;
  }
  if (text)
    text[*size] = '\0';
  errno = error;
  return text;
}

/* The letter of the state follows the command, which is in parentheses. */
static char state_of(pid_t pid)
{
  size_t size;
  char *text = target_file(pid, "stat", &size), *end = text ? strrchr(text, ')') : NULL;
  char state = end && end[1] == ' ' ? end[2] : '?';
  free(text);
  return state;
}

/* Whether that line of /proc/PID/task/TID/status, a mask of signals in hexadecimal digits, has the signal. */
static bool mask_has(const char *status, const char *line, int number)
{
  const char *at = strstr(status, line);
  return at && strtoull(at + strlen(line), NULL, 16) >> (number - 1) & 1;
}

struct thread_signals {
  char state;
  bool blocked, pending;
};

static bool read_thread(pid_t pid, const char *tid, int number, struct thread_signals *thread)
{
  char name[64];
  size_t size;
  snprintf(name, sizeof name, "task/%.20s/status", tid);
  char *text = target_file(pid, name, &size), *state = text ? strstr(text, "\nState:\t") : NULL;
  if (state)
    *thread = (struct thread_signals){state[strlen("\nState:\t")], mask_has(text, "\nSigBlk:\t", number),
                                      mask_has(text, "\nSigPnd:\t", number) || mask_has(text, "\nShdPnd:\t", number)};
  free(text);
  return state && thread->state != 'Z' && thread->state != 'X';
}

enum target_state target_state(pid_t pid, int number, unsigned *threads)
{
  char path[64], state = state_of(pid);
  bool asleep = true, blocking = true, pending = false;
  snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
  DIR *entries = opendir(path);
  *threads = 0;
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    struct thread_signals thread;
    if (!isdigit((unsigned char)entry->d_name[0]) || !read_thread(pid, entry->d_name, number, &thread))
      continue;
    ++*threads;
    asleep &= thread.state == 'S' || thread.state == 'D';
    blocking &= thread.blocked;
    pending |= thread.pending && (thread.blocked || thread.state == 'D');
  }
  if (entries)
    closedir(entries);
  if (state == 'T' || state == 't')
    return TARGET_STOPPED;
  if (asleep && pending)
    return TARGET_ASLEEP;
  return *threads > 0 && blocking ? TARGET_BLOCKING : TARGET_HEARING;
}

bool target_exists(pid_t pid)
{
  unsigned threads = 1;
  if (kill(pid, 0) != 0 && errno != EPERM)
    return false;
  if (state_of(pid) == 'Z') /* its first thread has ended, perhaps before the others */
    target_state(pid, SIGURG, &threads);
  return threads > 0;
}

bool target_owner(pid_t pid, uid_t *user, gid_t *group)
{
  char path[64];
  struct stat process;
  snprintf(path, sizeof path, "/proc/%ld", (long)pid);
  if (stat(path, &process) != 0)
    return false;
  *user = process.st_uid;
  *group = process.st_gid;
  return true;
}

bool target_variable(pid_t pid, const char *name, char *value, size_t room)
{
  size_t size, length = strlen(name);
  bool found = false;
  char *text = target_file(pid, "environ", &size);
  *value = '\0';
  for (const char *at = text; text && !found && at < text + size; at += strlen(at) + 1)
    if (strncmp(at, name, length) == 0 && at[length] == '=')
      found = snprintf(value, room, "%s", at + length + 1) < (int)room;
  if (text && !found)
    errno = ENOENT;
  free(text);
  return found;
}

static bool directory_of(pid_t pid, char *directory, size_t room)
{
  return target_variable(pid, "HPCRUN_LITE_DIR", directory, room);
}

static bool has_library(pid_t pid)
{
  size_t size;
  char *text = target_file(pid, "maps", &size);
  bool found = text && strstr(text, "/libhpcrun-lite.so");
  free(text);
  return found;
}

/* ---- the list ---- */

static bool add(struct targets *targets, pid_t pid, const char *host)
{
  for (size_t i = 0; i < targets->count; i++)
    if (targets->items[i].pid == pid && strcmp(targets->items[i].host, host) == 0)
      return true;
  if (!array_reserve(&targets->items, &targets->room, targets->count + 1, sizeof *targets->items))
    return false;
  struct target *target = &targets->items[targets->count++];
  *target = (struct target){.pid = pid, .here = strcmp(host, targets->host) == 0};
  snprintf(target->host, sizeof target->host, "%s", host);
  return true;
}

/* The processes with live files.  Those of this host that are gone were killed. */
static bool add_files(struct targets *targets)
{
  int again = openat(targets->at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again >= 0 ? fdopendir(again) : NULL;
  bool done = entries != NULL;
  for (struct dirent *entry; entries && done && (entry = readdir(entries));) {
    char host[256];
    pid_t pid;
    if (known_file_process(entry->d_name, FORMAT_LIVE_SUFFIX, host, sizeof host, &pid) &&
        (strcmp(host, targets->host) != 0 || (target_exists(pid) && has_library(pid))))
      done = add(targets, pid, host);
  }
  if (entries)
    closedir(entries);
  return done;
}

/* The processes of this host that are measured into the directory, whether or not they have files. */
static bool add_running(struct targets *targets)
{
  struct stat wanted, found;
  DIR *entries = fstat(targets->at, &wanted) == 0 ? opendir("/proc") : NULL;
  bool done = true;
  for (struct dirent *entry; entries && done && (entry = readdir(entries));) {
    char directory[PATH_MAX];
    pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
    if (pid > 0 && pid != getpid() && directory_of(pid, directory, sizeof directory) && stat(directory, &found) == 0 &&
        found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino && target_exists(pid) && has_library(pid))
      done = add(targets, pid, targets->host);
  }
  if (entries)
    closedir(entries);
  return done;
}

/* Finds the marker that a launch has put into the directory: that of this user, or of the directory's owner.  Returns 0
 * and sets *owner to its owner, or returns EACCES or ENOENT. */
static int find_marker(int directory, uid_t *owner)
{
  char id[KNOWN_FILE_ID_BYTES];
  struct stat status;
  int marker = safe_file_open(directory, FORMAT_LAUNCH_MARKER, O_RDONLY, geteuid());
  if (marker < 0 && errno == EPERM && fstat(directory, &status) == 0)
    marker = safe_file_open(directory, FORMAT_LAUNCH_MARKER, O_RDONLY, status.st_uid);
  if (marker < 0)
    return errno == EACCES ? EACCES : ENOENT;
  bool marked = known_file_read_marker(marker, id) && fstat(marker, &status) == 0;
  if (marked)
    *owner = status.st_uid;
  close(marker);
  return marked ? 0 : ENOENT;
}

/* Opens the measurement directory. */
static bool open_directory(struct targets *targets, char *message, size_t message_size)
{
  targets->at = safe_file_open_directory(targets->directory);
  if (targets->at < 0) {
    snprintf(message, message_size, "cannot open the measurement directory '%.400s': %s", targets->directory,
             strerror(errno));
    return false;
  }
  int error = find_marker(targets->at, &targets->owner);
  if (error == EACCES)
    snprintf(message, message_size, "cannot read '%.400s': %s", targets->directory, strerror(error));
  else if (error)
    snprintf(message, message_size,
             "'%.400s' is not a measurement directory (it has no valid file '" FORMAT_LAUNCH_MARKER
             "'): give the directory of -o, or a process id",
             targets->directory);
  return !error;
}

static bool find_process(struct targets *targets, pid_t pid, char *message, size_t message_size)
{
  const char *why = "is not measured: start it with hpcrun-lite";
  if (directory_of(pid, targets->directory, sizeof targets->directory)) {
    if (has_library(pid) && add(targets, pid, targets->host))
      return open_directory(targets, message, message_size);
    if (has_library(pid))
      why = "cannot be listed: not enough memory";
  } else if (errno == EACCES || errno == EPERM) {
    why = "may not be read: it belongs to another user, or does not allow that (/proc/PID/environ)";
  } else if (!target_exists(pid)) {
    why = "does not exist";
  }
  snprintf(message, message_size, "process %ld %s", (long)pid, why);
  return false;
}

static int by_process(const void *a, const void *b)
{
  const struct target *one = a, *other = b;
  int hosts = strcmp(one->host, other->host);
  return hosts ? hosts : (one->pid > other->pid) - (one->pid < other->pid);
}

static bool find_directory(struct targets *targets, const char *name, char *message, size_t message_size)
{
  struct stat status;
  if (!realpath(name, targets->directory) || stat(targets->directory, &status) != 0 || !S_ISDIR(status.st_mode)) {
    snprintf(message, message_size, "cannot find the measurement directory '%.400s': %s; give the DIR of -o, or a PID",
             name, strerror(errno ? errno : ENOTDIR));
    return false;
  }
  if (!open_directory(targets, message, message_size))
    return false;
  if (faccessat(targets->at, ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    snprintf(message, message_size, "cannot write to '%.400s', through which processes hear commands: %s", name,
             strerror(errno));
    return false;
  }
  if (!add_files(targets) || !add_running(targets)) {
    snprintf(message, message_size, "not enough memory");
    return false;
  }
  if (targets->count) {
    qsort(targets->items, targets->count, sizeof *targets->items, by_process);
    return true;
  }
  snprintf(message, message_size, "no process that runs is measured into '%.400s'", name);
  return false;
}

bool targets_find(struct targets *targets, const char *which, char *message, size_t message_size)
{
  size_t digits = strspn(which, "0123456789");
  errno = 0;
  targets->at = -1;
  if (gethostname(targets->host, sizeof targets->host - 1) != 0 || !targets->host[0])
    strcpy(targets->host, "localhost");
  if (!digits || which[digits])
    return find_directory(targets, which, message, message_size);
  long pid = digits < 10 ? atol(which) : 0;
  if (pid > 0)
    return find_process(targets, (pid_t)pid, message, message_size);
  snprintf(message, message_size, "'%.40s' is not a process id; a directory of that name is ./%.40s", which, which);
  return false;
}

void targets_release(struct targets *targets)
{
  if (targets->at >= 0)
    close(targets->at);
  free(targets->items);
}
