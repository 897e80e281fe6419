/* The workload: a table of three columns in a database in memory. Rows 1 to n are inserted, those with id = 3k deleted,
 * those with id = 3k + 1 updated, those with id = 3k + 2 queried, and then all are deleted. The order says how a
 * program would do this. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sqlite3.h"

/* In common: blocks of the domain's memory. */
void *mxu_alloc(size_t bytes);
void *mxu_realloc(void *block, size_t bytes);
void mxu_free(void *block);
size_t mxu_size(void *block);

/* How it is done; the values are those of the thread's argument, 16 bits lower. */
enum {
    GROUPED = 1,   /* each phase is one transaction */
    TEXT = 2,      /* each row has a statement of its own, as text */
    INDEXED = 4,   /* the key is no alias of SQLite's row number, so that it has an index */
    SCATTERED = 8, /* rows are visited in an order that jumps */
    BUDDIES = 16,  /* SQLite's own allocator has the memory */
};

/* An order: the number of rows, the options, and the memory. */
struct order {
    int32_t rows;
    uint32_t how;
    void *heap;
    int32_t heap_bytes;
};

/* The results that the harness checks. */
struct results {
    uint32_t inserted, deleted, updated, found, left, changed;
    int64_t sum;
};

static void *allocate(int bytes) {
    return mxu_alloc((size_t)bytes);
}

static void *reallocate(void *block, int bytes) {
    return mxu_realloc(block, (size_t)bytes);
}

static int size_of(void *block) {
    return (int)mxu_size(block);
}

static int round_up(int bytes) {
    return (bytes + 7) & ~7;
}

static int begin(void *data) {
    (void)data;
    return SQLITE_OK;
}

static void end(void *data) {
    (void)data;
}

/* There are no files: the database is in memory. SQLite still wants a file system to be registered. */
static int open_nothing(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out) {
    (void)vfs, (void)name, (void)flags, (void)out;
    file->pMethods = 0;
    return SQLITE_CANTOPEN;
}

