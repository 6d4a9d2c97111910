/* updater.h - a thread that evaluates snapshots beside a control loop, which never waits for it.
 *
 * One snapshot at a time goes to the thread and back, and one number says whose it is:
 *
 *     UPDATER_IDLE  --ask-->  UPDATER_ASKED  --the thread evaluates-->  UPDATER_DONE  --take-->  UPDATER_IDLE
 *
 * The loop changes it from IDLE and DONE, the thread from ASKED: whoever may change it owns the snapshot's memory, so
 * neither ever waits for the other, and nothing is copied. The thread is not woken: a wake-up costs the loop more than
 * the snapshot itself (docs/decisions.md). It looks after every nap whether it was asked. */
#ifndef WHOLEBODY_MODEL_UPDATER_H
#define WHOLEBODY_MODEL_UPDATER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "wholebody/model/model.h"

enum { UPDATER_IDLE, UPDATER_ASKED, UPDATER_DONE };

typedef struct {
    const Tree *tree;
    Snapshot now;           /* asked for; its memory belongs to the caller, who keeps it until it is taken or ended */
    StateVerdict verdict;   /* on it, once done */
    atomic_int turn;        /* UPDATER_IDLE, UPDATER_ASKED or UPDATER_DONE */
    double nap;             /* seconds from one look to the next */
    pid_t process;          /* where all this was made: a process forked from it has no thread, and no use for the locks */
    bool running;
    pthread_t thread;
    pthread_mutex_t lock;   /* of `ending`, which interrupts a nap; the loop never takes it */
    pthread_cond_t told;
    bool ending;
} Updater;

/* Prepare memory that is all zero. */
void lay_out_updater(Updater *updater, const Tree *tree, double nap);

/* Start the thread, with all signals blocked; 0, or an errno. It runs until `end_updater`, which joins it. What is asked
 * for is not done without a thread, as after a fork, where beginning again starts one and forgets what was asked. */
int begin_updater(Updater *updater);
void end_updater(Updater *updater);

/* Release what `lay_out_updater` made, after `end_updater`. */
void clear_updater(Updater *updater);

/* Ask for everything at the q and v of a snapshot; false, and nothing happens, while one is asked for or not taken. */
bool ask_updater(Updater *updater, Snapshot now);

/* Take the snapshot that was asked for; false if it is not done. */
bool take_from_updater(Updater *updater, StateVerdict *verdict);

#endif
