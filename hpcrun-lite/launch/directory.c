#include "hpcrun-lite/launch/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/control_file.h"
#include "common/filter_text.h"
#include "common/format.h"

#define MARKER "launch"
#define LINK "installation"
#define MODE 0700
#define NUMBER_MAX 100000   /* of default names that are tried */
#define MARKER_WAIT_MS 2000 /* for a marker that another rank has created but not written yet */
#define ID_BYTES 512
#define LAUNCH_ID "launch=" /* begins the id of a launch that is no rank of a job */

enum outcome { OUTCOME_OURS, OUTCOME_BUSY, OUTCOME_REFUSED };

enum content { CONTENT_EMPTY, CONTENT_MEASUREMENTS, CONTENT_FOREIGN };

struct attempt {
  const char *path;
  const char *id;
  bool overwrite;
  bool locked;
  struct directory_origin origin;
  char *message;
  size_t message_size;
};

/* All ranks of a job have the same id; any two other launches differ.  Open MPI's job number has 16 bits, a hash of
 * mpirun's process id, so that a later job may have the same number, but not the same key.  A series is no rank. */
static void make_id(char *id, size_t size, bool series)
{
  static const char *const job_variables[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid",
                                              "PMI_JOBID"};
  const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
  const char *key = getenv("OMPI_MCA_orte_precondition_transports");
  struct timespec now;
  char host[128] = "";
  for (size_t i = 0; i < sizeof job_variables / sizeof job_variables[0] && !series; i++) {
    const char *value = getenv(job_variables[i]);
    if (value && value[0] != '\0') {
      snprintf(id, size, "%s=%s%s%s", job_variables[i], value, key ? "." : "", key ? key : "");
      return;
    }
  }
  if (job && step && getenv("SLURM_PROCID") && !series) {
    snprintf(id, size, "SLURM=%s.%s", job, step);
    return;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  gethostname(host, sizeof host - 1);
  snprintf(id, size, LAUNCH_ID "%s.%ld.%lld.%09ld", host, (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
}

/* What hpcrun-lite --control leaves: the mark of a snapshot; a command that its process has not heard, or the filter of
 * one. */
static bool is_of_control(int directory, const char *name, off_t size)
{
  char title[sizeof FORMAT_SNAPSHOT_TITLE] = "";
  if (strncmp(name, CONTROL_PREFIX, strlen(CONTROL_PREFIX)) == 0 &&
      (size == CONTROL_FILE_SIZE || format_has_suffix(name, FILTER_SUFFIX)))
    return true;
  int marker = strcmp(name, FORMAT_SNAPSHOT_MARKER)
                   ? -1
                   : openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool read_it = marker >= 0 && read(marker, title, sizeof title - 1) > 0;
  if (marker >= 0)
    close(marker);
  return read_it && strcmp(title, FORMAT_SNAPSHOT_TITLE) == 0;
}

/* The addresses of a filter, code-HASH.filter; also half-written, with ".XXXXXX" at the end. */
static bool is_code(const char *name)
{
  enum { HASH = 16 };
  const char *hash = name + strlen("code-"), *end = hash + HASH;
  return strncmp(name, "code-", strlen("code-")) == 0 && strspn(hash, "0123456789abcdef") == HASH &&
         strncmp(end, FILTER_SUFFIX, strlen(FILTER_SUFFIX)) == 0 &&
         (end[strlen(FILTER_SUFFIX)] == '\0' || end[strlen(FILTER_SUFFIX)] == '.');
}

/* HOST-PID-START.flush; also half-written, with that suffix twice. */
static bool is_flush(const char *name)
{
  const char *at = name + strlen(name);
  while (at > name && *at != '-')
    at--;
  size_t start = strspn(at + (*at == '-'), "0123456789abcdef");
  const char *suffix = at + 1 + start;
  if (at == name || !start ||
      (strcmp(suffix, FORMAT_FLUSH_SUFFIX) != 0 && strcmp(suffix, FORMAT_FLUSH_SUFFIX FORMAT_FLUSH_SUFFIX) != 0))
    return false;
  const char *process = at;
  while (process > name && process[-1] >= '0' && process[-1] <= '9')
    process--;
  return process < at && process > name + 1 && process[-1] == '-';
}

static bool is_measurement(int directory, const char *name)
{
  struct stat status;
  static const char *const suffixes[] = {FORMAT_SUFFIX,       FORMAT_LIVE_SUFFIX,  FORMAT_PART_SUFFIX,
                                         FORMAT_GRAPH_SUFFIX, FORMAT_TRACE_SUFFIX, FORMAT_INDEX_SUFFIX};
  bool named = strcmp(name, MARKER) == 0 || is_code(name) || is_flush(name);
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    named |= format_has_suffix(name, suffixes[i]);
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (S_ISLNK(status.st_mode))
    return strcmp(name, LINK) == 0;
  if (!S_ISREG(status.st_mode))
    return false;
  return named || is_of_control(directory, name, status.st_size);
}

bool directory_holds_profiles(const char *path)
{
  static const char *const suffixes[] = {FORMAT_SUFFIX, FORMAT_LIVE_SUFFIX, FORMAT_PART_SUFFIX};
  DIR *entries = opendir(path);
  bool found = !entries; /* who reads them says why that fails */
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
      found |= format_has_suffix(entry->d_name, suffixes[i]);
  if (entries)
    closedir(entries);
  return found;
}

bool directory_link(const char *directory, const char *target, char *path, size_t size)
{
  char present[PATH_MAX];
  snprintf(path, size, "%.4000s/" LINK, directory);
  if (symlink(target, path) == 0)
    return true;
  ssize_t length = errno == EEXIST ? readlink(path, present, sizeof present) : -1;
  return length == (ssize_t)strlen(target) && memcmp(present, target, (size_t)length) == 0;
}

static enum content scan(int directory, bool remove, bool in_series);

/* Classifies the directory of one run of a series. */
static enum content scan_run(int series, const char *name, bool remove)
{
  int directory =
      strncmp(name, "threads-", 8) ? -1 : openat(series, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  enum content content = directory >= 0 ? scan(directory, remove, true) : CONTENT_FOREIGN;
  if (directory >= 0)
    close(directory);
  if (content != CONTENT_FOREIGN && remove && unlinkat(series, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
    return CONTENT_FOREIGN;
  return content == CONTENT_EMPTY ? CONTENT_MEASUREMENTS : content;
}

/* Classifies the entries; remove: also deletes measurement files, and directories of the runs of a series.  An entry
 * that vanishes meanwhile is ignored. */
static enum content scan(int directory, bool remove, bool in_series)
{
  enum content content = CONTENT_EMPTY;
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
  struct dirent *entry;
  if (!entries) {
    if (copy >= 0)
      close(copy);
    return CONTENT_FOREIGN;
  }
  while (content != CONTENT_FOREIGN && (entry = readdir(entries))) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    bool file = is_measurement(directory, entry->d_name);
    content =
        file || in_series ? file ? CONTENT_MEASUREMENTS : CONTENT_FOREIGN : scan_run(directory, entry->d_name, remove);
    if (remove && file && content == CONTENT_MEASUREMENTS && unlinkat(directory, entry->d_name, 0) != 0 &&
        errno != ENOENT)
      content = CONTENT_FOREIGN;
  }
  closedir(entries);
  return content;
}

/* Reads the marker; waits for its content if another process has just created it.  Returns false if it does not exist
 * or is not a regular file. */
static bool read_marker(int directory, char *id, size_t size)
{
  for (int waited_ms = 0;; waited_ms += 10) {
    int fd = openat(directory, MARKER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0)
      return false;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    ssize_t length = regular ? read(fd, id, size - 1) : 0;
    close(fd);
    if (!regular)
      return false;
    if (length > 0 || waited_ms >= MARKER_WAIT_MS) {
      id[length > 0 ? length : 0] = '\0';
      id[strcspn(id, "\n")] = '\0';
      return true;
    }
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  }
}

/* Returns 0, or errno: EEXIST if another process was first. */
static int write_marker(int directory, const char *id)
{
  char text[ID_BYTES + 1];
  int length = snprintf(text, sizeof text, "%s\n", id);
  int fd = openat(directory, MARKER, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  int error = write(fd, text, (size_t)length) == length ? 0 : errno;
  if (close(fd) != 0 && error == 0)
    error = errno;
  if (error)
    unlinkat(directory, MARKER, 0);
  return error;
}

static enum outcome refuse(const struct attempt *attempt, const char *reason)
{
  snprintf(attempt->message, attempt->message_size, "-o '%.400s': %s", attempt->path, reason);
  return OUTCOME_REFUSED;
}

/* Decides by the id in the marker whose directory it is. */
static enum outcome join(struct attempt *attempt, const char *id)
{
  attempt->origin.joined = strcmp(id, attempt->id) == 0;
  return attempt->origin.joined ? OUTCOME_OURS : OUTCOME_BUSY;
}

static enum outcome claim(struct attempt *attempt, int directory)
{
  int error = write_marker(directory, attempt->id);
  if (error == 0)
    return OUTCOME_OURS;
  char id[ID_BYTES];
  if (error == EEXIST && read_marker(directory, id, sizeof id))
    return join(attempt, id);
  return refuse(attempt, strerror(error));
}

/* Decides whose directory it is.  The directory is locked if the file system can lock. */
static enum outcome settle(struct attempt *attempt, int directory)
{
  char id[ID_BYTES];
  bool marked = read_marker(directory, id, sizeof id);
  if (marked && join(attempt, id) == OUTCOME_OURS)
    return OUTCOME_OURS;
  enum content content = scan(directory, false, false);
  if (content == CONTENT_FOREIGN)
    return refuse(attempt, "holds files that are not measurements: give another directory");
  if (content == CONTENT_EMPTY)
    return claim(attempt, directory);
  if (!attempt->overwrite)
    return OUTCOME_BUSY;
  if (!attempt->locked)
    return refuse(attempt, "cannot be locked and so not replaced safely: remove it by hand");
  if (scan(directory, true, false) == CONTENT_FOREIGN)
    return refuse(attempt, "its files cannot be removed: give another directory");
  return claim(attempt, directory);
}

static enum outcome try_directory(struct attempt *attempt)
{
  struct stat status;
  bool created = mkdir(attempt->path, MODE) == 0;
  attempt->origin.created = created;
  if (!created && errno != EEXIST)
    return refuse(attempt, errno == ENOENT ? "its parent directory does not exist" : strerror(errno));
  int directory = open(attempt->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0)
    return refuse(attempt, errno == ELOOP || errno == ENOTDIR ? "exists and is not a directory (links are not followed)"
                                                              : strerror(errno));
  enum outcome outcome;
  if (fstat(directory, &status) != 0 || (!created && geteuid() != 0 && status.st_uid != geteuid())) {
    outcome = refuse(attempt, "belongs to another user: give another directory");
  } else {
    attempt->locked = flock(directory, LOCK_EX) == 0;
    outcome = settle(attempt, directory);
  }
  close(directory);
  return outcome;
}

/* "hpcrun-lite-COMMAND-measurements[-JOB]", or -scaling; a job id or command with '/' cannot leave the current
 * directory. */
static void default_name(const struct directory_request *request, char *name, size_t size)
{
  const char *job = getenv("SLURM_JOB_ID");
  if (!job || job[0] == '\0')
    job = getenv("PBS_JOBID");
  snprintf(name, size, "hpcrun-lite-%s%s%s%s%s", request->command, request->command[0] ? "-" : "",
           request->series ? "scaling" : "measurements", job && job[0] ? "-" : "", job ? job : "");
  for (char *at = name; *at; at++)
    if (*at == '/')
      *at = '_';
}

/* The first of NAME, NAME-2, NAME-3, … that is free or belongs to this job already. */
static enum launch_status take_default(struct attempt *attempt, const char *base, char *path, size_t path_size)
{
  size_t length = strlen(base);
  snprintf(path, path_size, "%s", base);
  attempt->path = path;
  for (int number = 2; number <= NUMBER_MAX; number++) {
    struct stat status;
    enum outcome outcome = try_directory(attempt);
    if (outcome == OUTCOME_OURS)
      return LAUNCH_OK;
    if (outcome == OUTCOME_REFUSED && lstat(path, &status) != 0)
      return LAUNCH_FAILED;     /* it could not be created: neither could another name */
    attempt->overwrite = false; /* applies only to the name without a number */
    if (length + 12 >= path_size)
      break;
    snprintf(path + length, path_size - length, "-%d", number);
  }
  snprintf(attempt->message, attempt->message_size, "no free directory name after '%.400s': give one with -o", path);
  return LAUNCH_FAILED;
}

bool directory_absolute(const char *given, char *path, size_t size)
{
  char current[PATH_MAX] = "";
  if (given[0] != '/' && !getcwd(current, sizeof current))
    return false;
  int length = snprintf(path, size, "%s%s%s", current, given[0] == '/' ? "" : "/", given);
  if (length < 0 || (size_t)length >= size) {
    errno = ENAMETOOLONG;
    return false;
  }
  while (length > 1 && path[length - 1] == '/')
    path[--length] = '\0';
  return true;
}

static enum launch_status take(struct attempt *attempt, const struct directory_request *request, char *path,
                               size_t path_size)
{
  char name[PATH_MAX], base[PATH_MAX];
  default_name(request, name, sizeof name);
  if (!directory_absolute(request->output[0] ? request->output : name, base, sizeof base)) {
    snprintf(attempt->message, attempt->message_size,
             "cannot find '%.400s' in the current directory: %s; give an absolute path with -o",
             request->output[0] ? request->output : name, strerror(errno));
    return LAUNCH_FAILED;
  }
  if (request->output[0] == '\0')
    return take_default(attempt, base, path, path_size);
  snprintf(path, path_size, "%s", base);
  attempt->path = path;
  switch (try_directory(attempt)) {
  case OUTCOME_OURS:
    return LAUNCH_OK;
  case OUTCOME_BUSY:
    snprintf(attempt->message, attempt->message_size,
             "-o '%.400s' holds measurements already: give another directory, or --overwrite", path);
    return LAUNCH_FAILED;
  default:
    return LAUNCH_FAILED;
  }
}

enum launch_status directory_take(const struct directory_request *request, char *path, size_t path_size,
                                  struct directory_origin *origin, char *message, size_t message_size)
{
  char id[ID_BYTES];
  struct attempt attempt = {
      .id = id, .overwrite = request->overwrite, .message = message, .message_size = message_size};
  make_id(id, sizeof id, request->series);
  id[strcspn(id, "\n")] = '\0';
  enum launch_status status = take(&attempt, request, path, path_size);
  *origin = attempt.origin;
  return status;
}

void directory_give_back(const char *path, const struct directory_origin *origin)
{
  char id[ID_BYTES];
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0)
    return;
  if (read_marker(directory, id, sizeof id) && strncmp(id, LAUNCH_ID, strlen(LAUNCH_ID)) == 0) {
    unlinkat(directory, LINK, 0);
    unlinkat(directory, MARKER, 0);
    if (origin->created)
      rmdir(path);
  }
  close(directory);
}
