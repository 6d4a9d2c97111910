/* Fixed loops that benchmarks are measured against: they change with the machine, never with our code. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 24 };

/* c = a b for matrices of 24 x 24, row by row: arithmetic of the size of a robot, all in the first cache. */
void matrix_product(const double *a, const double *b, double *c)
{
    for (int row = 0; row < SIZE; row++) {
        double *out = c + row * SIZE;
        for (int column = 0; column < SIZE; column++)
            out[column] = 0.0;
        for (int k = 0; k < SIZE; k++) {
            double factor = a[row * SIZE + k];
            for (int column = 0; column < SIZE; column++)
                out[column] += factor * b[k * SIZE + column];
        }
    }
}

static int64_t thread_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Nanoseconds of CPU that so many products take; each begins with the one before. */
int64_t time_products(double *a, double *b, double *c, int count)
{
    int64_t begin = thread_time();
    for (int i = 0; i < count; i++) {
        matrix_product(a, b, c);
        a[i % (SIZE * SIZE)] += 1e-12 * c[0];
    }
    return thread_time() - begin;
}

struct ends { int in, out, count; };

static void *answer(void *given)
{
    struct ends *ends = given;
    char byte;
    for (int i = 0; i < ends->count; i++)
        if (read(ends->in, &byte, 1) != 1 || write(ends->out, &byte, 1) != 1)
            break;
    return NULL;
}

static int64_t round_trips(int count)
{
    int there[2], back[2];
    struct timespec begin, end;
    pthread_t thread;
    char byte = 1;
    if (pipe(there))
        return -1;
    if (pipe(back)) {
        close(there[0]);
        close(there[1]);
        return -1;
    }
    struct ends ends = {there[0], back[1], count};
    int failed = pthread_create(&thread, NULL, answer, &ends);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < count && !failed; i++)
        failed = write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    close(there[1]);
    if (!failed)
        pthread_join(thread, NULL);
    close(there[0]);
    close(back[0]);
    close(back[1]);
    return failed ? -1 : (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + end.tv_nsec - begin.tv_nsec;
}

/* Nanoseconds that so many round trips of a byte through two pipes between two threads take; below zero if it fails.
   Both threads are held on the core on which the caller runs: where they go else would be the scheduler's choice. */
int64_t time_round_trips(int count)
{
    cpu_set_t before, here;
    if (sched_getaffinity(0, sizeof before, &before))
        return -1;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
    int64_t took = round_trips(count);
    sched_setaffinity(0, sizeof before, &before);
    return took;
}
