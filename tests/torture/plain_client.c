/* plain_client.c - a client in C that knows ring.h alone: reads one channel, writes another, whatever is done to them.
 *
 *     plain_client READ WRITE TALLIES
 *
 * READ and WRITE are the files of channels, of which the second is its own; TALLIES is a file of four counters: messages
 * read, messages put, calls that said that something is wrong, and channels opened again. It ends when it is told to. */
#define _GNU_SOURCE
#include "ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WORDS 600
#define PERIOD 500000                  /* ns */

enum { READ, PUT, TOLD, OPENED, TALLIES };

static const wb_layout layout = {.payload_size = WORDS * sizeof(uint64_t), .hash = 7, .text = "{}", .text_size = 2};
static volatile uint64_t *tallies;
static unsigned char message[1 << 20];

typedef struct {
    const char *path;
    wb_ring *ring;
    wb_reader *reader;
    wb_writer *writer;
} end;

static void let_go(end *of)
{
    wb_reader_close(of->reader);
    wb_writer_close(of->writer);
    wb_close(of->ring);
    *of = (end){.path = of->path};
}

/* Open a channel again; the own one is made anew if something else stands in its place. */
static int open_again(end *of, int is_own)
{
    let_go(of);
    int status = wb_open(&of->ring, of->path, is_own ? &layout : NULL, 8, 2);
    if (status == 0)
        status = is_own ? wb_writer_open(&of->writer, of->ring) : wb_reader_open(&of->reader, of->ring);
    if (status < 0) {
        let_go(of);
        if (is_own && unlink(of->path) < 0)
            rmdir(of->path);
    }
    tallies[OPENED] += status == 0;
    return status;
}

static int read_once(end *from)
{
    wb_info info;
    int status = from->ring ? 0 : open_again(from, 0);
    if (status < 0)
        return status;
    wb_describe(from->ring, &info);
    if (info.layout.payload_size > sizeof message)
        return WB_SIZE;
    status = wb_wait(&from->reader, 1, wb_now() + PERIOD, 0);
    if (status == 1)
        status = wb_latest(from->reader, message);
    tallies[READ] += status == 1;
    return status;
}

static int put_once(end *to)
{
    static uint64_t words[WORDS];
    int status = to->ring ? 0 : open_again(to, 1);
    if (status < 0)
        return status;
    words[0] = words[WORDS - 1] = tallies[PUT];
    int64_t sequence = wb_put(to->writer, words);
    tallies[PUT] += sequence > 0;
    return sequence < 0 ? (int)sequence : 0;
}

int main(int argc, char *argv[])
{
    if (argc != 4)
        return 2;
    int file = open(argv[3], O_RDWR);
    tallies = mmap(NULL, TALLIES * sizeof *tallies, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || tallies == MAP_FAILED)
        return 2;
    end from = {.path = argv[1]}, to = {.path = argv[2]};
    const struct timespec rest = {.tv_nsec = PERIOD};
    for (;;) {
        if (read_once(&from) < 0) {
            tallies[TOLD]++;
            let_go(&from);
        }
        if (put_once(&to) < 0) {
            tallies[TOLD]++;
            let_go(&to);
        }
        nanosleep(&rest, NULL);
    }
}
