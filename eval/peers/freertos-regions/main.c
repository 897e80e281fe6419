/* Plain FreeRTOS-MPU in which tasks use more memory ranges than the protection unit has regions. */
#include "example.h"

#define NAMED(task) static REGION_TASK task
NAMED(alice);
NAMED(bob);
NAMED(urgent);
NAMED(heaper);
static REGION_TASK intruder[INTRUDERS];

#define PINNED(bytes) __attribute__((section(".pinned"), aligned(bytes)))
PINNED(256) static struct worker alice_memory;
PINNED(256) static struct worker bob_memory;
PINNED(512) static struct deadline urgent_memory;
_Static_assert(sizeof(struct worker) <= 256 && sizeof(struct deadline) <= 512, "pinned memory is one region");

#define POOL_BYTES (256u * 1024)
__attribute__((section(".buffers"), aligned(32))) static uint8_t pool[POOL_BYTES];
#define PIECE_BYTES 0x3000u /* six eighths of a region */
__attribute__((section(".heaps"), aligned(0x4000))) static uint8_t pieces[HEAP_PIECES][0x4000];

#define TASKS (5u + INTRUDERS)
__attribute__((section(".stacks"), aligned(STACK_WORDS * 4))) static StackType_t stacks[TASKS][STACK_WORDS];
PRIVILEGED_DATA static TaskHandle_t handles[TASKS];
PRIVILEGED_DATA static unsigned made;
PRIVILEGED_DATA static StaticTask_t control_block;
PRIVILEGED_DATA static uint32_t pool_next = (uint32_t)pool;

static void require(int holds, uint32_t line) {
    if (!holds) {
        PRINT("FAILED at main.c:#\n", line);
        board_exit(1);
    }
}
#define REQUIRE(condition) require(condition, __LINE__)

/* The next range of at least so many bytes that one region expresses, and a trie takes. */
static cfm_span take(uint32_t bytes) {
    cfm_span range;
    REQUIRE(cfm_region_place(bytes < 256 ? 256 : bytes, pool_next, &range) == CFM_OK);
    pool_next = range.base + (uint32_t)range.len;
    REQUIRE(pool_next <= (uint32_t)pool + POOL_BYTES);
    return range;
}

static void allow(struct region_task *task, cfm_span range, uint32_t access) {
    REQUIRE(regions_allow(task, range, access, NULL) == CFM_OK);
}

/* The ledger: every task's demand is admitted before the task is made. */
PRIVILEGED_DATA static cfm_ledger ledger;
#define TABLE_BYTES (sizeof alice.nodes + sizeof alice.leaves)
#define MISS_CYCLES 300u /* larger than the largest observed one: see docs/stand-alone.md */
#define NO_BUDGET UINT32_MAX

static void open_ledger(void) {
    const cfm_platform platform = {.registers = REGIONS_USABLE,
                                   .slots_for_data = cfm_slots_needed(0, 1),
                                   .slots_for_code = cfm_slots_needed(1, 0),
                                   .l1_cycles = MISS_CYCLES,
                                   .l2_cycles = MISS_CYCLES};
    REQUIRE(cfm_ledger_init(&ledger, &platform, TASKS * TABLE_BYTES, 0) == CFM_OK);
}

static uint32_t account_of_next(uint32_t misses) {
    uint32_t account;
    REQUIRE(cfm_ledger_open(&ledger, CFM_TCM, TABLE_BYTES, misses, &account, NULL) == CFM_OK);
    return account;
}

static void admit(uint32_t account, uint32_t spec, uint32_t misses) {
    const cfm_request request = {.task = account, .spec = spec, .table_bytes = TABLE_BYTES, .misses = misses};
    cfm_grant grant;
    REQUIRE(cfm_ledger_admit(&ledger, &request, &grant, NULL) == CFM_OK);
    PRINT("account #: admitted as level #, # cycles at most, method #\n", account, grant.level, grant.cycles,
          grant.method);
}

/* Checks that the ledger denies a request, and that it says which rule denies it, what is left, and
 * what it would admit instead. */
static void deny(uint32_t account, uint32_t spec, uint32_t misses, uint32_t rule) {
    const cfm_request request = {.task = account, .spec = spec, .misses = misses};
    cfm_grant grant;
    cfm_denial why;
    REQUIRE(cfm_ledger_admit(&ledger, &request, &grant, &why) == CFM_DENIED && why.rule == rule);
    PRINT("account #: denied by rule #, asked #, left #; change # to # would be admitted\n", account, why.rule,
          why.asked, why.left, why.change, why.value);
}

