/* Duktape's interface as functions that Rust can call. Errors come back as messages: nothing jumps over Rust. */
#include <stdint.h>

#include "duktape.h"

/* In engine.rs: the number with that position (0 or 1) of a pair. */
double engine_series(uint32_t index, uint32_t part);
/* In engine.rs: one result. */
void engine_result(const char *name, const char *value);
/* In engine.rs: an error that no script can catch. */
void engine_fatal(const char *message);

static duk_ret_t series(duk_context *context) {
    duk_push_number(context, engine_series(duk_require_uint(context, 0), duk_require_uint(context, 1)));
    return 1;
}

static duk_ret_t result(duk_context *context) {
    engine_result(duk_require_string(context, 0), duk_to_string(context, 1));
    return 0;
}

static void fatal(void *data, const char *message) {
    (void)data;
    engine_fatal(message ? message : "no message");
    for (;;)
        ;
}

/* A new heap with the functions series(index, part) and result(name, value); null when there is no memory. */
void *engine_open(void) {
    duk_context *context = duk_create_heap(NULL, NULL, NULL, NULL, fatal);
    if (!context)
        return NULL;
    duk_push_c_function(context, series, 2);
    duk_put_global_string(context, "series");
    duk_push_c_function(context, result, 2);
    duk_put_global_string(context, "result");
    return context;
}

/* Runs a program; null, or the message of the error that ended it (valid until the next call). */
const char *engine_run(void *engine, const char *name, const char *source, uint32_t length) {
    duk_context *context = engine;
    duk_set_top(context, 0);
    duk_push_string(context, name);
    if (duk_pcompile_lstring_filename(context, 0, source, length) == 0 && duk_pcall(context, 0) == 0)
        return NULL;
    return duk_safe_to_string(context, -1);
}
