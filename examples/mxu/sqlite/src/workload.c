/* The workload: a table of three columns in a database in memory. Rows 1 to n are inserted, those with id = 3k deleted,
 * those with id = 3k + 1 updated, those with id = 3k + 2 queried, and then all are deleted; each by the statements that
 * a program would prepare. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sqlite3.h"

/* In common: blocks of the domain's memory. */
void *mxu_alloc(size_t bytes);
void *mxu_realloc(void *block, size_t bytes);
void mxu_free(void *block);
size_t mxu_size(void *block);

/* What is to be done: how many rows, and whether each phase is one transaction. */
struct order {
    int32_t rows, grouped;
};

/* What the harness checks. */
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

static sqlite3 *open_database(void) {
    static const sqlite3_mem_methods methods = {allocate, mxu_free, reallocate, size_of, round_up, begin, end, 0};
    sqlite3 *db;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) || sqlite3_initialize() || sqlite3_open(":memory:", &db))
        return 0;
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = 0;
    return sqlite3_prepare_v2(db, sql, -1, &statement, 0) ? 0 : statement;
}

/* Executes a statement that returns nothing, for the row `id`; how many rows it changed. */
static uint32_t change(sqlite3 *db, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE)
        return 0;
    sqlite3_reset(statement);
    return (uint32_t)sqlite3_changes(db);
}

static int insert(sqlite3 *db, int rows, struct results *results) {
    sqlite3_stmt *statement = prepare(db, "INSERT INTO t VALUES (?1, ?2, ?3)");
    char text[32];
    if (!statement)
        return 1;
    for (int id = 1; id <= rows; id++) {
        int length = sniprintf(text, sizeof text, "the text of row %d", id);
        sqlite3_bind_int(statement, 1, id);
        sqlite3_bind_text(statement, 2, text, length, SQLITE_TRANSIENT);
        sqlite3_bind_int(statement, 3, id * 7);
        results->inserted += change(db, statement);
    }
    return sqlite3_finalize(statement);
}

static int delete_third(sqlite3 *db, int rows, struct results *results) {
    sqlite3_stmt *statement = prepare(db, "DELETE FROM t WHERE id = ?1");
    if (!statement)
        return 1;
    for (int id = 3; id <= rows; id += 3) {
        sqlite3_bind_int(statement, 1, id);
        results->deleted += change(db, statement);
    }
    return sqlite3_finalize(statement);
}

static int update_third(sqlite3 *db, int rows, struct results *results) {
    sqlite3_stmt *statement = prepare(db, "UPDATE t SET name = ?2, value = ?3 WHERE id = ?1");
    char text[32];
    if (!statement)
        return 1;
    for (int id = 1; id <= rows; id += 3) {
        int length = sniprintf(text, sizeof text, "changed row %d", id);
        sqlite3_bind_int(statement, 1, id);
        sqlite3_bind_text(statement, 2, text, length, SQLITE_TRANSIENT);
        sqlite3_bind_int(statement, 3, id * 11);
        results->updated += change(db, statement);
    }
    return sqlite3_finalize(statement);
}

static int query_third(sqlite3 *db, int rows, struct results *results) {
    sqlite3_stmt *statement = prepare(db, "SELECT name, value FROM t WHERE id = ?1");
    if (!statement)
        return 1;
    for (int id = 2; id <= rows; id += 3) {
        sqlite3_bind_int(statement, 1, id);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            results->found++;
            results->sum += sqlite3_column_int(statement, 1) + sqlite3_column_bytes(statement, 0);
        }
        sqlite3_reset(statement);
    }
    return sqlite3_finalize(statement);
}

static int64_t number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t value = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

typedef int phase(sqlite3 *db, int rows, struct results *results);

/* A phase as one transaction, or with one for each statement. */
static int transact(sqlite3 *db, phase *work, const struct order *order, struct results *results) {
    if (!order->grouped)
        return work(db, order->rows, results);
    return sqlite3_exec(db, "BEGIN", 0, 0, 0) || work(db, order->rows, results) || sqlite3_exec(db, "COMMIT", 0, 0, 0);
}

/* The whole workload; 0, or the number of the step that failed. */
int workload(const struct order *order, struct results *results) {
    sqlite3 *db = open_database();
    if (!db)
        return 1;
    if (sqlite3_exec(db, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value INTEGER)", 0, 0, 0))
        return 2;
    if (transact(db, insert, order, results))
        return 3;
    if (transact(db, delete_third, order, results))
        return 4;
    if (transact(db, update_third, order, results))
        return 5;
    if (transact(db, query_third, order, results))
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
