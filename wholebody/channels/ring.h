/* ring.h - newest-first channels between processes: the swap ring, for C and C++ controllers.
 *
 * A channel is one file in shared memory:
 *
 *      0 ┌────────────────────────────────────────────────────────────────┐
 *        │ wb_header: magic, version, sizes, offsets, layout hash, boot id │  written once, before the file
 *        ├────────────────────────────────────────────────────────────────┤  has a name
 *        │ head   sequence of the newest message (may lag by one)          │  own cache line
 *        ├────────────────────────────────────────────────────────────────┤
 *        │ event  futex word: wake-up count << 1 | "somebody waits"        │  own cache line
 *        ├────────────────────────────────────────────────────────────────┤
 *        │ layout text (JSON: fields, formats, shapes, offsets, labels)    │  written once
 *        ├────────────────────────────────────────────────────────────────┤
 *        │ ring[depth]     sequence (48 bits) << 16 | slot (16 bits)       │  message s stands at s % depth
 *        ├────────────────────────────────────────────────────────────────┤
 *        │ lease[writers]   slot a writer owns | slot it is about to take,  │  a cache line each
 *        │                 process id                                      │
 *        ├────────────────────────────────────────────────────────────────┤
 *        │ slot 0          time stamp, writer, process id, lost, payload   │
 *        │ ...                                                             │
 *        │ slot depth + 2 writers - 1                                      │
 *        └────────────────────────────────────────────────────────────────┘
 *
 * put     Every writer owns one slot that no one else can see. It fills that slot, then swaps it into the
 *         ring with one compare-and-swap of the entry that holds the oldest message; the slot it displaced
 *         is the one it fills next. A message is therefore in the ring whole or not at all, sequences have
 *         no holes, and a writer that is stopped or killed between any two instructions holds nobody up.
 * read    Load the entry, copy the slot, load the entry again. If it changed, the slot was displaced
 *         meanwhile and the copy is thrown away. Readers write nothing but the "somebody waits" bit.
 * death   A writer's life is a file lock (OFD) on its lease's byte; the kernel drops it at death. A slot lost
 *         in the middle of a put is found again by the next writer to register: it is the one that is neither
 *         in the ring nor on the lease of a living writer.
 *
 * gone    Who may write the file may also truncate it, remove it, or put another in its place. None of that ends a process:
 *         a handler of SIGBUS, installed by the first wb_open(), lays zeros over the mapping, and the call returns WB_GONE,
 *         as do, within 0.1 s, calls on a file that lies elsewhere or is damaged. Then close the handles and open the channel
 *         again. A SIGBUS from anywhere else goes to the handler that was there before; one that is installed later must
 *         pass on what is not its own. No number in the memory leads a call out of the mapping, or lets it run for ever.
 * rights  A channel has the rights of its folder, which wb_open() makes for its owner alone. A channel that this process may
 *         read and not write is mapped to be read: its readers cannot say that they wait, and look every millisecond.
 *
 * All calls return 0 or a positive value, or a negative code: -errno or one of wb_status. Times are
 * nanoseconds of CLOCK_MONOTONIC. Handles may be used by one thread at a time. A writer does not survive
 * fork(): in the child every call on it returns WB_FORKED. Nor does it survive closing its file descriptor behind its
 * back, as some daemons do that close all of them at start: open writers after that.
 *
 * Build:  gcc -O2 controller.c $(wholebody channels cflags) -o controller
 */
#ifndef WHOLEBODY_RING_H
#define WHOLEBODY_RING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_VERSION 2u
#define WB_NAME_MAX 120                         /* characters of a channel's name */
#define WB_PATH_MAX 4096
#define WB_DEPTH_MAX 32768u                     /* messages kept */
#define WB_WRITERS_MAX 1024u                    /* writers at once */
#define WB_PAYLOAD_MAX (UINT64_C(64) << 20)     /* bytes of one message */
#define WB_TEXT_MAX (1u << 20)                  /* bytes of the layout text */
#define WB_WAIT_MAX 64                          /* readers in one wait */
#define WB_FOREVER INT64_MAX                    /* an instant that never comes */

