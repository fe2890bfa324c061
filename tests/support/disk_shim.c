/* Watches what a process writes below one folder: for tests of power cuts and of failing disks.

   Loaded with LD_PRELOAD. Below SHIM_ROOT, every change of a file or folder is written to SHIM_LOG with its data and
   its time, in the order in which it happened, and the call number SHIM_FAIL_AT (and every one after it, if
   SHIM_FAIL_ON is 1) fails with the error SHIM_ERRNO. SHIM_CALLS says which calls can fail: o(pen), r(ead), w(rite),
   s(ync), n(ames). tests/support/power_loss.py reads the log. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, RENAME, UNLINK, MKDIR, SYNC_BEGIN, SYNC_END, LINK, RMDIR, MARK };
enum { MOST_FILES = 65536 };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static int log_file = -1;
static long fail_at, fail_on, calls_made, syncs;
static int fail_errno;
static char fail_calls[16];
static unsigned char watched[MOST_FILES]; /* descriptors below the root: 1 a file, 2 a folder */

#define REAL(name, type) \
    static __typeof__(type) real_##name; \
    if (!real_##name) real_##name = (__typeof__(type))dlsym(RTLD_NEXT, #name)

struct record {
    uint32_t op, path_length;
    uint64_t inode, offset, length;
    double time;
};

static void to_log(const void *data, size_t length) {
    static ssize_t (*real_write)(int, const void *, size_t);
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    const char *rest = data;
    while (length) {
        ssize_t done = real_write(log_file, rest, length);
        if (done <= 0) return;
        rest += done;
        length -= done;
    }
}

static void note(int op, uint64_t inode, uint64_t offset, const char *path, const void *data, size_t length) {
    if (log_file < 0) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record record = {op, path ? strlen(path) : 0, inode, offset, length, now.tv_sec + now.tv_nsec / 1e9};
    to_log(&record, sizeof record);
    if (path) to_log(path, record.path_length);
    if (data) to_log(data, length);
}

__attribute__((constructor)) static void set_up(void) {
    const char *text = getenv("SHIM_ROOT");
    if (!text) return;
    snprintf(root, sizeof root, "%s", text);
    root_length = strlen(root);
    if ((text = getenv("SHIM_FAIL_AT"))) fail_at = atol(text);
    if ((text = getenv("SHIM_FAIL_ON"))) fail_on = atol(text);
    if ((text = getenv("SHIM_ERRNO"))) fail_errno = atoi(text);
    snprintf(fail_calls, sizeof fail_calls, "%s", (text = getenv("SHIM_CALLS")) ? text : "");
    if ((text = getenv("SHIM_LOG"))) {
        int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        log_file = fcntl(real_open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), F_DUPFD_CLOEXEC, 900);
    }
}

/* For a process that arms the shim itself, after a fork: see tests/support/failing_disk.py. */
void shim_arm(const char *folder, const char *kinds, long at, long on, int error) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    snprintf(fail_calls, sizeof fail_calls, "%s", kinds);
    fail_at = at, fail_on = on, fail_errno = error, calls_made = 0;
}

long shim_calls(void) { return calls_made; }

void shim_mark(const char *text) {
    pthread_mutex_lock(&one_at_a_time);
    note(MARK, 0, 0, text, NULL, 0);
    pthread_mutex_unlock(&one_at_a_time);
}

static int below_root(const char *path) {
    return root_length && path && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static int is_watched(int fd) { return fd >= 0 && fd < MOST_FILES && watched[fd]; }

/* Whether this call is one that fails; sets errno. */
static int fails(char kind) {
    if (!fail_at || !strchr(fail_calls, kind)) return 0;
    long number = __sync_add_and_fetch(&calls_made, 1);
    if (number == fail_at || (fail_on && number > fail_at)) {
        errno = fail_errno;
        return 1;
    }
    return 0;
}

static uint64_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) ? 0 : status.st_ino;
}

static int opened(int fd, const char *path, int flags, int existed) {
    if (fd < 0 || fd >= MOST_FILES) return fd;
    struct stat status;
    watched[fd] = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 2 : 1;
    if (!existed) note(CREATE, status.st_ino, 0, path, NULL, 0);
    else if (flags & O_TRUNC) note(TRUNCATE, status.st_ino, 0, path, NULL, 0);
    return fd;
}

