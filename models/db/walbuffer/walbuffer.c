/*
 * A VFS of SQLite for the one connection that writes. See walbuffer.go.
 *
 * It passes everything on to the system's own VFS. Only the write-ahead log is another
 * file: SQLite writes it in pieces, a header of 24 bytes and a page for each page that a
 * commit changes, some fifty a commit, one after the other. They are kept here and
 * written together.
 *
 * What SQLite asks of a file holds all the same, for pieces are written before anybody
 * could miss them:
 *  - before a sync, and at the end of a commit (the header of a commit's last page says
 *    so), which is before SQLite tells other connections of it in the shared index;
 *  - before the same file is read, truncated or measured;
 *  - before a piece that does not follow on the last.
 * What is still kept when the connection gives back the lock of those who write belongs to
 * a transaction that was taken back, and is dropped: others may write in that place now.
 * For this the main file's xShmLock is ours too; all else of that file is the system's.
 * A process that ends before that loses only pages of a commit that nobody was told of,
 * as it would without this file if it ended a moment earlier. The order in which bytes
 * are written stays. If a write fails, what is kept is dropped and the error is returned:
 * from the write that ends a commit, or from its sync, at which SQLite rolls back.
 */
#include "walbuffer.h"

#include <string.h>

enum {
	SQLITE_OK = 0,
	SQLITE_ERROR = 1,
	SQLITE_NOMEM = 7,
	SQLITE_OPEN_MAIN_DB = 0x00000100,
	SQLITE_OPEN_WAL = 0x00080000,
	SQLITE_SHM_UNLOCK = 1,
	SQLITE_SHM_EXCLUSIVE = 8,

	WRITE_LOCK = 0, /* https://sqlite.org/walformat.html, "WAL Locks" */

	FRAME_HEADER = 24, /* https://sqlite.org/fileformat2.html, "The Write-Ahead Log" */
	KEPT = 120 * 1024, /* SQLite's unixWrite takes less than 128 KiB at a time */
};

/* wal is the log: the system's file lies behind it. */
typedef struct {
	sqlite3_file base;
	sqlite3_file *real, *main; /* main: of the database */
	unsigned char *kept;
	int n;            /* bytes kept */
	sqlite3_int64 at; /* where they belong */
	int last;         /* the frame that is being written is the last of its commit */
} wal;

/* beside is what we add to a main file. It lies behind the system's file. */
typedef struct {
	sqlite3_io_methods methods; /* the system's, but for xShmLock */
	int (*shmLock)(sqlite3_file *, int, int, int);
	wal *log; /* NULL: not open */
} beside;

static sqlite3_vfs *under;
static long long written; /* writes of logs, all together; read by tests */

static int put(wal *w, const void *data, int n, sqlite3_int64 at) {
	__atomic_add_fetch(&written, 1, __ATOMIC_RELAXED);
	return w->real->pMethods->xWrite(w->real, data, n, at);
}

static int flush(wal *w) {
	int n = w->n;
	w->n = 0;
	return n == 0 ? SQLITE_OK : put(w, w->kept, n, w->at);
}

static int walWrite(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
	wal *w = (wal *)f;
	const unsigned char *bytes = data;
	int rc;
	if (n == FRAME_HEADER) { /* bytes 4 to 7: the size of the database after the commit, 0 within one */
		w->last = bytes[4] || bytes[5] || bytes[6] || bytes[7];
	}
	if (w->n > 0 && (at != w->at + w->n || n > KEPT - w->n)) {
		if ((rc = flush(w)) != SQLITE_OK) {
			return rc;
		}
	}
	if (n > KEPT) {
		return put(w, data, n, at);
	}
	if (w->n == 0) {
		w->at = at;
	}
	memcpy(w->kept + w->n, data, n);
	w->n += n;
	return w->last && n != FRAME_HEADER ? flush(w) : SQLITE_OK;
}

static int walRead(sqlite3_file *f, void *data, int n, sqlite3_int64 at) {
	wal *w = (wal *)f;
	int rc = flush(w);
	return rc != SQLITE_OK ? rc : w->real->pMethods->xRead(w->real, data, n, at);
}

static int walTruncate(sqlite3_file *f, sqlite3_int64 size) {
	wal *w = (wal *)f;
	int rc = flush(w);
	return rc != SQLITE_OK ? rc : w->real->pMethods->xTruncate(w->real, size);
}

static int walSync(sqlite3_file *f, int flags) {
	wal *w = (wal *)f;
	int rc = flush(w);
	return rc != SQLITE_OK ? rc : w->real->pMethods->xSync(w->real, flags);
}

static int walFileSize(sqlite3_file *f, sqlite3_int64 *size) {
	wal *w = (wal *)f;
	int rc = flush(w);
	return rc != SQLITE_OK ? rc : w->real->pMethods->xFileSize(w->real, size);
}

