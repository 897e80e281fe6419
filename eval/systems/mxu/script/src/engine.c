/* Duktape's interface as functions that Rust can call. Errors come back as messages: nothing jumps over Rust. */
#include <stdint.h>

#include "duktape.h"

/* In common: blocks of the domain's memory. */
void *mxu_alloc(size_t bytes);
void *mxu_realloc(void *block, size_t bytes);
void mxu_free(void *block);
/* In main.rs: one result, the labels around what is measured, and the end. */
void script_result(double value);
void script_measure(void *context);
void script_fatal(const char *message);

static void *allocate(void *data, duk_size_t bytes) {
    (void)data;
    return mxu_alloc(bytes);
}

static void *reallocate(void *data, void *block, duk_size_t bytes) {
    (void)data;
    return mxu_realloc(block, bytes);
}

static void release(void *data, void *block) {
    (void)data;
    mxu_free(block);
}

static void fatal(void *data, const char *message) {
    (void)data;
    script_fatal(message ? message : "no message");
    for (;;)
        ;
}

/* Element `index` of one of two sequences that are the same on every machine. */
static double element(uint32_t index, uint32_t part) {
    double first = (double)(index * 7919u % 75000u) / 7.0;
    double second = (double)(index * 40503u % 65536u) / 3.0;
    return part == 0 ? first : first + second;
}

/* fill(from, count, part): an array of that part of a sequence. */
static duk_ret_t fill(duk_context *context) {
    uint32_t from = duk_require_uint(context, 0), count = duk_require_uint(context, 1);
    uint32_t part = duk_require_uint(context, 2);
    duk_idx_t array = duk_push_array(context);
    for (uint32_t i = 0; i < count; i++) {
        duk_push_number(context, element(from + i, part));
        duk_put_prop_index(context, array, i);
    }
    return 1;
}

/* result(value) */
static duk_ret_t result(duk_context *context) {
    script_result(duk_require_number(context, 0));
    return 0;
}

static duk_ret_t call(duk_context *context, void *data) {
    (void)data;
    duk_call(context, 0);
    return 1;
}

/* Calls the function on top of the stack; its value or its error takes its place, and true or false says which. */
int script_call(void *context) {
    return duk_safe_call(context, call, 0, 1, 1) == DUK_EXEC_SUCCESS;
}

/* measure(function): calls the function between two labels, and returns what it returns. */
static duk_ret_t measure(duk_context *context) {
    duk_require_function(context, 0);
    script_measure(context);
    return 1;
}

void *engine_open(void) {
    duk_context *context = duk_create_heap(allocate, reallocate, release, 0, fatal);
    if (!context)
        return 0;
    duk_push_c_function(context, fill, 3);
    duk_put_global_string(context, "fill");
    duk_push_c_function(context, result, 1);
    duk_put_global_string(context, "result");
    duk_push_c_function(context, measure, 1);
    duk_put_global_string(context, "measure");
    return context;
}

/* Runs a program; null, or the message of the error that ended it (valid until the next call). */
const char *engine_run(void *engine, const char *source, uint32_t length) {
    duk_context *context = engine;
    duk_set_top(context, 0);
    duk_push_string(context, "script");
    if (duk_pcompile_lstring_filename(context, 0, source, length) == 0 && duk_pcall(context, 0) == 0)
        return 0;
    return duk_safe_to_string(context, -1);
}
