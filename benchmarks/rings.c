/* rings.c - the loops in which calls of several ring.c are timed in turns; rings.py gives it their functions. */
#define _GNU_SOURCE
#include <stdint.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds a put takes, the mean of some. */
double time_puts(int64_t (*put)(void *, const void *), void *writer, const void *payload, int count)
{
    int64_t begin = now_ns();
    for (int i = 0; i < count; i++)
        put(writer, payload);
    return (double)(now_ns() - begin) / count;
}

/* Nanoseconds a look takes, the mean of one of each reader. */
double time_looks(int (*latest)(void *, void *), void *const readers[], void *payload, int count)
{
    int64_t begin = now_ns();
    for (int i = 0; i < count; i++)
        latest(readers[i], payload);
    return (double)(now_ns() - begin) / count;
}
