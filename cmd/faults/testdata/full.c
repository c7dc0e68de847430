// The disk of a program is full as long as the file $FULL is there: what a file has can be written again, and no file
// grows. The program is started with this in LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// full says whether there is no space for bytes up to an offset; -1: where the file is read next.
static int full(int fd, off_t end) {
	struct stat s;
	const char *flag = getenv("FULL");
	int before = errno, is = flag && access(flag, F_OK) == 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
	if (is && end < 0) end = lseek(fd, 0, SEEK_CUR) + -end;
	is = is && end > s.st_size && !(fcntl(fd, F_GETFL) & O_APPEND); // its log is elsewhere
	errno = is ? ENOSPC : before;
	return is;
}

static off_t length(const struct iovec *v, int n) {
	off_t all = 0;
	for (int i = 0; i < n; i++) all += v[i].iov_len;
	return all;
}

#define REAL(name, type) ((ssize_t(*) type)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *b, size_t n) { return n && full(fd, -(off_t)n) ? -1 : REAL(write, (int, const void *, size_t))(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { return full(fd, at + n) ? -1 : REAL(pwrite, (int, const void *, size_t, off_t))(fd, b, n, at); }
ssize_t pwrite64(int fd, const void *b, size_t n, off_t at) { return full(fd, at + n) ? -1 : REAL(pwrite64, (int, const void *, size_t, off_t))(fd, b, n, at); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) { return full(fd, at + length(v, n)) ? -1 : REAL(pwritev, (int, const struct iovec *, int, off_t))(fd, v, n, at); }
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at) { return full(fd, at + length(v, n)) ? -1 : REAL(pwritev64, (int, const struct iovec *, int, off_t))(fd, v, n, at); }
