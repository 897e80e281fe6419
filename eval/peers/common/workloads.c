/* The operations that are measured, one after another; both peers are built from this file. The probes are the labels
 * `probe_<operation>_start` and `probe_<operation>_end`. */
#include "peer.h"

#include "probe.h"

#define TIMER1_CTRL (*(volatile uint32_t *)(TIMER1))
#define TIMER1_VALUE (*(volatile uint32_t *)(TIMER1 + 4))
#define TIMER1_RELOAD (*(volatile uint32_t *)(TIMER1 + 8))
#define TIMER1_CLEAR (*(volatile uint32_t *)(TIMER1 + 12))
#define TIMER_RUN 9u /* enable, and interrupt on zero */

enum { START_YIELD_A, START_YIELD_B, START_CLIENT, START_GIVER, START_OWNER, START_TIMER };
/* The control task runs when every other one waits, so that the first round of a workload is like all others. */
enum { SPIN = 0, CONTROL = 1, LOW = 2, HIGH = 4 };

static void wait_for(SemaphoreHandle_t what) {
    (void)xSemaphoreTake(what, portMAX_DELAY);
}

static void finish(void) {
    (void)xSemaphoreGive(shared.done);
    wait_for(shared.start[0]); /* never given a second time */
}

/* Thread switch: two tasks of one priority that yield to each other. `yield` is the round trip seen by `a`, `switch`
 * the way from `a`'s yield to `b`'s next instruction. */
PROBED static void yield_a(void *unused) {
    (void)unused;
    wait_for(shared.start[START_YIELD_A]);
    shared.task_privileged = (uint32_t)peer_privileged();
    (void)xSemaphoreGive(shared.start[START_YIELD_B]);
    taskYIELD(); /* the other task enters its loop */
    for (unsigned i = 0; i < ITERATIONS; i++) {
        PROBE(yield_start);
        taskYIELD();
        PROBE(yield_end);
    }
    finish();
}

PROBED static void yield_b(void *unused) {
    (void)unused;
    wait_for(shared.start[START_YIELD_B]);
    for (unsigned i = 0; i < ITERATIONS + 1; i++) {
        taskYIELD();
        PROBE(switch_end);
    }
    wait_for(shared.start[START_YIELD_B]);
}

/* Request and reply through two queues of one-word items. The server has the higher priority, which is the cheaper
 * order: it runs as soon as the request is sent, and the reply finds nobody waiting. `message` is the way of the
 * request alone. */
PROBED static void client(void *unused) {
    (void)unused;
    uint32_t word = 0;
    wait_for(shared.start[START_CLIENT]);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        PROBE(queue_start);
        (void)xQueueSend(shared.request, &word, portMAX_DELAY);
        (void)xQueueReceive(shared.reply, &word, portMAX_DELAY);
        PROBE(queue_end);
    }
    finish();
}

PROBED static void server(void *unused) {
    (void)unused;
    for (;;) {
        uint32_t word;
        (void)xQueueReceive(shared.request, &word, portMAX_DELAY);
        PROBE(message_end);
        word++;
        (void)xQueueSend(shared.reply, &word, portMAX_DELAY);
    }
}

/* A semaphore given by a task of lower priority: the taker runs at once. */
PROBED static void giver(void *unused) {
    (void)unused;
    wait_for(shared.start[START_GIVER]);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        PROBE(semaphore_start);
        (void)xSemaphoreGive(shared.give);
    }
    finish();
}

PROBED static void taker(void *unused) {
    (void)unused;
    for (;;) {
        (void)xSemaphoreTake(shared.give, portMAX_DELAY);
        PROBE(semaphore_end);
    }
}

/* A semaphore that nobody else uses, taken and given. */
PROBED static void owner(void *unused) {
    (void)unused;
    wait_for(shared.start[START_OWNER]);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        PROBE(uncontended_start);
        (void)xSemaphoreTake(shared.own, portMAX_DELAY);
        (void)xSemaphoreGive(shared.own);
        PROBE(uncontended_end);
    }
    finish();
}

/* An interrupt that wakes a task, while a task of lower priority computes. The probe starts at the first instruction of
 * the handler. `give_from_handler` is reached through the vector; the label stands on the vector's own address. */
PROBED static void timer_task(void *unused) {
    (void)unused;
    wait_for(shared.start[START_TIMER]);
    TIMER1_RELOAD = TIMER_PERIOD;
    TIMER1_VALUE = TIMER_PERIOD;
    TIMER1_CTRL = TIMER_RUN;
    for (unsigned i = 0; i < ITERATIONS; i++) {
        (void)xSemaphoreTake(shared.timer, portMAX_DELAY);
        PROBE(irq_end);
    }
    TIMER1_CTRL = 0;
    finish();
}

/* Named as a probe: the symbol of the function is its first instruction. */
PRIVILEGED_FUNCTION void probe_irq_start(void) {
    BaseType_t woken = pdFALSE;
    TIMER1_CLEAR = 1;
    (void)xSemaphoreGiveFromISR(shared.timer, &woken);
    portYIELD_FROM_ISR(woken);
}

static void spinner(void *unused) {
    (void)unused;
    for (volatile uint32_t count = 0;;)
        count++;
}

/* The observer counts masked stretches from the first word 1 ("switch") that is stored to the second word: after
 * start-up. */
PRIVILEGED_DATA volatile uint32_t peer_port[2];

/* Starts one workload after the other and ends the run. It is privileged, which the exit needs. The status is 1 when
 * the tasks did not run at the privilege that the build promises. */
static void control(void *unused) {
    (void)unused;
    peer_port[0] = 0;
    peer_port[1] = 1;
    for (unsigned next = START_YIELD_A; next <= START_TIMER; next++) {
        if (next == START_YIELD_B)
            continue;
        if (next == START_TIMER)
            peer_task(spinner, SPIN, 0);
        (void)xSemaphoreGive(shared.start[next]);
        wait_for(shared.done);
    }
    peer_exit(shared.task_privileged == peer_tasks_privileged ? 0 : 1);
}

static StaticQueue_t queues[12];
static uint32_t items[2][1];
static unsigned made;

static QueueHandle_t queue(uint8_t *storage) {
    return xQueueCreateStatic(1, sizeof(uint32_t), storage, &queues[made++]);
}
static SemaphoreHandle_t semaphore(void) {
    return xSemaphoreCreateBinaryStatic(&queues[made++]);
}

void workloads_create(void) {
    shared.request = queue((uint8_t *)items[0]);
    shared.reply = queue((uint8_t *)items[1]);
    shared.give = semaphore();
    shared.own = semaphore();
    shared.timer = semaphore();
    shared.done = semaphore();
    for (unsigned i = 0; i < 6; i++)
        shared.start[i] = semaphore();
    (void)xSemaphoreGive(shared.own);
    peer_task(control, CONTROL, 1);
    peer_task(yield_a, LOW, 0);
    peer_task(yield_b, LOW, 0);
    peer_task(client, LOW, 0);
    peer_task(server, HIGH, 0);
    peer_task(giver, LOW, 0);
    peer_task(taker, HIGH, 0);
    peer_task(owner, LOW, 0);
    peer_task(timer_task, HIGH, 0);
}