static int access_nothing(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs, (void)name, (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int delete_nothing(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs, (void)name, (void)sync;
    return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int room, char *into) {
    (void)vfs;
    if (strlen(name) >= (size_t)room)
        return SQLITE_CANTOPEN;
    strcpy(into, name);
    return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int bytes, char *into) {
    (void)vfs;
    memset(into, 1, (size_t)bytes); /* every run is the same */
    return bytes;
}

static int sleep_not(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs, (void)microseconds;
    return 0;
}

static int current_time(sqlite3_vfs *vfs, double *julian_day) {
    (void)vfs;
    *julian_day = 2451544.5; /* 2000-01-01 */
    return SQLITE_OK;
}

static sqlite3_vfs none = {
    .iVersion = 1,
    .szOsFile = sizeof(sqlite3_file),
    .mxPathname = 31,
    .zName = "none",
    .xOpen = open_nothing,
    .xDelete = delete_nothing,
    .xAccess = access_nothing,
    .xFullPathname = full_name,
    .xRandomness = randomness,
    .xSleep = sleep_not,
    .xCurrentTime = current_time,
};

int sqlite3_os_init(void) {
    return sqlite3_vfs_register(&none, 1);
}

int sqlite3_os_end(void) {
    return SQLITE_OK;
}

static int choose_memory(const struct order *order) {
    static const sqlite3_mem_methods methods = {allocate, mxu_free, reallocate, size_of, round_up, begin, end, 0};
    const int least = 64; /* bytes of a block */
    if (order->how & BUDDIES)
        return sqlite3_config(SQLITE_CONFIG_HEAP, order->heap, order->heap_bytes, least);
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

static sqlite3 *open_database(const struct order *order) {
    sqlite3 *db;
    if (choose_memory(order) || sqlite3_initialize() || sqlite3_open(":memory:", &db))
        return 0;
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = 0;
    return sqlite3_prepare_v2(db, sql, -1, &statement, 0) ? 0 : statement;
}

/* The work of a phase: what it keeps of its statement, and what it says for one row. */
struct work {
    sqlite3 *db;
    const struct order *order;
    struct results *results;
    sqlite3_stmt *kept;
    char sql[96], name[32];
};

static int is_text(const struct work *work) {
    return work->order->how & TEXT;
}

/* Prepares the statement of a phase, unless each row has its own; whether that failed. */
static int keep(struct work *work, const char *sql) {
    work->kept = is_text(work) ? 0 : prepare(work->db, sql);
    return !work->kept && !is_text(work);
}

/* The statement for one row: the kept one, or one for the text in `sql`. */
static sqlite3_stmt *statement(struct work *work) {
    return work->kept ? work->kept : prepare(work->db, work->sql);
}

static void over(struct work *work, sqlite3_stmt *statement) {
    if (work->kept)
        sqlite3_reset(statement);
    else
        sqlite3_finalize(statement);
}

/* Executes a statement that returns nothing; how many rows it changed. */
static uint32_t change(struct work *work) {
    sqlite3_stmt *one = statement(work);
    int status = sqlite3_step(one);
    over(work, one);
    return status == SQLITE_DONE ? (uint32_t)sqlite3_changes(work->db) : 0;
}

/* Number `index` of 0 to count - 1, in order or with jumps; no count here is a multiple of the prime. */
static int visited(const struct order *order, int index, int count) {
    return order->how & SCATTERED ? (int)((int64_t)index * 7919 % count) : index;
}

static int insert(struct work *work) {
    int rows = work->order->rows;
    if (keep(work, "INSERT INTO t VALUES (?1, ?2, ?3)"))
        return 1;
    for (int index = 0; index < rows; index++) {
        int id = visited(work->order, index, rows) + 1;
        int length = sniprintf(work->name, sizeof work->name, "the text of row %d", id);
        if (is_text(work)) {
            sniprintf(work->sql, sizeof work->sql, "INSERT INTO t VALUES (%d, '%s', %d)", id, work->name, id * 7);
        } else {
            sqlite3_bind_int(work->kept, 1, id);
            sqlite3_bind_text(work->kept, 2, work->name, length, SQLITE_TRANSIENT);
            sqlite3_bind_int(work->kept, 3, id * 7);
        }
        work->results->inserted += change(work);
    }
    return sqlite3_finalize(work->kept);
}

static int delete_third(struct work *work) {
    int count = work->order->rows / 3;
    if (keep(work, "DELETE FROM t WHERE id = ?1"))
        return 1;
    for (int index = 0; index < count; index++) {
        int id = 3 * visited(work->order, index, count) + 3;
        if (is_text(work))
            sniprintf(work->sql, sizeof work->sql, "DELETE FROM t WHERE id = %d", id);
        else
            sqlite3_bind_int(work->kept, 1, id);
        work->results->deleted += change(work);
    }
    return sqlite3_finalize(work->kept);
}

static int update_third(struct work *work) {
    int count = (work->order->rows + 2) / 3;
    if (keep(work, "UPDATE t SET name = ?2, value = ?3 WHERE id = ?1"))
        return 1;
    for (int index = 0; index < count; index++) {
        int id = 3 * visited(work->order, index, count) + 1;
        int length = sniprintf(work->name, sizeof work->name, "changed row %d", id);
        if (is_text(work)) {
            sniprintf(work->sql, sizeof work->sql, "UPDATE t SET name = '%s', value = %d WHERE id = %d", work->name,
                      id * 11, id);
        } else {
            sqlite3_bind_int(work->kept, 1, id);
            sqlite3_bind_text(work->kept, 2, work->name, length, SQLITE_TRANSIENT);
            sqlite3_bind_int(work->kept, 3, id * 11);
        }
        work->results->updated += change(work);
    }
    return sqlite3_finalize(work->kept);
}

static int query_third(struct work *work) {
    int count = (work->order->rows + 1) / 3;
    if (keep(work, "SELECT name, value FROM t WHERE id = ?1"))
        return 1;
    for (int index = 0; index < count; index++) {
        int id = 3 * visited(work->order, index, count) + 2;
        if (is_text(work))
            sniprintf(work->sql, sizeof work->sql, "SELECT name, value FROM t WHERE id = %d", id);
        else
            sqlite3_bind_int(work->kept, 1, id);
        sqlite3_stmt *one = statement(work);
        while (sqlite3_step(one) == SQLITE_ROW) {
            work->results->found++;
            work->results->sum += sqlite3_column_int(one, 1) + sqlite3_column_bytes(one, 0);
        }
        over(work, one);
    }
    return sqlite3_finalize(work->kept);
}

static int64_t number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t value = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

typedef int phase(struct work *work);

/* A phase as one transaction, or with one for each statement. */
static int transact(phase *run, struct work *work) {
    if (!(work->order->how & GROUPED))
        return run(work);
    return sqlite3_exec(work->db, "BEGIN", 0, 0, 0) || run(work) || sqlite3_exec(work->db, "COMMIT", 0, 0, 0);
}

static int create(sqlite3 *db, const struct order *order) {
    return sqlite3_exec(db,
                        order->how & INDEXED ? "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, value INTEGER)"
                                             : "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value INTEGER)",
                        0, 0, 0);
}

/* The whole workload; 0, or the number of the step that failed. */
int workload(const struct order *order, struct results *results) {
    sqlite3 *db = open_database(order);
    if (!db)
        return 1;
    if (create(db, order))
        return 2;
    struct work work = {.db = db, .order = order, .results = results};
    if (transact(insert, &work))
        return 3;
    if (transact(delete_third, &work))
        return 4;
    if (transact(update_third, &work))
        return 5;
    if (transact(query_third, &work))
        return 6;
    if (sqlite3_exec(db, "DELETE FROM t", 0, 0, 0))
        return 7;
    results->changed = (uint32_t)sqlite3_changes(db);
    results->left = (uint32_t)number(db, "SELECT count(*) FROM t");
    return sqlite3_close(db) ? 8 : 0;
}

/* Most bytes that SQLite has had allocated at one time. */
uint32_t workload_peak(void) {
    return (uint32_t)sqlite3_memory_highwater(0);
}
