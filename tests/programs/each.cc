// Two threads and a gate of one domain that throw, look at `errno` and take text apart at once: each has what is its own.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "cofferdam.h"

namespace {
constexpr int CALLS = 15;
volatile int done, calls, second_rounds, second_wrong;

// Long enough that the others come in between.
void linger() {
    for (volatile int i = 0; i < 2000; i = i + 1) {
    }
}

struct Unwound {
    int *count;
    ~Unwound() { *count += std::uncaught_exceptions(); }
};

// Whether everything is as it should be for the activation with this number.
int wrong(int number) {
    char text[] = "a-b-c";
    int is_wrong = 0, in_flight = 0;
    char *first = strtok(text, "-");
    errno = 1000 + number;
    linger();
    is_wrong += errno != 1000 + number;
    try {
        Unwound unwound{&in_flight};
        linger();
        throw number;
    } catch (int caught) {
        is_wrong += caught != number || in_flight != 1 || std::uncaught_exceptions() != 0;
        linger();
        try {
            throw;
        } catch (int again) {
            is_wrong += again != number;
        }
    }
    is_wrong += std::current_exception() != nullptr;
    errno = 0;
    is_wrong += strtol("99999999999", nullptr, 10) != 2147483647;
    linger();
    is_wrong += errno != ERANGE;
    char *second = strtok(nullptr, "-"), *third = strtok(nullptr, "-");
    return is_wrong + (first != text || second != text + 2 || third != text + 4);
}
} // namespace

extern "C" COF_ENTRY void second(const uint32_t *, uint32_t) {
    while (!done) {
        second_wrong += wrong(2);
        second_rounds++;
        cof_sleep_until(cof_time_now() + cof_ticks_per_second() / 3000);
    }
    cof_exit(0);
}

extern "C" COF_ENTRY uint64_t show(uint32_t, uint32_t, uint32_t, uint32_t) {
    calls++;
    return cof_reply(0, static_cast<uint32_t>(wrong(3)));
}

int main() {
    int first_wrong = 0, before = second_rounds;
    while (calls < CALLS)
        first_wrong += wrong(1);
    done = 1;
    printf("first %d wrong, second %d wrong, %s\n", first_wrong, second_wrong,
           second_rounds > before + 1 ? "interleaved" : "APART");
    return 0;
}
