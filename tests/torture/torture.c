/* torture.c - one writer or reader of the torture, to be killed at any instant; run.py starts and kills them.
 *
 *     torture ROLE TALLIES ROW SEED CHANNEL...
 *
 * ROLE     writer, crowd (opens writers up to the limit, puts, closes them), latest, next, wait or at
 * TALLIES  a file of counters, mapped, so that they survive the kill; this process counts in row ROW
 * CHANNEL  the channel's file; latest, next and wait take several
 *
 * It is built around ring.c with delays at the numbered points inside a put. */
static void delay(int point);
#define WB_FAULT(point) delay(point)
#include "ring.c"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "payload.h"

#define AUTHORS 4096
#define CHANNELS_MAX 8
#define NICE 5                         /* the one who strikes must get a turn among so many */
#define EVIDENCE_MAX 3                 /* lines of evidence from one process */

typedef struct {
    uint64_t put, read, torn, misordered, missed, overrun, refused, faults;
} tally;

typedef struct {
    uint64_t life, count, missed;
} author;

typedef struct {
    wb_ring *ring;
    wb_reader *reader;
    uint64_t *words;
    size_t size;                       /* in words */
    uint64_t sequence, missed;         /* of the message read last, and of all */
    int64_t stamp;
    author authors[AUTHORS];           /* what was read last of each; a newer one may push an older one out */
} channel;

static tally *counts;
static uint64_t dice;
static bool delays;

static uint64_t throw(uint64_t sides)
{
    dice += GOLDEN;
    return (scramble(scramble(dice)) >> 16) % sides;
}

static void doze(uint64_t nanoseconds)
{
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)nanoseconds};
    nanosleep(&pause, NULL);
}

static void delay(int point)
{
    uint64_t luck = delays ? throw(1000) : 0;
    (void)point;
    if (luck < 900)
        return;
    if (luck < 960)
        sched_yield();
    else
        doze(throw(luck < 998 ? 300000 : 5000000));
}

static void say(const char *law, const channel *where, const wb_message *message)
{
    static int lines;
    if (lines++ < EVIDENCE_MAX)
        fprintf(stderr, "%s: message %lu after %lu, missed %lu, stamp %ld after %ld, life %lx, count %lu\n", law,
                message->sequence, where->sequence, message->missed, message->stamp, where->stamp, where->words[0],
                where->words[1]);
}

static void fault(const char *what, int64_t status)
{
    counts->faults++;
    fprintf(stderr, "%s: %s\n", what, wb_explain(status));
    for (;;)
        pause();
}

/* --- writers ------------------------------------------------------------------------------------ */

static uint64_t new_life(void) { return throw(UINT32_MAX) << 32 | (uint32_t)getpid(); }

static void put(const channel *to, wb_writer *writer, uint64_t life, uint64_t count)
{
    fill(to->words, to->size, life, count);
    int64_t status = wb_put(writer, to->words);
    if (status <= 0)
        fault("put", status);
    counts->put++;
}

static bool enlist(wb_writer **writer, wb_ring *ring)
{
    int status = wb_writer_open(writer, ring);
    if (status != 0 && status != WB_WRITERS && status != WB_BUSY)
        fault("register", status);
    if (status == WB_BUSY)
        counts->refused++;
    return status == 0;
}

static void write_on(channel *to, int count_of_channels)
{
    wb_writer *writer;
    uint64_t life = new_life();
    (void)count_of_channels;
    delays = throw(4) > 0;
    while (!enlist(&writer, to->ring))
        doze(1000000);
    for (uint64_t count = 1;; count++) {
        put(to, writer, life, count);
        if (throw(delays ? 20 : 500) == 0)
            doze(throw(1000000));
    }
}

static void crowd(channel *to, int count_of_channels)
{
    wb_info info;
    (void)count_of_channels;
    wb_describe(to->ring, &info);
    wb_writer *writers[info.writers];
    for (;;) {
        uint32_t count = 0;
        delays = throw(2);
        while (count < info.writers && enlist(&writers[count], to->ring))
            count++;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t life = new_life(), last = throw(4);
            for (uint64_t one = 1; one <= last; one++)
                put(to, writers[i], life, one);
        }
        for (uint32_t i = 0; i < count; i++)
            wb_writer_close(writers[i]);
        doze(throw(20000000));
    }
}

/* --- readers ------------------------------------------------------------------------------------ */

/* A writer counts its messages 1, 2, 3 ...: between two of them at most as many can lack as we missed. */
static bool follows(channel *from)
{
    author *known = &from->authors[scramble(from->words[0]) % AUTHORS];
    uint64_t count = from->words[1];
    bool good = known->life != from->words[0] ||
                (count > known->count && count - known->count - 1 <= from->missed - known->missed);
    *known = (author){.life = from->words[0], .count = count, .missed = from->missed};
    return good;
}

