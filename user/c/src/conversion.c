/* Conversions in the formats of printf and scanf. */
#include <string.h>

#include "conversion.h"

static enum length length_of(const char **at) {
    static const struct {
        char text[3];
        unsigned char size;
    } known[] = {{"hh", CHAR},  {"h", SHORT}, {"ll", LONG_LONG}, {"l", LONG},       {"q", LONG_LONG},
                 {"j", INTMAX}, {"z", WORD},  {"t", WORD},       {"L", WIDE_DOUBLE}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t bytes = strlen(known[i].text);
        if (strncmp(*at, known[i].text, bytes) == 0) {
            *at += bytes;
            return known[i].size;
        }
    }
    return NONE;
}

const char *cof_next_conversion(const char *format, struct conversion *found) {
    const char *at = strchr(format, '%');
    if (!at)
        return 0;
    found->flags = ++at;
    at += strspn(at, "-+ #0'");
    found->width = at;
    at += strspn(at, "*0123456789$");
    found->precision = at;
    if (*at == '.')
        at += 1 + strspn(at + 1, "*-0123456789$");
    found->length = at;
    found->size = length_of(&at);
    found->letter = *at;
    found->end = at + (*at != 0);
    if (found->letter == '[') {
        at += 1 + (at[1] == '^');
        at += *at == ']';
        const char *close = strchr(at, ']');
        found->end = close ? close + 1 : at + strlen(at);
    }
    return found->end;
}
