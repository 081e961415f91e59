#include "hpcrun-lite/launch/directory.h"

#include <assert.h>
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

#include "common/format.h"
#include "common/safe_file.h"
#include "hpcrun-lite/launch/safety/known_file.h"
#include "hpcrun-lite/launch/safety/safe_directory.h"

#define MODE 0700
#define NUMBER_MAX 100000               /* of default names that are tried */
#define MARKER_WAIT_MS 2000             /* for a marker that another rank has created but not written yet */
#define LAUNCH_ID KNOWN_FILE_LAUNCH "=" /* begins the id of a launch that is not a rank of a job */

enum outcome { OUTCOME_OURS, OUTCOME_BUSY, OUTCOME_REFUSED };

enum content { CONTENT_EMPTY, CONTENT_MEASUREMENTS, CONTENT_FOREIGN };

struct attempt {
  const char *what, *path, *id;   /* what: the directory in messages */
  bool overwrite, trust;          /* trust: also a directory of another user */
  char foreign[2 * NAME_MAX + 2]; /* the first entry that is not a file of a measurement */
  struct directory_origin origin;
  char *message;
  size_t message_size;
};

/* Whether the environment with which a process was started has a variable; `false` if that cannot be read. */
static bool had_variable(long pid, const char *name)
{
  char path[64], *word = NULL;
  size_t room = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", pid);
  FILE *file = fopen(path, "re");
  while (file && !found && getdelim(&word, &room, '\0', file) > 0)
    found = !strncmp(word, name, strlen(name)) && word[strlen(name)] == '=';
  free(word);
  if (file)
    fclose(file);
  return found;
}

/* Reads the parent of a process, and when it was started, in the kernel's ticks.  The name, in parentheses, may contain
 * anything. */
static bool read_parent(long pid, long *parent, unsigned long long *start)
{
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "re");
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  text[size] = '\0';
  const char *fields = strrchr(text, ')');
  return fields &&
         sscanf(fields + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", parent,
                start) == 2;
}

/* MPICH's mpirun tells its ranks no number of the job.  All ranks of a host descend from one process of the launcher,
 * the first one that is not started as a rank.  Returns its process id, 0 if there is none. */
static long rank_starter(unsigned long long *start)
{
  long pid = getppid(), parent;
  if (!getenv("PMI_RANK") || !getenv("PMI_SIZE"))
    return 0;
  while (pid > 1 && read_parent(pid, &parent, start)) {
    if (!had_variable(pid, "PMI_RANK"))
      return pid;
    pid = parent;
  }
  return 0;
}

/* All ranks of a job have the same id; any two other launches differ.  Open MPI's job number has 16 bits, a hash of
 * mpirun's process id, so that a later job may have the same number, but not the same key.  A series is not a rank. */
