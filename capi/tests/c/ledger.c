/* The ledger against the rules of admission, written down a second time: three tasks on three registers. */
#include "check.h"

#define TASKS 3u
#define GRANTS 40u
#define REGISTERS 3u

static const cfm_platform platform = {
    .registers = REGISTERS, .slots_for_data = 2, .slots_for_code = 2, .l1_cycles = 150, .l2_cycles = 170};
static const uint32_t classes[TASKS] = {CFM_TCM, CFM_ON_CHIP, CFM_ON_CHIP};
static const uint32_t tables[TASKS] = {2000, 3000, 0}, budgets[TASKS] = {UINT32_MAX, 50, 0};
static cfm_ledger ledger, copy, no_ledger;
static cfm_grant grants[GRANTS];
static uint32_t grant_count, admitted, denied, changes, released;

static struct {
    uint32_t pinned, data, code, table, misses;
} model[TASKS];

static void start(void) {
    uint32_t task;
    cfm_denial why;
    CHECK(cfm_ledger_init(&ledger, &platform, 2000, 4000) == CFM_OK);
    for (uint32_t i = 0; i < TASKS; i++)
        CHECK(cfm_ledger_open(&ledger, classes[i], tables[i], budgets[i], &task, &why) == CFM_OK && task == i);
    CHECK(cfm_ledger_open(&ledger, CFM_TCM, 1, 0, &task, &why) == CFM_DENIED);
    CHECK(why.rule == CFM_DENY_TABLE_MEMORY && why.asked == 1 && why.left == 0);
    CHECK(cfm_ledger_open(&ledger, CFM_ON_CHIP, 1001, 0, &task, &why) == CFM_DENIED && why.left == 1000);
    CHECK(cfm_ledger_open(&ledger, 3, 0, 0, &task, &why) == CFM_ARGUMENT);
}

/* The rule that a request breaks, or 0; and what is left in its unit. */
static uint32_t rule_of(const cfm_request *request, uint32_t *left) {
    const uint32_t level = request->spec & 7, task = request->task;
    *left = 0;
    if (task >= TASKS) {
        *left = TASKS;
        return CFM_DENY_TASK;
    }
    if (request->spec & CFM_CONSTANT_TIME)
        return CFM_DENY_RELEASE;
    if (level == CFM_L3)
        return CFM_DENY_NO_L3;
    const uint32_t paged = model[task].code > 0 ? 4 : model[task].data > 0 ? 2 : 0;
    if (level == CFM_DETERMINISTIC) {
        *left = REGISTERS - model[task].pinned - paged;
        if ((request->registers > 0 ? request->registers : 1) > *left)
            return CFM_DENY_PINNED;
    } else {
        if (level == CFM_L1 && classes[task] != CFM_TCM) {
            *left = CFM_L2;
            return CFM_DENY_TABLE_LEVEL;
        }
        *left = REGISTERS - model[task].pinned;
        if ((request->code || model[task].code > 0 ? 4 : 2) > *left)
            return CFM_DENY_PAGED;
    }
    *left = budgets[task] - model[task].misses;
    if (request->misses > *left)
        return CFM_DENY_MISSES;
    *left = tables[task] - model[task].table;
    return level != CFM_DETERMINISTIC && request->table_bytes > *left ? CFM_DENY_TABLE_MEMORY : 0;
}

static void count(const cfm_grant *grant, uint32_t sign) {
    const uint32_t task = grant->task;
    model[task].pinned += sign * grant->registers;
    model[task].table += sign * grant->table_bytes;
    model[task].misses += sign * grant->misses;
    if (grant->registers == 0)
        *(grant->code ? &model[task].code : &model[task].data) += sign;
}

static void compare(void) {
    for (uint32_t i = 0; i < TASKS; i++) {
        cfm_account account;
        CHECK(cfm_ledger_account(&ledger, i, &account) == CFM_OK);
        CHECK(account.pinned == model[i].pinned && account.paged == model[i].code + model[i].data);
        CHECK(account.table_bytes == tables[i] && account.table_used == model[i].table);
        CHECK(account.misses == budgets[i] && account.misses_used == model[i].misses);
    }
}

/* A proposed change is admitted when nothing else has changed: tried on a copy. */
static void try_change(cfm_request request, cfm_denial why) {
    uint8_t bytes[CFM_LEDGER_BYTES];
    uint32_t length;
    cfm_grant grant;
    if (why.change != CFM_CHANGE_SPEC && why.change != CFM_CHANGE_MISSES)
        return;
    CHECK(cfm_ledger_save(&ledger, bytes, sizeof bytes, &length) == CFM_OK);
    CHECK(cfm_ledger_load(&copy, bytes, length) == CFM_OK);
    *(why.change == CFM_CHANGE_SPEC ? &request.spec : &request.misses) = why.value;
    CHECK(cfm_ledger_admit(&copy, &request, &grant, NULL) == CFM_OK);
    changes++;
}

static void admit_one(void) {
    static const uint32_t levels[] = {CFM_BEST_EFFORT,          CFM_L2,           CFM_L1, CFM_DETERMINISTIC, CFM_L3,
                                      CFM_L2 | CFM_INDEPENDENT, CFM_CONSTANT_TIME};
    const uint32_t task = below(20) == 0 ? TASKS : below(TASKS);
    const cfm_request request = {.task = task,
                                 .spec = levels[below(below(4) == 0 ? 7 : 4)],
                                 .code = below(8) == 0,
                                 .registers = below(3),
                                 .table_bytes = below(4) * 300,
                                 .misses = below(2) * below(20)};
    uint32_t left;
    const uint32_t rule = rule_of(&request, &left);
    cfm_grant grant = {.task = 77};
    cfm_denial why;
    const cfm_status status = cfm_ledger_admit(&ledger, &request, &grant, &why);
    if (rule != 0) {
        CHECK(status == CFM_DENIED && why.rule == rule && why.left == left && grant.task == 77);
        try_change(request, why);
        denied++;
        return;
    }
    CHECK(status == CFM_OK && grant.task == task && grant.spec == request.spec && grant.level >= (request.spec & 7));
    const int pinned = (request.spec & 7) == CFM_DETERMINISTIC;
    CHECK(pinned ? grant.cycles == 0 && grant.method == 1
                 : grant.method == 2 && grant.table_bytes == request.table_bytes);
    CHECK(pinned || grant.cycles == (classes[task] == CFM_TCM ? 150u : 170u));
    grants[grant_count++] = grant;
    count(&grant, 1);
    admitted++;
}