/* A task with at most one pinned range. */
static TaskHandle_t create(struct region_task *task, TaskFunction_t code, const char *name, void *argument,
                           unsigned priority, uint32_t pinned_bytes) {
    const TaskParameters_t parameters = {
        .pvTaskCode = code,
        .pcName = name,
        .usStackDepth = STACK_WORDS,
        .pvParameters = argument,
        .uxPriority = priority,
        .puxStackBuffer = stacks[made],
        .xRegions = {{pinned_bytes > 0 ? argument : NULL, pinned_bytes,
                      portMPU_REGION_READ_WRITE | portMPU_REGION_EXECUTE_NEVER | (configTEX_S_C_B_SRAM << 16)}},
        .pxTaskBuffer = &task->control,
    };
    REQUIRE(regions_create(task, &parameters, &handles[made]) == CFM_OK);
    return handles[made++];
}

/* The buffers of two workers alternate, and their lengths do too: no region covers two of one worker. */
static void give_buffers(void) {
    for (uint32_t i = 0; i < 2 * BUFFERS; i++) {
        struct region_task *const task = i % 2 == 0 ? &alice : &bob;
        struct worker *const memory = i % 2 == 0 ? &alice_memory : &bob_memory;
        const cfm_span range = take(256u << (i % 5));
        memory->at[i / 2] = (uint32_t *)range.base;
        memory->words[i / 2] = (uint32_t)range.len / 4;
        allow(task, range, CFM_READ | CFM_WRITE);
    }
}

PRIVILEGED_DATA static struct heap_user *heap_memory;

static void create_heaper(void) {
    const cfm_span range = take(sizeof(struct heap_user));
    struct heap_user *const memory = (struct heap_user *)range.base;
    heap_memory = memory;
    (void)create(&heaper, heap_task, "heaper", memory, 2, 0);
    allow(&heaper, range, CFM_READ | CFM_WRITE);
    memory->piece_bytes = PIECE_BYTES;
    for (uint32_t i = 0; i < HEAP_PIECES; i++) {
        memory->piece[i] = pieces[i];
        allow(&heaper, (cfm_span){.base = (uint32_t)pieces[i], .len = PIECE_BYTES}, CFM_READ | CFM_WRITE);
    }
    for (uint32_t i = 0; i < HEAP_BLOCKS; i++)
        memory->block[i] = NULL;
    memory->operations = memory->errors = 0;
}

PRIVILEGED_DATA static struct intrusion *intrusions[INTRUDERS];

static void create_intruders(void) {
    for (uint32_t i = 0; i < INTRUDERS; i++) {
        const cfm_span own = take(sizeof(struct intrusion)), constant = take(256);
        struct intrusion *const memory = (struct intrusion *)own.base;
        intrusions[i] = memory;
        memory->own = (const uint32_t *)constant.base;
        memory->target = i == READ_FOREIGN ? bob_memory.at[0] : (uint32_t *)&made;
        memory->reached = 0;
        *(uint32_t *)constant.base = 41;
        (void)create(&intruder[i], intruder_task[i], "intruder", memory, 3, 0);
        allow(&intruder[i], own, CFM_READ | CFM_WRITE);
        allow(&intruder[i], constant, CFM_READ);
    }
}

static void wait_for(const volatile uint32_t *counter, uint32_t value) {
    while (*counter != value)
        vTaskDelay(1);
    vTaskDelay(1); /* the task has suspended itself */
}

static void show(const char *name, const struct region_task *task) {
    cfm_trie_use use;
    REQUIRE(cfm_trie_usage(&task->trie, &use) == CFM_OK);
    board_print(name, NULL);
    PRINT(": # ranges, # misses, # of # nodes\n", use.regions, task->misses, REGIONS_NODES - use.free_nodes,
          REGIONS_NODES);
}

/* First one worker alone, then both at once, switched to and fro by the tick. */
static void run_workers(TaskHandle_t one, TaskHandle_t other) {
    vTaskSuspend(other);
    wait_for(&alice_memory.rounds, ROUNDS);
    const uint32_t alone = alice.misses;
    show("alice alone", &alice);
    REQUIRE(cfm_slots_evict(&alice.slots) == CFM_OK);
    alice.misses = 0;
    vTaskResume(other);
    vTaskResume(one);
    wait_for(&alice_memory.rounds, 2 * ROUNDS);
    wait_for(&bob_memory.rounds, ROUNDS);
    show("alice beside bob", &alice);
    show("bob", &bob);
    PRINT("errors of alice and bob: #, #\n", alice_memory.errors, bob_memory.errors);
    REQUIRE(alice_memory.errors == 0 && bob_memory.errors == 0);
    REQUIRE(alice.misses == alone && alone > 0); /* nobody's misses change anybody else's */
}

