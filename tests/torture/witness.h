/* witness.h - a writer and a reader that were there before, and say what law is broken when somebody else is killed. */
#ifndef TORTURE_WITNESS_H
#define TORTURE_WITNESS_H

#include "payload.h"
#include "stepper.h"

#define DEPTH 4
#define WRITERS 5
#define WORDS 24                       /* more than the widest load takes at once, or no read could be torn */
#define SURVIVOR 1                     /* a life */
#define CHILD 999                      /* the life of the one that is killed or stopped */
#define BROKEN_MAX 8                   /* enough to be sure */

static wb_ring *ring;
static wb_writer *survivor, *others[WRITERS];
static wb_reader *reader, *looker;     /* reads all in order; looks back */
static int other_count, current, broken;   /* current: the point that is tried */

static struct {
    uint64_t sequence, count, life;
    int64_t stamp, child_sequence;     /* of the child's last message */
    int child_count;
    uint64_t kept[DEPTH][WORDS];       /* as they were when first read */
} seen;

static void expect(bool holds, const char *law)
{
    if (!holds && broken++ < BROKEN_MAX)
        fprintf(stderr, "point %d of %d: %s\n", current, point_count, law);
}

static void nothing_kept_has_changed(void)
{
    uint64_t words[WORDS], oldest = seen.sequence > DEPTH ? seen.sequence - DEPTH + 1 : 1;
    for (uint64_t sequence = oldest; sequence <= seen.sequence; sequence++)
        expect(wb_at(looker, sequence, words) == 1 && memcmp(words, seen.kept[sequence % DEPTH], sizeof words) == 0,
               "a message has changed after it was put");
}

static int read_all(void)
{
    uint64_t words[WORDS];
    wb_message message;
    int count = 0;
    while (wb_next(reader, words) == 1) {
        wb_message_of(reader, &message);
        expect(is_whole(words, WORDS), "a message is torn");
        expect(message.sequence == seen.sequence + 1 && message.missed == 0, "the sequence has a hole");
        expect(message.stamp >= seen.stamp, "a stamp goes back");
        seen.sequence = message.sequence;
        seen.stamp = message.stamp;
        seen.life = words[0];
        if (seen.life == CHILD) {
            seen.child_count++;
            seen.child_sequence = (int64_t)seen.sequence;
        }
        memcpy(seen.kept[seen.sequence % DEPTH], words, sizeof words);
        count++;
    }
    return count;
}

static void put_and_read(wb_writer *writer, uint64_t life)
{
    uint64_t words[WORDS];
    fill(words, WORDS, life, ++seen.count);
    expect(wb_put(writer, words) == (int64_t)seen.sequence + 1, "a put does not get the next sequence");
    expect(read_all() == 1 && seen.life == life, "a put cannot be read at once");
    nothing_kept_has_changed();
}

static void open_others(int count)
{
    while (other_count < count && wb_writer_open(&others[other_count], ring) == 0)
        other_count++;
    expect(other_count == count, "a place for a writer is lost");
}

static void others_put(void)
{
    for (int i = 0; i < other_count; i++)
        put_and_read(others[i], SURVIVOR + 1 + (uint64_t)i);
}

static void close_others(void)
{
    while (other_count > 0)
        wb_writer_close(others[--other_count]);
}

static void life_goes_on(void)
{
    put_and_read(survivor, SURVIVOR);
    open_others(WRITERS - 1);
    others_put();
    others_put();
    close_others();
    put_and_read(survivor, SURVIVOR);
}

static void lap(int messages)
{
    for (int i = 0; i < messages; i++)
        put_and_read(survivor, SURVIVOR);
}

#endif
