/* updater.c - the thread of updater.h. */
#define _POSIX_C_SOURCE 200809L
#include "wholebody/model/updater.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000 };

/* Sleep until the next look; true if it is time to end. */
static bool nap(Updater *updater)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    time_t seconds = (time_t)updater->nap;
    until.tv_sec += seconds;
    until.tv_nsec += (long)((updater->nap - (double)seconds) * NANOSECONDS);
    if (until.tv_nsec >= NANOSECONDS) {
        until.tv_nsec -= NANOSECONDS;
        until.tv_sec++;
    }
    pthread_mutex_lock(&updater->lock);
    int slept = 0;
    while (!updater->ending && slept == 0)
        slept = pthread_cond_timedwait(&updater->told, &updater->lock, &until);
    bool ending = updater->ending;
    pthread_mutex_unlock(&updater->lock);
    return ending;
}

static void *run(void *given)
{
    Updater *updater = given;
    while (!nap(updater)) {
        if (atomic_load_explicit(&updater->turn, memory_order_acquire) != UPDATER_ASKED)
            continue;
        updater->verdict = evaluate_snapshot(updater->tree, &updater->now);
        atomic_store_explicit(&updater->turn, UPDATER_DONE, memory_order_release);
    }
    return NULL;
}

void lay_out_updater(Updater *updater, const Tree *tree, double nap_seconds)
{
    updater->tree = tree;
    updater->nap = nap_seconds;
    updater->process = getpid();
    updater->running = false;
    atomic_init(&updater->turn, UPDATER_IDLE);
    pthread_mutex_init(&updater->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&updater->told, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int begin_updater(Updater *updater)
{
    if (updater->process != getpid())
        lay_out_updater(updater, updater->tree, updater->nap);
    if (updater->running)
        return 0;
    updater->ending = false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&updater->thread, NULL, run, updater);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    updater->running = error == 0;
    return error;
}

void end_updater(Updater *updater)
{
    if (updater->running && updater->process == getpid()) {
        pthread_mutex_lock(&updater->lock);
        updater->ending = true;
        pthread_cond_signal(&updater->told);
        pthread_mutex_unlock(&updater->lock);
        pthread_join(updater->thread, NULL);
    }
    updater->running = false;
}

void clear_updater(Updater *updater)
{
    if (updater->process != getpid())
        return; /* the thread that naps here is another process's, and would be waited for */
    pthread_cond_destroy(&updater->told);
    pthread_mutex_destroy(&updater->lock);
}

bool ask_updater(Updater *updater, Snapshot now)
{
    if (atomic_load_explicit(&updater->turn, memory_order_relaxed) != UPDATER_IDLE)
        return false;
    updater->now = now;
    atomic_store_explicit(&updater->turn, UPDATER_ASKED, memory_order_release);
    return true;
}

bool take_from_updater(Updater *updater, StateVerdict *verdict)
{
    if (atomic_load_explicit(&updater->turn, memory_order_acquire) != UPDATER_DONE)
        return false;
    *verdict = updater->verdict;
    atomic_store_explicit(&updater->turn, UPDATER_IDLE, memory_order_relaxed);
    return true;
}