static void examine(channel *from)
{
    wb_message message;
    wb_message_of(from->reader, &message);
    counts->read++;
    counts->missed += message.missed;
    from->missed += message.missed;
    if (!is_whole(from->words, from->size) || message.process != (uint32_t)from->words[0]) {
        counts->torn++;
        say("torn", from, &message);
    } else if (!follows(from) || message.missed_total != from->missed || message.stamp < from->stamp ||
               (from->sequence && message.sequence != from->sequence + 1 + message.missed)) {
        counts->misordered++;
        say("misordered", from, &message);
    }
    from->sequence = message.sequence;
    from->stamp = message.stamp;
}

static bool take_one(channel *from, int (*how)(wb_reader *, void *))
{
    int status = how(from->reader, from->words);
    if (status == 1)
        examine(from);
    else if (status == WB_OVERRUN)
        counts->overrun++;
    else if (status < 0)
        fault("read", status);
    return status != 0;
}

static void read_on(channel channels[], int count, int (*how)(wb_reader *, void *))
{
    for (;;) {
        int taken = 0;
        for (int i = 0; i < count; i++)
            taken += take_one(&channels[i], how);
        if (taken == 0)
            doze(50000);
    }
}

static void read_latest(channel channels[], int count) { read_on(channels, count, wb_latest); }
static void read_next(channel channels[], int count) { read_on(channels, count, wb_next); }

static void wait_on(channel channels[], int count)
{
    wb_reader *readers[CHANNELS_MAX];
    for (int i = 0; i < count; i++)
        readers[i] = channels[i].reader;
    for (;;) {
        int status = wb_wait(readers, count, wb_now() + 20000000, throw(2) * 30000);
        if (status < 0 && status != -EINTR)
            fault("wait", status);
        int taken = 0;
        for (int i = 0; i < count; i++)
            taken += take_one(&channels[i], throw(2) ? wb_next : wb_latest);
        if (status == 1 && taken == 0) {
            counts->misordered++;
            fprintf(stderr, "misordered: wait saw a message that was gone afterwards\n");
        }
    }
}

static void look_up(channel *from, int count_of_channels)
{
    wb_info info;
    (void)count_of_channels;
    for (;;) {
        wb_describe(from->ring, &info);
        uint64_t back = throw(info.depth), sequence = info.newest > back ? info.newest - back : 1;
        int status = wb_at(from->reader, sequence, from->words);
        if (status < 0)
            fault("at", status);
        if (status == 0)
            continue;
        wb_message message;
        wb_message_of(from->reader, &message);
        counts->read++;
        if (!is_whole(from->words, from->size) || message.sequence != sequence) {
            counts->torn++;
            say("torn", from, &message);
        }
        if (throw(100) == 0)
            doze(100000);
    }
}

/* --- main --------------------------------------------------------------------------------------- */

static void open_channel(channel *one, const char *path)
{
    wb_info info;
    int status = wb_open(&one->ring, path, NULL, 0, 0);
    if (status == 0)
        status = wb_reader_open(&one->reader, one->ring);
    if (status < 0)
        fault("open", status);
    wb_describe(one->ring, &info);
    one->size = info.layout.payload_size / sizeof(uint64_t);
    one->words = calloc(one->size, sizeof(uint64_t));
}

static tally *map_tallies(const char *path, int row)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    size_t size = ((size_t)row + 1) * sizeof(tally);
    tally *rows = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (rows == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    return rows + row;
}

static const struct {
    const char *name;
    void (*play)(channel[], int);
} roles[] = {
    {"writer", write_on}, {"crowd", crowd}, {"latest", read_latest}, {"next", read_next},
    {"wait", wait_on},    {"at", look_up},
};

int main(int argc, char *argv[])
{
    static channel channels[CHANNELS_MAX];
    if (argc < 6 || argc > 5 + CHANNELS_MAX) {
        fprintf(stderr, "torture ROLE TALLIES ROW SEED CHANNEL...\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(NICE) < 0)
        perror("nice");
    counts = map_tallies(argv[2], atoi(argv[3]));
    dice = strtoull(argv[4], NULL, 10);
    for (int i = 5; i < argc; i++)
        open_channel(&channels[i - 5], argv[i]);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(argv[1], roles[i].name) == 0)
            roles[i].play(channels, argc - 5);
    fprintf(stderr, "no role '%s'\n", argv[1]);
    return 2;
}