static void run_urgent(void) {
    wait_for(&urgent_memory.activations, ACTIVATIONS);
    show("urgent", &urgent);
    REQUIRE(urgent.misses == 0);
}

static void judge_intruders(int print) {
    static const uint32_t fault[INTRUDERS] = {CFM_UNMAPPED, CFM_PRESENT, CFM_UNMAPPED, REGIONS_OTHER_FAULT,
                                              REGIONS_OTHER_FAULT};
    for (uint32_t i = 0; i < INTRUDERS; i++) {
        if (print)
            PRINT("intruder #: stopped by # at 0x$, # misses before\n", i, intruder[i].fault, intruder[i].fault_address,
                  intruder[i].misses);
        REQUIRE(intruder[i].fault == fault[i] && intrusions[i]->reached == 0 && *intrusions[i]->own == 41);
    }
    REQUIRE(alice.fault == 0 && bob.fault == 0 && urgent.fault == 0 && heaper.fault == 0 && made != 0);
}

static void judge_heap(void) {
    cfm_heap_use use;
    uint64_t bytes;
    REQUIRE(cfm_heap_worst_case(HEAP_BLOCKS * HEAP_LARGEST, HEAP_LARGEST, HEAP_BLOCKS, HEAP_PIECES, &bytes) == CFM_OK);
    REQUIRE(bytes + HEAP_RECORDS <= HEAP_PIECES * PIECE_BYTES); /* hence no refusal */
    REQUIRE(cfm_heap_record_bytes(HEAP_BLOCKS, HEAP_PIECES, &bytes) == CFM_OK && bytes == HEAP_RECORDS);
    wait_for(&heap_memory->operations, HEAP_OPERATIONS);
    REQUIRE(cfm_heap_usage(&heap_memory->heap, &use) == CFM_OK);
    show("heaper", &heaper);
    PRINT("heap: # operations, # errors, peak # of # bytes in # pieces\n", heap_memory->operations, heap_memory->errors,
          use.peak, use.capacity, HEAP_PIECES);
    REQUIRE(heap_memory->errors == 0 && heap_memory->status == CFM_OK && use.peak > PIECE_BYTES);
}

/* Alice and bob: one pinned region, any number of paged ones, of which each task keeps its own registers. */
static void admit_all(void) {
    const uint32_t paged = CFM_L1 | CFM_INDEPENDENT;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t account = account_of_next(NO_BUDGET);
        admit(account, CFM_DETERMINISTIC, 0);
        admit(account, paged, 0);
        deny(account, CFM_DETERMINISTIC, 0, CFM_DENY_PINNED); /* a second one would leave one register for paging */
    }
    const uint32_t account = account_of_next(0); /* urgent must not miss */
    admit(account, CFM_DETERMINISTIC, 0);
    deny(account, paged, 1, CFM_DENY_MISSES);
}

/* Privileged, and runs when the workers wait or at the tick. */
static void control(void *unused) {
    (void)unused;
    judge_intruders(1);
    run_workers(handles[0], handles[1]);
    run_urgent();
    judge_heap();
    judge_intruders(0);
    PRINT("all ranges usable, every violation stopped its own task only\n");
    board_exit(0);
}

void board_main(void) {
    REQUIRE(cfm_version() == CFM_VERSION);
    open_ledger();
    (void)create(&alice, worker_task, "alice", &alice_memory, 1, 256);
    (void)create(&bob, worker_task, "bob", &bob_memory, 1, 256);
    (void)create(&urgent, deadline_task, "urgent", &urgent_memory, 4, 512);
    give_buffers();
    admit_all();
    create_heaper();
    create_intruders();
    const TaskParameters_t parameters = {
        .pvTaskCode = control,
        .pcName = "control",
        .usStackDepth = STACK_WORDS,
        .uxPriority = 2 | portPRIVILEGE_BIT,
        .puxStackBuffer = stacks[made],
        .pxTaskBuffer = &control_block,
    };
    REQUIRE(xTaskCreateRestrictedStatic(&parameters, &handles[made]) == pdPASS);
    vTaskStartScheduler();
}
