/* payload.h - messages that cannot be mixed unnoticed: who wrote it, its count, a pattern of both, a checksum. */
#ifndef TORTURE_PAYLOAD_H
#define TORTURE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 27;
}

/* A life is one writer from its registration to its death; no two are the same. Its low half is the process id. */
static inline void fill(uint64_t *words, size_t count_of_words, uint64_t life, uint64_t count)
{
    uint64_t sum = life ^ count, pattern = scramble(life ^ count * GOLDEN);
    words[0] = life;
    words[1] = count;
    for (size_t i = 2; i < count_of_words - 1; i++)
        sum ^= words[i] = pattern + i * GOLDEN;
    words[count_of_words - 1] = sum;
}

static inline bool is_whole(const uint64_t *words, size_t count_of_words)
{
    uint64_t sum = words[0] ^ words[1], pattern = scramble(words[0] ^ words[1] * GOLDEN);
    for (size_t i = 2; i < count_of_words - 1; i++) {
        if (words[i] != pattern + i * GOLDEN)
            return false;
        sum ^= words[i];
    }
    return words[count_of_words - 1] == sum;
}

#endif