#define OPENER(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name, int (*)(const char *, int, ...)); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } \
        if (!below_root(path)) { int fd = real_##name(path, flags, mode); if (fd >= 0 && fd < MOST_FILES) watched[fd] = 0; return fd; } \
        if (fails('o')) return -1; \
        pthread_mutex_lock(&one_at_a_time); \
        struct stat status; \
        int existed = lstat(path, &status) == 0; \
        int fd = opened(real_##name(path, flags, mode), path, flags, existed); \
        pthread_mutex_unlock(&one_at_a_time); \
        return fd; \
    }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name, int (*)(int, const char *, int, ...)); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } \
        if (!below_root(path)) { int fd = real_##name(folder, path, flags, mode); if (fd >= 0 && fd < MOST_FILES) watched[fd] = 0; return fd; } \
        if (fails('o')) return -1; \
        pthread_mutex_lock(&one_at_a_time); \
        struct stat status; \
        int existed = lstat(path, &status) == 0; \
        int fd = opened(real_##name(folder, path, flags, mode), path, flags, existed); \
        pthread_mutex_unlock(&one_at_a_time); \
        return fd; \
    }
OPENER_AT(openat)
OPENER_AT(openat64)

#define DUPLICATOR(declaration, call, name, type) \
    declaration { \
        REAL(name, type); \
        int copy = call; \
        if (copy >= 0 && copy < MOST_FILES && fd >= 0 && fd < MOST_FILES) watched[copy] = watched[fd]; \
        return copy; \
    }
DUPLICATOR(int dup(int fd), real_dup(fd), dup, int (*)(int))
DUPLICATOR(int dup2(int fd, int to), real_dup2(fd, to), dup2, int (*)(int, int))
DUPLICATOR(int dup3(int fd, int to, int flags), real_dup3(fd, to, flags), dup3, int (*)(int, int, int))

#define FCNTL(name) \
    int name(int fd, int command, ...) { \
        REAL(name, int (*)(int, int, ...)); \
        va_list more; va_start(more, command); void *argument = va_arg(more, void *); va_end(more); \
        int result = real_##name(fd, command, argument); \
        if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && result < MOST_FILES && fd < MOST_FILES) \
            watched[result] = watched[fd]; \
        return result; \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

int close(int fd) {
    REAL(close, int (*)(int));
    if (fd >= 0 && fd < MOST_FILES) watched[fd] = 0;
    return real_close(fd);
}

ssize_t read(int fd, void *data, size_t length) {
    REAL(read, ssize_t (*)(int, void *, size_t));
    return is_watched(fd) && fails('r') ? -1 : real_read(fd, data, length);
}

#define READER(name, offset_type) \
    ssize_t name(int fd, void *data, size_t length, offset_type offset) { \
        REAL(name, ssize_t (*)(int, void *, size_t, offset_type)); \
        return is_watched(fd) && fails('r') ? -1 : real_##name(fd, data, length, offset); \
    }
READER(pread, off_t)
READER(pread64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
    REAL(write, ssize_t (*)(int, const void *, size_t));
    if (!is_watched(fd)) return real_write(fd, data, length);
    if (fails('w')) return -1;
    pthread_mutex_lock(&one_at_a_time);
    ssize_t done = real_write(fd, data, length);
    if (done > 0) note(WRITE, inode_of(fd), lseek(fd, 0, SEEK_CUR) - done, NULL, data, done);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

#define WRITER(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t length, offset_type offset) { \
        REAL(name, ssize_t (*)(int, const void *, size_t, offset_type)); \
        if (!is_watched(fd)) return real_##name(fd, data, length, offset); \
        if (fails('w')) return -1; \
        pthread_mutex_lock(&one_at_a_time); \
        ssize_t done = real_##name(fd, data, length, offset); \
        if (done > 0) note(WRITE, inode_of(fd), offset, NULL, data, done); \
        pthread_mutex_unlock(&one_at_a_time); \
        return done; \
    }
WRITER(pwrite, off_t)
WRITER(pwrite64, off64_t)

#define CUTTER(name, offset_type) \
    int name(int fd, offset_type length) { \
        REAL(name, int (*)(int, offset_type)); \
        if (!is_watched(fd)) return real_##name(fd, length); \
        if (fails('w')) return -1; \
        pthread_mutex_lock(&one_at_a_time); \
        int result = real_##name(fd, length); \
        if (!result) note(TRUNCATE, inode_of(fd), length, NULL, NULL, 0); \
        pthread_mutex_unlock(&one_at_a_time); \
        return result; \
    }
CUTTER(ftruncate, off_t)
CUTTER(ftruncate64, off64_t)

#define SYNCER(name) \
    int name(int fd) { \
        REAL(name, int (*)(int)); \
        if (!is_watched(fd)) return real_##name(fd); \
        if (fails('s')) return -1; \
        char link[64], path[PATH_MAX] = ""; \
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd); \
        ssize_t length = readlink(link, path, sizeof path - 1); \
        path[length > 0 ? length : 0] = 0; \
        pthread_mutex_lock(&one_at_a_time); \
        uint64_t number = ++syncs, inode = inode_of(fd); \
        note(SYNC_BEGIN, inode, number, path, NULL, 0); \
        pthread_mutex_unlock(&one_at_a_time); \
        int result = real_##name(fd); \
        pthread_mutex_lock(&one_at_a_time); \
        if (!result) note(SYNC_END, inode, number, path, NULL, 0); \
        pthread_mutex_unlock(&one_at_a_time); \
        return result; \
    }
SYNCER(fsync)
SYNCER(fdatasync)

#define NAMES(declaration, call, name, type, path, op, other) \
    declaration { \
        REAL(name, type); \
        if (!below_root(path)) return call; \
        if (fails('n')) return -1; \
        pthread_mutex_lock(&one_at_a_time); \
        int result = call; \
        if (!result) note(op, 0, 0, path, other, (other) ? strlen((const char *)(other)) : 0); \
        pthread_mutex_unlock(&one_at_a_time); \
        return result; \
    }
NAMES(int rename(const char *from, const char *to), real_rename(from, to), rename, int (*)(const char *, const char *), from, RENAME, to)
NAMES(int link(const char *from, const char *to), real_link(from, to), link, int (*)(const char *, const char *), from, LINK, to)
NAMES(int unlink(const char *path), real_unlink(path), unlink, int (*)(const char *), path, UNLINK, (const char *)0)
NAMES(int rmdir(const char *path), real_rmdir(path), rmdir, int (*)(const char *), path, RMDIR, (const char *)0)
NAMES(int mkdir(const char *path, mode_t mode), real_mkdir(path, mode), mkdir, int (*)(const char *, mode_t), path, MKDIR, (const char *)0)