static void histories(void) {
    start();
    for (unsigned step = 0; step < 40000; step++) {
        if (grant_count < GRANTS && below(3) != 0) {
            admit_one();
        } else if (grant_count > 0) {
            const uint32_t victim = below(grant_count);
            const cfm_grant grant = grants[victim];
            CHECK(cfm_ledger_release(&ledger, &grant) == CFM_OK);
            count(&grant, UINT32_MAX);
            grants[victim] = grants[--grant_count];
            released++;
        }
        compare();
    }
    while (grant_count > 0)
        CHECK(cfm_ledger_release(&ledger, &grants[--grant_count]) == CFM_OK);
}

static void limits(void) {
    cfm_request request = {.spec = CFM_L2, .misses = 1};
    cfm_grant grant = {.task = 0, .registers = 1, .method = 1};
    cfm_account account;
    cfm_denial why;
    uint8_t bytes[CFM_LEDGER_BYTES];
    uint32_t length = 0, task;
    cfm_platform large = platform;
    large.registers = 65;
    CHECK(cfm_ledger_init(&copy, &large, 0, 0) == CFM_ARGUMENT);
    CHECK(cfm_ledger_release(&ledger, &grant) == CFM_NOT_GRANTED);
    grant.task = TASKS;
    CHECK(cfm_ledger_release(&ledger, &grant) == CFM_NOT_GRANTED);
    CHECK(cfm_ledger_account(&ledger, TASKS, &account) == CFM_ARGUMENT);
    request.spec = 32;
    CHECK(cfm_ledger_admit(&ledger, &request, &grant, &why) == CFM_ARGUMENT);
    request.spec = 5;
    CHECK(cfm_ledger_admit(&ledger, &request, &grant, &why) == CFM_ARGUMENT);
    request.spec = CFM_L2;
    CHECK(cfm_ledger_save(&ledger, bytes, 100, &length) == CFM_ARGUMENT && length == 0);
    CHECK(cfm_ledger_save(&ledger, bytes, sizeof bytes, &length) == CFM_OK && length <= sizeof bytes);
    bytes[length / 2] ^= 1;
    CHECK(cfm_ledger_load(&copy, bytes, length) == CFM_DAMAGED);
    CHECK(cfm_ledger_load(&copy, bytes, 0) == CFM_DAMAGED);
    for (uint32_t i = TASKS; i < CFM_LEDGER_TASKS; i++)
        CHECK(cfm_ledger_open(&ledger, CFM_TCM, 0, 0, &task, NULL) == CFM_OK);
    CHECK(cfm_ledger_open(&ledger, CFM_TCM, 0, 0, &task, &why) == CFM_DENIED && why.rule == CFM_DENY_TASK);
    CHECK(cfm_ledger_save(&ledger, bytes, sizeof bytes, &length) == CFM_OK && length == CFM_LEDGER_BYTES);
    CHECK(cfm_ledger_init(NULL, &platform, 0, 0) == CFM_NULL && cfm_ledger_init(&copy, NULL, 0, 0) == CFM_NULL);
    CHECK(cfm_ledger_open(NULL, CFM_TCM, 0, 0, &task, &why) == CFM_NULL);
    CHECK(cfm_ledger_open(&ledger, CFM_TCM, 0, 0, NULL, &why) == CFM_NULL);
    CHECK(cfm_ledger_admit(NULL, &request, &grant, &why) == CFM_NULL);
    CHECK(cfm_ledger_admit(&ledger, NULL, &grant, &why) == CFM_NULL);
    CHECK(cfm_ledger_admit(&ledger, &request, NULL, &why) == CFM_NULL);
    CHECK(cfm_ledger_release(NULL, &grant) == CFM_NULL && cfm_ledger_release(&ledger, NULL) == CFM_NULL);
    CHECK(cfm_ledger_account(NULL, 0, &account) == CFM_NULL && cfm_ledger_account(&ledger, 0, NULL) == CFM_NULL);
    CHECK(cfm_ledger_save(NULL, bytes, 9, &length) == CFM_NULL &&
          cfm_ledger_save(&ledger, NULL, 9, &length) == CFM_NULL);
    CHECK(cfm_ledger_save(&ledger, bytes, sizeof bytes, NULL) == CFM_NULL);
    CHECK(cfm_ledger_load(NULL, bytes, 9) == CFM_NULL && cfm_ledger_load(&copy, NULL, 9) == CFM_NULL);
    CHECK(cfm_ledger_account((cfm_ledger *)(void *)((char *)&ledger + 4), 0, &account) == CFM_MISALIGNED);
    CHECK(cfm_ledger_account(&no_ledger, 0, &account) == CFM_STALE);
    CHECK(cfm_ledger_admit(&no_ledger, &request, &grant, &why) == CFM_STALE);
}

int main(void) {
    histories();
    limits();
    printf("admitted %u\ndenied %u\nchanges %u\nreleased %u\n", admitted, denied, changes, released);
    return 0;
}