static void make_id(char *id, size_t size, bool series)
{
  static const char *const job_variables[] = {KNOWN_FILE_JOBS};
  const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
  const char *key = getenv("OMPI_MCA_orte_precondition_transports");
  struct timespec now;
  char host[128] = "";
  for (size_t i = 0; i < sizeof job_variables / sizeof job_variables[0] && !series; i++) {
    const char *value = getenv(job_variables[i]);
    if (value && value[0] != '\0') {
      snprintf(id, size, "%s=%s%s%s", job_variables[i], value, key ? "." : "", key ? key : "");
      known_file_fit_job(strchr(id, '=') + 1);
      return;
    }
  }
  if (job && step && getenv("SLURM_PROCID") && !series) {
    snprintf(id, size, KNOWN_FILE_SLURM "=%s.%s", job, step);
    known_file_fit_job(strchr(id, '=') + 1);
    return;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  if (gethostname(host, sizeof host - 1) != 0 || !host[0])
    strcpy(host, "localhost");
  unsigned long long start;
  long starter = series ? 0 : rank_starter(&start);
  if (starter) {
    snprintf(id, size, KNOWN_FILE_PMI "=%s.%ld.%llu", host, starter, start);
    known_file_fit_job(strchr(id, '=') + 1);
    return;
  }
  snprintf(id, size, LAUNCH_ID "%s.%ld.%lld.%09ld", host, (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
}

bool directory_holds_profiles(const char *path)
{
  static const char *const suffixes[] = {FORMAT_SUFFIX, FORMAT_LIVE_SUFFIX, FORMAT_PART_SUFFIX};
  DIR *entries = opendir(path);
  bool found = !entries; /* what reads them reports why that fails */
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
      found |= format_has_suffix(entry->d_name, suffixes[i]);
  if (entries)
    closedir(entries);
  return found;
}

/* ---- what a directory holds ---- */

/* Whether the name is that of a run of a series: threads-N or threads-N-N. */
static bool is_run(const char *name)
{
  static const char digits[] = "0123456789";
  const char *at = name + strlen("threads-");
  size_t length = strncmp(name, "threads-", strlen("threads-")) ? 0 : strspn(at, digits);
  at += length;
  return length && (!*at || (*at == '-' && at[1] && !at[1 + strspn(at + 1, digits)]));
}

static enum content scan(struct attempt *attempt, int directory, const char *series_run, bool remove);

/* Classifies the directory of one run of a series. */
static enum content scan_run(struct attempt *attempt, int series, const char *name, bool remove)
{
  struct stat status;
  int directory = is_run(name) ? openat(series, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  bool own = directory >= 0 && fstat(directory, &status) == 0 && status.st_uid == geteuid();
  enum content content = own ? scan(attempt, directory, name, remove) : CONTENT_FOREIGN;
  if (directory >= 0)
    close(directory);
  if (content != CONTENT_MEASUREMENTS) /* each run has a marker at least */
    return CONTENT_FOREIGN;
  bool removed = remove && (unlinkat(series, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
  return !remove || removed ? CONTENT_MEASUREMENTS : CONTENT_FOREIGN;
}

/* Classifies one entry; remove: also deletes it.  One that vanishes meanwhile is ignored. */
static enum content scan_entry(struct attempt *attempt, int directory, const char *series_run, const char *name,
                               bool remove)
{
  struct stat status;
  if (known_file_is(directory, name)) {
    bool gone = remove && (unlinkat(directory, name, 0) == 0 || errno == ENOENT);
    return gone || !remove ? CONTENT_MEASUREMENTS : CONTENT_FOREIGN;
  }
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
    return CONTENT_MEASUREMENTS;
  if (series_run)
    return CONTENT_FOREIGN;
  return scan_run(attempt, directory, name, remove);
}

/* Classifies the entries, until one is foreign, which is noted.  remove: also deletes the files of measurements, and
 * the directories of runs.  series_run: the name of a run's directory; NULL: it is the whole directory. */
static enum content scan(struct attempt *attempt, int directory, const char *series_run, bool remove)
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
    content = scan_entry(attempt, directory, series_run, entry->d_name, remove);
    if (content == CONTENT_FOREIGN && !attempt->foreign[0])
      snprintf(attempt->foreign, sizeof attempt->foreign, "%s%s%s", series_run ? series_run : "", series_run ? "/" : "",
               entry->d_name);
  }
  closedir(entries);
  return content;
}

/* ---- the marker ---- */

/* Reads the user's marker; waits for its content if another process has just created it.  Returns false if there is
 * none. */
static bool read_marker(int directory, char id[KNOWN_FILE_ID_BYTES])
{
  for (int waited_ms = 0;; waited_ms += 10) {
    struct stat status;
    int fd = safe_file_open(directory, FORMAT_LAUNCH_MARKER, O_RDONLY, geteuid());
    if (fd < 0)
      return false;
    bool marked = known_file_read_marker(fd, id);
    bool empty = fstat(fd, &status) == 0 && !status.st_size;
    close(fd);
    if (marked || !empty || waited_ms >= MARKER_WAIT_MS)
      return marked;
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  }
}

/* Returns 0, or errno: EEXIST if another process was first. */
static int write_marker(int directory, const char *id)
{
  assert(*id && strlen(id) < KNOWN_FILE_ID_BYTES);
  char text[KNOWN_FILE_ID_BYTES + 1];
  int length = snprintf(text, sizeof text, "%s\n", id);
  int fd = openat(directory, FORMAT_LAUNCH_MARKER, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  int error = write(fd, text, (size_t)length) == length ? 0 : errno;
  if (error)
    safe_file_remove(directory, FORMAT_LAUNCH_MARKER, fd);
  if (close(fd) != 0 && error == 0)
    error = errno;
  return error;
}

/* ---- taking a directory ---- */

static enum outcome refuse(const struct attempt *attempt, const char *reason)
{
  assert(attempt->message_size);
  snprintf(attempt->message, attempt->message_size, "%s '%.400s': %s", attempt->what, attempt->path, reason);
  return OUTCOME_REFUSED;
}

static enum outcome refuse_entry(const struct attempt *attempt, int error)
{
  char reason[128];
  if (error == ENOENT)
    return refuse(attempt, "its parent directory does not exist: create it");
  if (error == ELOOP || error == ENOTDIR)
    return refuse(attempt, "exists and is not a directory (links are not followed): give another directory");
  snprintf(reason, sizeof reason, "%s: give another directory", strerror(error));
  return refuse(attempt, reason);
}

/* Decides by the id in the marker whose directory it is. */
static enum outcome join(struct attempt *attempt, const char *id)
{
  assert(attempt->id);
  attempt->origin.joined = strcmp(id, attempt->id) == 0;
  return attempt->origin.joined ? OUTCOME_OURS : OUTCOME_BUSY;
}

static enum outcome claim(struct attempt *attempt, int directory)
{
  assert(directory >= 0 && attempt->id[0]);
  int error = write_marker(directory, attempt->id);
  if (error == 0)
    return OUTCOME_OURS;
  char id[KNOWN_FILE_ID_BYTES];
  if (error == EEXIST && read_marker(directory, id))
    return join(attempt, id);
  return refuse_entry(attempt, error);
}

/* format: has a place for the name of the foreign entry. */
static enum outcome refuse_foreign(struct attempt *attempt, const char *format) __attribute__((format(printf, 2, 0)));
static enum outcome refuse_foreign(struct attempt *attempt, const char *format)
{
  char reason[sizeof attempt->foreign + 128];
  if (!attempt->foreign[0])
    return refuse(attempt, "cannot be read: give another directory");
  snprintf(reason, sizeof reason, format, attempt->foreign);
  return refuse(attempt, reason);
}

/* Makes the directory private before it is used, as far as its file system has modes.  Returns false if others may
 * write to it nevertheless. */
static bool make_private(const struct attempt *attempt, int directory)
{
  struct stat status;
  if (fstat(directory, &status) == 0 && !(status.st_mode & 0077))
    return true;
  fchmod(directory, MODE);
  return attempt->trust || (fstat(directory, &status) == 0 && !(status.st_mode & 0022));
}

/* Empties a directory that holds measurements only, and takes it.  Nobody else can put a file into it meanwhile. */
static enum outcome replace(struct attempt *attempt, int directory)
{
  assert(attempt->overwrite);
  if (scan(attempt, directory, NULL, false) == CONTENT_FOREIGN)
    return refuse_foreign(attempt, "'%s' has just appeared in it and is not a measurement: give another directory");
  if (scan(attempt, directory, NULL, true) == CONTENT_FOREIGN)
    return refuse_foreign(attempt, "'%s' in it cannot be removed: give another directory");
  return claim(attempt, directory);
}

/* Decides whose directory it is, changing nothing.  OURS: it may be taken, or is this launch's already. */
static enum outcome examine(struct attempt *attempt, int directory, enum content *content)
{
  assert(directory >= 0);
  char id[KNOWN_FILE_ID_BYTES];
  struct stat status;
  if (fstat(directory, &status) != 0 || (!attempt->trust && status.st_uid != geteuid()))
    return refuse(attempt, "belongs to another user: give another directory, or --trust-directory");
  *content = CONTENT_MEASUREMENTS;
  if (read_marker(directory, id) && join(attempt, id) == OUTCOME_OURS)
    return OUTCOME_OURS;
  *content = scan(attempt, directory, NULL, false);
  if (*content == CONTENT_FOREIGN)
    return refuse_foreign(attempt, "holds files that are not measurements ('%s'): give another directory");
  return *content == CONTENT_EMPTY || attempt->overwrite ? OUTCOME_OURS : OUTCOME_BUSY;
}

/* Takes the directory, locked if the file system can lock. */
static enum outcome settle(struct attempt *attempt, int directory)
{
  assert(!attempt->origin.joined);
  enum content content;
  bool locked = flock(directory, LOCK_EX) == 0;
  enum outcome outcome = examine(attempt, directory, &content);
  if (outcome != OUTCOME_OURS)
    return outcome;
  bool replaced = content == CONTENT_MEASUREMENTS && !attempt->origin.joined;
  if (replaced && !locked)
    return refuse(attempt, "cannot be locked and so not replaced safely: remove it by hand");
  if (!make_private(attempt, directory))
    return refuse(attempt, "others may write to it, and its mode cannot be changed: give another directory, or "
                           "--trust-directory");
  if (attempt->origin.joined)
    return OUTCOME_OURS;
  if (replaced)
    return replace(attempt, directory);
  return claim(attempt, directory);
}

static enum outcome try_directory(struct attempt *attempt)
{
  assert(attempt->path && attempt->path[0] == '/');
  bool created = mkdir(attempt->path, MODE) == 0;
  attempt->origin = (struct directory_origin){.created = created};
  attempt->foreign[0] = '\0';
  if (!created && errno != EEXIST)
    return refuse_entry(attempt, errno);
  int directory = safe_file_open_directory(attempt->path);
  if (directory < 0)
    return refuse_entry(attempt, errno);
  enum outcome outcome = settle(attempt, directory);
  close(directory);
  if (created && outcome == OUTCOME_REFUSED)
    rmdir(attempt->path);
  return outcome;
}

/* Whether no other user can replace the directory of that path by another one. */
static bool check_place(const struct attempt *attempt, const char *path)
{
  char parent[PATH_MAX], reason[PATH_MAX];
  if (attempt->trust)
    return true;
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  slash[slash == parent] = '\0';
  if (safe_directory_check(parent, geteuid() == 0, reason, sizeof reason))
    return true;
  snprintf(attempt->message, attempt->message_size,
           "%s '%.300s': another user could replace it: %.400s; give another directory, or --trust-directory",
           attempt->what, path, reason);
  return false;
}

/* "hpcrun-lite-COMMAND-measurements[-JOB]", or -scaling; a job id or command with '/' cannot leave the current
 * directory. */
static void default_name(const struct directory_request *request, char *name, size_t size)
{
  assert(size);
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

/* Makes a path absolute, without slashes at its end, which would make open() follow a link.  Returns false with errno.
 */
static bool make_absolute(const char *given, char *path, size_t size)
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

/* Replaces a path by its real one, without links.  A link in the place of the directory itself stays.  Returns false
 * with errno. */
static bool resolve(char *path, size_t size)
{
  char real[PATH_MAX], name[PATH_MAX];
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
    return realpath(path, real) && snprintf(path, size, "%s", real) < (int)size;
  char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash + 1);
  slash[slash == path] = '\0';
  if (!realpath(path, real))
    return false;
  errno = ENAMETOOLONG;
  return snprintf(path, size, "%s%s%s", real, real[1] ? "/" : "", name) < (int)size;
}

/* Works out the absolute path, without links.  Returns false with a message, also if another user could replace it. */
static bool locate(struct attempt *attempt, const struct directory_request *request, char path[PATH_MAX])
{
  char name[PATH_MAX];
  default_name(request, name, sizeof name);
  attempt->path = request->output[0] ? request->output : name;
  if (!make_absolute(attempt->path, path, PATH_MAX)) {
    snprintf(attempt->message, attempt->message_size,
             "cannot find '%.400s' in the current directory: %s; give an absolute path with -o", attempt->path,
             strerror(errno));
    return false;
  }
  if (!resolve(path, PATH_MAX)) {
    refuse_entry(attempt, errno);
    return false;
  }
  return check_place(attempt, path);
}

static enum launch_status report(struct attempt *attempt, enum outcome outcome)
{
  if (outcome == OUTCOME_OURS)
    return LAUNCH_OK;
  if (outcome == OUTCOME_BUSY)
    snprintf(attempt->message, attempt->message_size,
             "%s '%.400s' holds measurements already: give another directory, or --overwrite", attempt->what,
             attempt->path);
  return LAUNCH_FAILED;
}

static struct attempt begin(const struct directory_request *request, char id[KNOWN_FILE_ID_BYTES], char *message,
                            size_t message_size)
{
  make_id(id, KNOWN_FILE_ID_BYTES, request->series);
  id[strcspn(id, "\n")] = '\0';
  return (struct attempt){.what = request->output[0] ? "-o" : "measurement directory",
                          .id = id,
                          .overwrite = request->overwrite,
                          .trust = request->trust,
                          .message = message,
                          .message_size = message_size};
}

enum launch_status directory_take(const struct directory_request *request, char *path, size_t path_size,
                                  struct directory_origin *origin, char *message, size_t message_size)
{
  char id[KNOWN_FILE_ID_BYTES], base[PATH_MAX];
  struct attempt attempt = begin(request, id, message, message_size);
  if (!locate(&attempt, request, base))
    return LAUNCH_FAILED;
  snprintf(path, path_size, "%s", base);
  attempt.path = path;
  enum launch_status status =
      request->output[0] ? report(&attempt, try_directory(&attempt)) : take_default(&attempt, base, path, path_size);
  *origin = attempt.origin;
  return status;
}

enum launch_status directory_examine(const struct directory_request *request, char *message, size_t message_size)
{
  char id[KNOWN_FILE_ID_BYTES], path[PATH_MAX];
  enum content content;
  struct attempt attempt = begin(request, id, message, message_size);
  if (!locate(&attempt, request, path))
    return LAUNCH_FAILED;
  int directory = request->output[0] ? safe_file_open_directory(path) : -1;
  if (directory < 0)
    return LAUNCH_OK;
  attempt.path = path;
  enum outcome outcome = examine(&attempt, directory, &content);
  close(directory);
  return report(&attempt, outcome);
}

void directory_give_back(const char *path, const struct directory_origin *origin)
{
  assert(path[0] == '/');
  char id[KNOWN_FILE_ID_BYTES];
  int directory = safe_file_open_directory(path);
  if (directory < 0)
    return;
  if (read_marker(directory, id) && strncmp(id, LAUNCH_ID, strlen(LAUNCH_ID)) == 0) {
    unlinkat(directory, FORMAT_LAUNCH_MARKER, 0);
    if (origin->created)
      rmdir(path);
  }
  close(directory);
}