static int whole(int size) { return (size + 15) & ~15; }

static beside *besideOf(sqlite3_file *f) { return (beside *)((char *)f + whole(under->szOsFile)); }

static int mainShmLock(sqlite3_file *f, int first, int n, int flags) {
	beside *b = besideOf(f);
	if ((flags & SQLITE_SHM_UNLOCK) && (flags & SQLITE_SHM_EXCLUSIVE) && first <= WRITE_LOCK && WRITE_LOCK < first + n && b->log != NULL) {
		b->log->n = 0;
	}
	return b->shmLock(f, first, n, flags);
}

static int walClose(sqlite3_file *f) {
	wal *w = (wal *)f;
	besideOf(w->main)->log = NULL;
	sqlite3_free(w->kept); /* of no commit, as at the end of the lock */
	w->kept = NULL;
	return w->real->pMethods->xClose(w->real);
}

static int walLock(sqlite3_file *f, int level) {
	wal *w = (wal *)f;
	return w->real->pMethods->xLock(w->real, level);
}

static int walUnlock(sqlite3_file *f, int level) {
	wal *w = (wal *)f;
	return w->real->pMethods->xUnlock(w->real, level);
}

static int walCheckReservedLock(sqlite3_file *f, int *held) {
	wal *w = (wal *)f;
	return w->real->pMethods->xCheckReservedLock(w->real, held);
}

static int walFileControl(sqlite3_file *f, int op, void *arg) {
	wal *w = (wal *)f;
	return w->real->pMethods->xFileControl(w->real, op, arg);
}

static int walSectorSize(sqlite3_file *f) {
	wal *w = (wal *)f;
	return w->real->pMethods->xSectorSize(w->real);
}

static int walDeviceCharacteristics(sqlite3_file *f) {
	wal *w = (wal *)f;
	return w->real->pMethods->xDeviceCharacteristics(w->real);
}

static const sqlite3_io_methods walMethods = {
	.iVersion = 1, /* a log is neither shared memory nor mapped */
	.xClose = walClose,
	.xRead = walRead,
	.xWrite = walWrite,
	.xTruncate = walTruncate,
	.xSync = walSync,
	.xFileSize = walFileSize,
	.xLock = walLock,
	.xUnlock = walUnlock,
	.xCheckReservedLock = walCheckReservedLock,
	.xFileControl = walFileControl,
	.xSectorSize = walSectorSize,
	.xDeviceCharacteristics = walDeviceCharacteristics,
};

static int openMain(const char *name, sqlite3_file *f, int flags, int *out) {
	beside *b = besideOf(f);
	int rc = under->xOpen(under, name, f, flags, out);
	memset(b, 0, sizeof *b);
	if (rc != SQLITE_OK) {
		return rc;
	}
	b->methods = *f->pMethods;
	b->shmLock = f->pMethods->xShmLock;
	b->methods.xShmLock = mainShmLock;
	f->pMethods = &b->methods;
	return SQLITE_OK;
}

static int openWal(const char *name, sqlite3_file *f, int flags, int *out) {
	wal *w = (wal *)f;
	int rc;
	memset(w, 0, sizeof *w);
	if ((w->kept = sqlite3_malloc(KEPT)) == NULL) {
		return SQLITE_NOMEM;
	}
	w->real = (sqlite3_file *)((char *)f + whole(sizeof *w));
	w->main = sqlite3_database_file_object(name);
	if ((rc = under->xOpen(under, name, w->real, flags, out)) != SQLITE_OK) {
		if (w->real->pMethods != NULL) {
			w->real->pMethods->xClose(w->real);
		}
		sqlite3_free(w->kept);
		w->kept = NULL;
		return rc; /* base.pMethods is NULL: SQLite does not close it */
	}
	w->base.pMethods = &walMethods;
	besideOf(w->main)->log = w;
	return SQLITE_OK;
}

static int openFile(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
	(void)vfs;
	if (flags & SQLITE_OPEN_MAIN_DB) {
		return openMain(name, f, flags, out);
	}
	if (flags & SQLITE_OPEN_WAL) {
		return openWal(name, f, flags, out);
	}
	return under->xOpen(under, name, f, flags, out);
}

int walbuffer_register(void) {
	static sqlite3_vfs ours;
	if ((under = sqlite3_vfs_find(NULL)) == NULL) {
		return SQLITE_ERROR;
	}
	ours = *under; /* all but xOpen is the system's, which looks at nothing of its own */
	ours.pNext = NULL;
	ours.zName = "countersign-wal";
	ours.szOsFile = whole(under->szOsFile) + whole((int)(sizeof(wal) > sizeof(beside) ? sizeof(wal) : sizeof(beside)));
	ours.xOpen = openFile;
	return sqlite3_vfs_register(&ours, 0);
}

long long walbuffer_written(void) { return __atomic_load_n(&written, __ATOMIC_RELAXED); }
