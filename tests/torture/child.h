/* child.h - the calls in whose middle a process is killed or stopped. */
#ifndef TORTURE_CHILD_H
#define TORTURE_CHILD_H

#include "witness.h"

static const wb_layout layout = {.payload_size = WORDS * sizeof(uint64_t), .hash = 1, .text = "{}", .text_size = 2};
static char fresh_folder[WB_PATH_MAX], fresh_path[WB_PATH_MAX];   /* of a channel that it creates */

static wb_reader *subject;             /* its reader; in the parent as it was before the call */
static wb_writer *own_writer;
static wb_ring *own_ring;
static int64_t patience;               /* ns that it waits */

static struct {
    uint64_t words[WORDS];
    wb_message message;
} *outcome;                            /* what it read, shared with the parent */

static void prepare_writer(void)
{
    if (wb_writer_open(&own_writer, ring) < 0)
        _exit(3);
    fill(outcome->words, WORDS, CHILD, 1);
}

static int64_t call_put(void) { return wb_put(own_writer, outcome->words); }

static void put_twice(void)
{
    for (uint64_t count = 2; count < 4; count++) {
        fill(outcome->words, WORDS, CHILD, count);
        wb_put(own_writer, outcome->words);
    }
}

static int64_t call_open(void) { return wb_writer_open(&own_writer, ring); }

static int64_t call_close(void)
{
    wb_writer_close(own_writer);
    return 0;
}

static int64_t call_latest(void)
{
    int status = wb_latest(subject, outcome->words);
    wb_message_of(subject, &outcome->message);
    return status;
}

static int64_t call_next(void)
{
    int status = wb_next(subject, outcome->words);
    wb_message_of(subject, &outcome->message);
    return status;
}

static int64_t call_wait(void) { return wb_wait(&subject, 1, wb_now() + patience, 0); }

static int64_t call_create(void) { return wb_open(&own_ring, fresh_path, &layout, DEPTH, WRITERS); }

static void read_what_was_created(void)
{
    wb_reader *own_reader;
    if (wb_reader_open(&own_reader, own_ring) == 0)
        wb_latest(own_reader, outcome->words);
}

static const script put = {prepare_writer, call_put, put_twice}, open_writer = {NULL, call_open, put_twice},
                    close_writer = {prepare_writer, call_close, NULL}, latest = {NULL, call_latest, NULL},
                    next = {NULL, call_next, NULL}, wait_for_it = {NULL, call_wait, NULL},
                    create_channel = {NULL, call_create, read_what_was_created};

#endif