/* How generated headers define what every file that includes them shares. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define WB_CONSTANT inline const
#else
#define WB_CONSTANT static const
#endif

typedef enum wb_status {
    WB_NAME = -1001,       /* not a legal channel name */
    WB_SIZE = -1002,       /* depth, writers, payload or layout text out of range */
    WB_FOREIGN = -1003,    /* the file is no channel */
    WB_OLD = -1004,        /* the file is a channel of another version of this library */
    WB_TRUNCATED = -1005,  /* the file is shorter or longer than its header says */
    WB_CORRUPT = -1006,    /* the numbers in the file contradict each other */
    WB_STALE = -1007,      /* the file is from before the machine restarted: its time stamps mean nothing */
    WB_LAYOUT = -1008,     /* the file holds messages of another layout */
    WB_WRITERS = -1009,    /* every lease has a living writer */
    WB_BUSY = -1010,       /* a process is stopped in the middle of a put or of registering as a writer */
    WB_FORKED = -1011,     /* the writer was opened before fork() */
    WB_EXHAUSTED = -1012,  /* 2^48 messages have been put */
    WB_OVERRUN = -1013,    /* writers overwrite messages faster than this reader can copy them */
    WB_GONE = -1014,       /* the file was truncated, replaced or removed: close all handles and open the channel again */
    WB_UNSAFE = -1015,     /* anyone may write in the folder, so anyone could make channels there */
} wb_status;

/* What the messages of a channel look like. */
typedef struct wb_layout {
    uint64_t payload_size;
    uint64_t hash;         /* of the text */
    const char *text;
    uint32_t text_size;
} wb_layout;

typedef struct wb_ring wb_ring;        /* an open channel */
typedef struct wb_writer wb_writer;
typedef struct wb_reader wb_reader;

typedef struct wb_info {
    wb_layout layout;
    uint64_t newest;                   /* sequence of the newest message, 0 if none */
    uint64_t file_size;
    uint32_t depth, writers;
    int read_only;                     /* 1: this process may not write the channel */
} wb_info;

/* What a reader knows of the message it read last. */
typedef struct wb_message {
    uint64_t sequence;                 /* 1, 2, 3 ...; 0 before the first read */
    int64_t stamp;                     /* when it was put */
    uint64_t missed;                   /* messages between this one and the one read before it, lost by a mirror or here */
    uint64_t missed_total;
    uint64_t lost;                     /* what the writer said by wb_say_lost */
    uint32_t writer, process;
} wb_message;

/* The file of a channel: $WHOLEBODY_CHANNELS/NAME, by default /dev/shm/wholebody/NAME. */
int wb_path(const char *name, char path[WB_PATH_MAX]);

/* Open the channel at `path`, or create it if there is none and `layout` is given. With a layout, an existing
 * channel must have the same one; its own depth and number of writers stay. A channel that this process may only read is
 * opened all the same: there wb_writer_open() returns -EACCES. A new one has the rights of its folder. */
int wb_open(wb_ring **ring, const char *path, const wb_layout *layout, uint32_t depth, uint32_t writers);
void wb_close(wb_ring *ring);          /* after its writers and readers */
void wb_describe(const wb_ring *ring, wb_info *info);
int wb_look(wb_ring *ring);            /* look at the file now: 0, or WB_GONE */
int64_t wb_writer_process(const wb_ring *ring, uint32_t lease);   /* process id, 0 if nobody lives there */

int wb_writer_open(wb_writer **writer, wb_ring *ring);
void wb_writer_close(wb_writer *writer);
int64_t wb_put(wb_writer *writer, const void *payload);          /* the message's sequence; never waits */
int64_t wb_put_stamped(wb_writer *writer, const void *payload, int64_t stamp);   /* for mirrors of other clocks */
/* For mirrors: how many messages were lost on their way to this writer, counted from 1; readers add what it grows by to
 * `missed`. */
void wb_say_lost(wb_writer *writer, uint64_t lost);

int wb_reader_open(wb_reader **reader, wb_ring *ring);
void wb_reader_close(wb_reader *reader);
int wb_latest(wb_reader *reader, void *payload);                 /* 1: copied the newest; 0: nothing new */
int wb_next(wb_reader *reader, void *payload);                   /* 1: copied the oldest unread; 0: nothing new */
int wb_at(wb_reader *reader, uint64_t sequence, void *payload);  /* 1: copied; 0: overwritten, or not yet put */
void wb_message_of(const wb_reader *reader, wb_message *message);

/* Wait until one of the readers has something new: 1, or 0 when `until` has passed, or -EINTR.
 * Spins up to `spin` nanoseconds before it sleeps. */
int wb_wait(wb_reader *const readers[], int count, int64_t until, int64_t spin);
int wb_unread(wb_reader *reader);                                /* 1 if there is something new, or the channel is gone */

int64_t wb_now(void);
void wb_relax(void);                                             /* between two looks of a loop that spins */
const char *wb_explain(int64_t status);

#ifdef __cplusplus
}
#endif
#endif
