/* ring.c - the swap ring. ring.h draws the memory and says why it works; here is how. */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Test builds define WB_FAULT(point) to stop, delay or kill a process inside a put. */
#ifndef WB_FAULT
#define WB_FAULT(point) ((void)0)
#endif

#define CACHE_LINE 64
#define SLOT_BITS 16
#define SLOT_MASK 0xffffu
#define SEQUENCE_MAX ((UINT64_C(1) << 48) - 1)
#define WAITING 1u
#define SLICE 50000000                 /* ns; a wake-up lost with a killed writer heals within this time */
#define REGISTER_PATIENCE 2000000000   /* ns */
#define COPY_ATTEMPTS 1000
#define DIRECTORY_VARIABLE "WHOLEBODY_CHANNELS"
#define DIRECTORY_DEFAULT "/dev/shm/wholebody"

static const char MAGIC[8] = {'w', 'b', 'r', 'i', 'n', 'g', '\r', '\n'};

typedef struct {
    char magic[8];
    uint32_t version, header_size;
    uint32_t depth, writers;
    uint64_t payload_size, slot_stride, file_size;
    uint64_t layout_hash;
    uint32_t text_size, reserved;
    uint64_t text_offset, ring_offset, lease_offset, slot_offset;
    char boot[40];
    _Alignas(CACHE_LINE) _Atomic uint64_t head;
    _Alignas(CACHE_LINE) _Atomic uint32_t event;
} wb_header;

typedef struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t slots;   /* the slot it owns | the slot it is about to take << 16 */
    uint32_t process;
} wb_lease;

typedef struct {
    int64_t stamp;
    uint32_t writer, process;
    unsigned char payload[];
} wb_slot;

struct wb_ring {
    wb_header *header;                 /* the mapping; what follows is copied out of it and checked once */
    _Atomic uint64_t *entries;
    wb_lease *leases;
    unsigned char *slots;
    uint64_t payload_size, slot_stride, file_size;
    uint32_t depth, writers, slot_count;
    uint32_t mask;                     /* depth - 1, if depth is a power of 2 */
    int file;
};

struct wb_writer {
    wb_ring *ring;
    wb_writer *next_open;              /* list of this process's writers, for the fork guard */
    int lock;                          /* open file description that holds the lease's lock */
    uint32_t lease, process;
    uint32_t mine;                     /* the slot to fill next */
    bool forked;
};

struct wb_reader {
    wb_ring *ring;
    unsigned char *scratch;            /* for wb_at, so that a failed copy spoils nothing */
    uint64_t cursor;                   /* last sequence taken by latest or next */
    _Atomic uint64_t *next;            /* the entry where the message after that one goes */
    wb_message message;
};

/* --- small things ------------------------------------------------------------------------------- */

int64_t wb_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline uint64_t entry_of(uint64_t sequence, uint32_t slot) { return sequence << SLOT_BITS | slot; }
static inline uint64_t sequence_of(uint64_t entry) { return entry >> SLOT_BITS; }
static inline uint32_t slot_of(uint64_t entry) { return (uint32_t)(entry & SLOT_MASK); }

static inline wb_slot *slot_at(const wb_ring *ring, uint32_t slot)
{
    return (wb_slot *)(ring->slots + slot * ring->slot_stride);
}

/* Where message `sequence` stands. A division takes tens of cycles: not where depth is a power of 2. */
static inline _Atomic uint64_t *entry_at(const wb_ring *ring, uint64_t sequence)
{
    return &ring->entries[ring->mask ? sequence & ring->mask : sequence % ring->depth];
}

/* What stood where message `sequence` goes, before it was put. */
static inline uint64_t predecessor(const wb_ring *ring, uint64_t sequence)
{
    return sequence > ring->depth ? sequence - ring->depth : 0;
}

void wb_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t round_up(uint64_t size, uint64_t unit) { return (size + unit - 1) / unit * unit; }

const char *wb_explain(int64_t status)
{
    switch (status) {
    case WB_NAME: return "not a legal channel name";
    case WB_SIZE: return "depth, writers, payload or layout text out of range";
    case WB_FOREIGN: return "the file is no channel";
    case WB_OLD: return "the file is a channel of another version of this library";
    case WB_TRUNCATED: return "the file is truncated";
    case WB_CORRUPT: return "the channel's file is corrupt";
    case WB_STALE: return "the channel is from before the machine restarted";
    case WB_LAYOUT: return "the channel holds messages of another layout";
    case WB_WRITERS: return "the channel has no room for another writer";
    case WB_BUSY: return "a process is stopped in the middle of a put or of registering as a writer";
    case WB_FORKED: return "the writer was opened before fork()";
    case WB_EXHAUSTED: return "the channel's sequence numbers are used up";
    case WB_OVERRUN: return "writers overwrite messages faster than they can be copied";
    default: return status < 0 && status > -1000 ? strerror((int)-status) : "ok";
    }
}

/* --- the file ----------------------------------------------------------------------------------- */

int wb_path(const char *name, char path[WB_PATH_MAX])
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    if (length == 0 || length > WB_NAME_MAX || strspn(name, legal) != length || name[0] == '.' || name[0] == '-')
        return WB_NAME;
    const char *directory = getenv(DIRECTORY_VARIABLE);
    if (!directory || !*directory)
        directory = DIRECTORY_DEFAULT;
    int written = snprintf(path, WB_PATH_MAX, "%s/%s", directory, name);
    return written < WB_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int directory_of(const char *path, char directory[WB_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || slash - path >= WB_PATH_MAX)
        return WB_NAME;
    memcpy(directory, path, (size_t)(slash - path));
    directory[slash - path] = '\0';
    if (mkdir(directory, 0777) < 0)
        return errno == EEXIST ? 0 : -errno;
    /* Like /tmp: everyone may make a channel, only its owner may remove it. */
    return chmod(directory, 01777) == 0 ? 0 : -errno;
}

static void read_boot(char boot[40])
{
    memset(boot, 0, 40);
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (read(file, boot, 36) != 36)
        memset(boot, 0, 40);
    close(file);
}

/* All of a header that follows from the four numbers a user chooses. */
static wb_header plan(uint64_t payload_size, uint32_t text_size, uint32_t depth, uint32_t writers)
{
    wb_header header = {.version = WB_VERSION, .header_size = sizeof(wb_header), .depth = depth, .writers = writers,
                        .payload_size = payload_size, .text_size = text_size};
    header.slot_stride = round_up(sizeof(wb_slot) + payload_size, CACHE_LINE);
    header.text_offset = sizeof(wb_header);
    header.ring_offset = round_up(header.text_offset + text_size, CACHE_LINE);
    header.lease_offset = round_up(header.ring_offset + depth * sizeof(uint64_t), CACHE_LINE);
    header.slot_offset = header.lease_offset + writers * sizeof(wb_lease);
    header.file_size = header.slot_offset + ((uint64_t)depth + 2 * (uint64_t)writers) * header.slot_stride;
    return header;
}

static bool sizes_are_legal(uint64_t payload_size, uint32_t text_size, uint32_t depth, uint32_t writers)
{
    return payload_size >= 1 && payload_size <= WB_PAYLOAD_MAX && text_size <= WB_TEXT_MAX && depth >= 2 &&
           depth <= WB_DEPTH_MAX && writers >= 1 && writers <= WB_WRITERS_MAX;
}

static void attach(wb_ring *ring, wb_header *header, int file)
{
    unsigned char *base = (unsigned char *)header;
    *ring = (wb_ring){.header = header,
                      .entries = (_Atomic uint64_t *)(base + header->ring_offset),
                      .leases = (wb_lease *)(base + header->lease_offset),
                      .slots = base + header->slot_offset,
                      .payload_size = header->payload_size,
                      .slot_stride = header->slot_stride,
                      .file_size = header->file_size,
                      .depth = header->depth,
                      .writers = header->writers,
                      .slot_count = header->depth + 2 * header->writers,
                      .mask = header->depth & (header->depth - 1) ? 0 : header->depth - 1,
                      .file = file};
}

static wb_header *map(int file, uint64_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Make the whole channel without a name, then name it: nobody ever sees half of it, and a creator that is
 * killed leaves nothing behind. */
static int create(wb_ring *ring, const char *path, const wb_layout *layout, uint32_t depth, uint32_t writers)
{
    if (!sizes_are_legal(layout->payload_size, layout->text_size, depth, writers))
        return WB_SIZE;
    char directory[WB_PATH_MAX], link[64];
    int status = directory_of(path, directory);
    if (status < 0)
        return status;
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0660);
    if (file < 0)
        return -errno;
    wb_header header = plan(layout->payload_size, layout->text_size, depth, writers);
    header.layout_hash = layout->hash;
    read_boot(header.boot);
    memcpy(header.magic, MAGIC, sizeof MAGIC);

    /* Take the memory now: a page missing later would be a SIGBUS in somebody's control loop. */
    status = -posix_fallocate(file, 0, (off_t)header.file_size);
    if (status == 0 && fchmod(file, 0660) < 0)
        status = -errno;
    wb_header *mapped = status == 0 ? map(file, header.file_size) : NULL;
    if (status == 0 && !mapped)
        status = -errno;
    if (status < 0) {
        close(file);
        return status;
    }
    memcpy(mapped, &header, sizeof header);
    memcpy((char *)mapped + header.text_offset, layout->text, layout->text_size);
    attach(ring, mapped, file);
    for (uint32_t i = 0; i < depth; i++)
        atomic_store(&ring->entries[i], entry_of(0, i));
    for (uint32_t i = 0; i < writers; i++)
        atomic_store(&ring->leases[i].slots, (depth + i) * 0x10001u);

    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0) {
        status = -errno;
        munmap(mapped, header.file_size);
        close(file);
    }
    return status;
}

static int check(const wb_header *header, uint64_t size)
{
    char boot[40];
    if (size < sizeof *header)
        return size >= sizeof MAGIC && memcmp(header->magic, MAGIC, sizeof MAGIC) == 0 ? WB_TRUNCATED : WB_FOREIGN;
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0)
        return WB_FOREIGN;
    if (header->version != WB_VERSION)
        return WB_OLD;
    if (!sizes_are_legal(header->payload_size, header->text_size, header->depth, header->writers))
        return WB_CORRUPT;
    wb_header wanted = plan(header->payload_size, header->text_size, header->depth, header->writers);
    if (header->header_size != wanted.header_size || header->slot_stride != wanted.slot_stride ||
        header->file_size != wanted.file_size || header->text_offset != wanted.text_offset ||
        header->ring_offset != wanted.ring_offset || header->lease_offset != wanted.lease_offset ||
        header->slot_offset != wanted.slot_offset)
        return WB_CORRUPT;
    if (header->file_size != size)
        return WB_TRUNCATED;
    read_boot(boot);
    return memcmp(boot, header->boot, sizeof boot) == 0 ? 0 : WB_STALE;
}

static int open_existing(wb_ring *ring, const char *path, const wb_layout *layout)
{
    struct stat stat;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return -errno;
    wb_header *mapped = NULL;
    wb_header copy = {0};
    int status = fstat(file, &stat) < 0 ? -errno : 0;
    uint64_t size = status == 0 ? (uint64_t)stat.st_size : 0;
    if (status == 0 && pread(file, &copy, sizeof copy, 0) < 0)
        status = -errno;
    if (status == 0)
        status = check(&copy, size);
    if (status == 0 && layout && (layout->hash != copy.layout_hash || layout->payload_size != copy.payload_size))
        status = WB_LAYOUT;
    if (status == 0 && !(mapped = map(file, size)))
        status = -errno;
    if (status < 0) {
        close(file);
        return status;
    }
    attach(ring, mapped, file);
    return 0;
}

int wb_open(wb_ring **ring, const char *path, const wb_layout *layout, uint32_t depth, uint32_t writers)
{
    wb_ring *opened = malloc(sizeof *opened);
    if (!opened)
        return -ENOMEM;
    int status;
    do {                               /* again if it was created, or removed, between our two looks */
        status = open_existing(opened, path, layout);
        if (status == -ENOENT && layout)
            status = create(opened, path, layout, depth, writers);
    } while (status == -EEXIST);
    if (status < 0) {
        free(opened);
        return status;
    }
    *ring = opened;
    return 0;
}

void wb_close(wb_ring *ring)
{
    if (!ring)
        return;
    munmap(ring->header, ring->file_size);
    close(ring->file);
    free(ring);
}

/* Message head + 1 may be in the ring already when its writer was stopped before it could advance head. If a whole lap
 * went by between the two loads, a later one stands in its place: take that, so that newest never goes back. */
static inline uint64_t newest(const wb_ring *ring)
{
    uint64_t head = atomic_load(&ring->header->head);
    uint64_t next = sequence_of(atomic_load(entry_at(ring, head + 1)));
    return next > head ? next : head;
}

void wb_describe(const wb_ring *ring, wb_info *info)
{
    const wb_header *header = ring->header;
    *info = (wb_info){.layout = {.payload_size = ring->payload_size,
                                 .hash = header->layout_hash,
                                 .text = (const char *)header + header->text_offset,
                                 .text_size = header->text_size},
                      .newest = newest(ring),
                      .file_size = ring->file_size,
                      .depth = ring->depth,
                      .writers = ring->writers};
}

/* --- writers ------------------------------------------------------------------------------------ */

static pthread_mutex_t open_writers_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_guard_once = PTHREAD_ONCE_INIT;
static wb_writer *open_writers;

static void before_fork(void) { pthread_mutex_lock(&open_writers_mutex); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&open_writers_mutex); }

/* A child that put through an inherited writer would fill the same slot as its parent; and while it held the
 * lock's file description, a killed parent would seem alive. */
static void after_fork_in_child(void)
{
    for (wb_writer *writer = open_writers; writer; writer = writer->next_open) {
        writer->forked = true;
        if (writer->lock >= 0)
            close(writer->lock);
        writer->lock = -1;
    }
    pthread_mutex_unlock(&open_writers_mutex);
}

static void install_fork_guard(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/* Lock bytes lie past any file's end: one per lease, then the one that serialises registration. */
static struct flock lock_of(uint32_t lease, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 48) + lease, .l_len = 1};
}

static int lock_lease(int file, uint32_t lease, short type)
{
    struct flock lock = lock_of(lease, type);
    if (fcntl(file, F_OFD_SETLK, &lock) == 0)
        return 0;
    return errno == EACCES ? -EAGAIN : -errno;
}

static bool is_alive(int file, uint32_t lease)
{
    struct flock lock = lock_of(lease, F_WRLCK);
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int64_t wb_writer_process(const wb_ring *ring, uint32_t lease)
{
    return lease < ring->writers && is_alive(ring->file, lease) ? ring->leases[lease].process : 0;
}

static void mark(unsigned char *taken, const wb_ring *ring, uint32_t slot)
{
    if (slot < ring->slot_count)
        taken[slot] = 1;
}

/* Find a slot that is neither in the ring nor owned by a living writer; called with registration locked.
 *
 * Slots only move between the ring and the leases of living writers, so the set of taken slots stays what it is
 * while we look, but its members move. We look at an instant: first the leases, then the ring in the order in
 * which it will be overwritten. If the first entry to be overwritten is still the old one, nothing was put while
 * we read the leases; if every entry is still the one of that instant, we have seen them all. We are faster
 * than any writer; if one gets ahead, start again. A lease names two slots, of which one is its own: which, depends
 * on whether its last swap went through. Both are left alone, so there are two slots for every writer. */
static int find_free_slot(const wb_ring *ring, const unsigned char *alive, unsigned char *taken)
{
    uint64_t start = newest(ring);
    memset(taken, 0, ring->slot_count);
    for (uint32_t lease = 0; lease < ring->writers; lease++) {
        if (!alive[lease])
            continue;
        uint32_t slots = atomic_load(&ring->leases[lease].slots);
        mark(taken, ring, slots & SLOT_MASK);
        mark(taken, ring, slots >> SLOT_BITS);
    }
    for (uint64_t sequence = start + 1; sequence <= start + ring->depth; sequence++) {
        uint64_t entry = atomic_load(entry_at(ring, sequence));
        if (sequence_of(entry) != predecessor(ring, sequence))
            return -EAGAIN;
        mark(taken, ring, slot_of(entry));
    }
    for (uint32_t slot = 0; slot < ring->slot_count; slot++)
        if (!taken[slot])
            return (int)slot;
    return -EAGAIN;
}

static int take_slot(wb_writer *writer, int64_t deadline)
{
    wb_ring *ring = writer->ring;
    unsigned char *alive = calloc(1, (size_t)ring->writers + ring->slot_count);
    if (!alive)
        return -ENOMEM;
    for (uint32_t lease = 0; lease < ring->writers; lease++)
        alive[lease] = lease != writer->lease && is_alive(writer->lock, lease);
    int slot;
    while ((slot = find_free_slot(ring, alive, alive + ring->writers)) == -EAGAIN && wb_now() < deadline)
        wb_relax();
    free(alive);
    if (slot < 0)
        return slot == -EAGAIN ? WB_BUSY : slot;
    writer->mine = (uint32_t)slot;
    ring->leases[writer->lease].process = writer->process;
    atomic_store(&ring->leases[writer->lease].slots, (uint32_t)slot * 0x10001u);
    return 0;
}

static int take_lease(wb_writer *writer, int64_t deadline)
{
    const uint32_t registration = writer->ring->writers;
    const struct timespec pause = {.tv_nsec = 200000};
    int status;
    while ((status = lock_lease(writer->lock, registration, F_WRLCK)) == -EAGAIN && wb_now() < deadline)
        nanosleep(&pause, NULL);
    if (status < 0)
        return status == -EAGAIN ? WB_BUSY : status;
    status = WB_WRITERS;
    for (uint32_t lease = 0; lease < writer->ring->writers && status == WB_WRITERS; lease++) {
        int locked = lock_lease(writer->lock, lease, F_WRLCK);
        if (locked != -EAGAIN)
            status = locked;
        writer->lease = lease;
    }
    if (status == 0)
        status = take_slot(writer, deadline);
    lock_lease(writer->lock, registration, F_UNLCK);
    return status;
}

int wb_writer_open(wb_writer **writer, wb_ring *ring)
{
    wb_writer *opened = calloc(1, sizeof *opened);
    char path[64];
    if (!opened)
        return -ENOMEM;
    pthread_once(&fork_guard_once, install_fork_guard);
    opened->ring = ring;
    opened->process = (uint32_t)getpid();
    /* A file description of its own carries the lock; through /proc it is the same file even if its name has
     * gone meanwhile. Opened under the mutex, or a fork now would leave it open in the child. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", ring->file);
    pthread_mutex_lock(&open_writers_mutex);
    opened->lock = open(path, O_RDWR | O_CLOEXEC);
    int status = opened->lock < 0 ? -errno : 0;
    opened->next_open = open_writers;
    open_writers = opened;
    pthread_mutex_unlock(&open_writers_mutex);
    if (status == 0)
        status = take_lease(opened, wb_now() + REGISTER_PATIENCE);
    if (status < 0) {
        wb_writer_close(opened);
        return status;
    }
    *writer = opened;
    return 0;
}

void wb_writer_close(wb_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&open_writers_mutex);
    wb_writer **link = &open_writers;
    while (*link && *link != writer)
        link = &(*link)->next_open;
    if (*link)
        *link = writer->next_open;
    if (writer->lock >= 0)
        close(writer->lock);
    pthread_mutex_unlock(&open_writers_mutex);
    free(writer);
}

static void wake(wb_ring *ring)
{
    uint32_t event = atomic_load(&ring->header->event);
    while (event & WAITING) {
        if (atomic_compare_exchange_weak(&ring->header->event, &event, (event + 2) & ~WAITING)) {
            WB_FAULT(5);
            syscall(SYS_futex, &ring->header->event, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
            return;
        }
    }
}

/* stamp < 0: now. The clock is read after the sequence is known, so stamps never go back along the ring. */
int64_t wb_put_stamped(wb_writer *writer, const void *payload, int64_t stamp)
{
    if (writer->forked)
        return WB_FORKED;
    wb_ring *ring = writer->ring;
    _Atomic uint32_t *lease = &ring->leases[writer->lease].slots;
    wb_slot *slot = slot_at(ring, writer->mine);
    uint64_t sequence, old;

    /* The swap that gave us this slot must be visible before what we write into it. */
    atomic_thread_fence(memory_order_release);
    WB_FAULT(0);
    memcpy(slot->payload, payload, ring->payload_size);
    slot->writer = writer->lease;
    slot->process = writer->process;
    WB_FAULT(1);
    for (;;) {
        uint64_t head = atomic_load(&ring->header->head);
        sequence = head + 1;
        if (sequence > SEQUENCE_MAX)
            return WB_EXHAUSTED;
        old = atomic_load(entry_at(ring, sequence));
        if (sequence_of(old) == sequence) {        /* another writer was stopped before it advanced head */
            atomic_compare_exchange_strong(&ring->header->head, &head, sequence);
            continue;
        }
        if (sequence_of(old) > sequence)           /* head moved on while we looked */
            continue;
        if (sequence_of(old) != predecessor(ring, sequence) || slot_of(old) >= ring->slot_count)
            return WB_CORRUPT;
        slot->stamp = stamp < 0 ? wb_now() : stamp;
        atomic_store_explicit(lease, writer->mine | slot_of(old) << SLOT_BITS, memory_order_release);
        WB_FAULT(2);
        uint64_t expected = old;
        if (atomic_compare_exchange_strong(entry_at(ring, sequence), &expected, entry_of(sequence, writer->mine)))
            break;
    }
    WB_FAULT(3);
    writer->mine = slot_of(old);
    atomic_store_explicit(lease, writer->mine * 0x10001u, memory_order_release);
    uint64_t before = sequence - 1;
    atomic_compare_exchange_strong(&ring->header->head, &before, sequence);
    WB_FAULT(4);
    wake(ring);
    return (int64_t)sequence;
}

int64_t wb_put(wb_writer *writer, const void *payload) { return wb_put_stamped(writer, payload, -1); }

/* --- readers ------------------------------------------------------------------------------------ */

int wb_reader_open(wb_reader **reader, wb_ring *ring)
{
    wb_reader *opened = calloc(1, sizeof *opened);
    if (!opened)
        return -ENOMEM;
    opened->ring = ring;
    opened->next = entry_at(ring, 1);
    *reader = opened;
    return 0;
}

void wb_reader_close(wb_reader *reader)
{
    if (!reader)
        return;
    free(reader->scratch);
    free(reader);
}

void wb_message_of(const wb_reader *reader, wb_message *message) { *message = reader->message; }

/* Sequences have no holes, so whether anything is new shows in the entry where the next message goes. Nothing else is
 * looked at: a reader that spins does not take the line of head from the writer that is about to change it. */
int wb_unread(const wb_reader *reader) { return sequence_of(atomic_load(reader->next)) > reader->cursor; }

/* Copy message `sequence` out of the ring. 1, or 0 if it is not there, or was displaced during the copy. */
static int copy(const wb_ring *ring, uint64_t sequence, void *payload, wb_message *message)
{
    _Atomic uint64_t *place = entry_at(ring, sequence);
    uint64_t entry = atomic_load_explicit(place, memory_order_acquire);
    if (sequence_of(entry) != sequence)
        return 0;
    if (slot_of(entry) >= ring->slot_count)
        return WB_CORRUPT;
    const wb_slot *slot = slot_at(ring, slot_of(entry));
    int64_t stamp = slot->stamp;
    uint32_t writer = slot->writer, process = slot->process;
    memcpy(payload, slot->payload, ring->payload_size);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(place, memory_order_relaxed) != entry)
        return 0;
    message->sequence = sequence;
    message->stamp = stamp;
    message->writer = writer;
    message->process = process;
    return 1;
}

/* Read `wanted`; if it is overwritten under our hands, the newest instead. */
static int take(wb_reader *reader, uint64_t wanted, void *payload)
{
    for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        int copied = copy(reader->ring, wanted, payload, &reader->message);
        if (copied < 0)
            return copied;
        if (copied) {
            reader->message.missed = reader->cursor ? wanted - reader->cursor - 1 : 0;
            reader->message.missed_total += reader->message.missed;
            reader->cursor = wanted;
            reader->next = entry_at(reader->ring, wanted + 1);
            return 1;
        }
        wanted = newest(reader->ring);
    }
    reader->message.sequence = 0;
    return WB_OVERRUN;
}

int wb_latest(wb_reader *reader, void *payload)
{
    const wb_ring *ring = reader->ring;
    uint64_t next = reader->cursor + 1, found = sequence_of(atomic_load(reader->next));
    if (found < next)
        return 0;
    bool is_newest = found == next && sequence_of(atomic_load(entry_at(ring, next + 1))) < next;
    return take(reader, is_newest ? next : newest(ring), payload);
}

int wb_next(wb_reader *reader, void *payload)
{
    const wb_ring *ring = reader->ring;
    uint64_t last = newest(ring), wanted = reader->cursor + 1;
    if (last < wanted)
        return 0;
    uint64_t oldest = predecessor(ring, last) + 1;
    return take(reader, wanted > oldest ? wanted : oldest, payload);
}

int wb_at(wb_reader *reader, uint64_t sequence, void *payload)
{
    wb_message message = reader->message;
    if (sequence == 0 || sequence > SEQUENCE_MAX)
        return 0;
    if (!reader->scratch && !(reader->scratch = malloc(reader->ring->payload_size)))
        return -ENOMEM;
    int copied = copy(reader->ring, sequence, reader->scratch, &message);
    if (copied == 1) {
        memcpy(payload, reader->scratch, reader->ring->payload_size);
        message.missed = 0;
        reader->message = message;
    }
    return copied;
}

/* --- waiting ------------------------------------------------------------------------------------ */

static struct timespec timespec_of(int64_t instant)
{
    return (struct timespec){.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000};
}

static bool any_unread(wb_reader *const readers[], int count)
{
    for (int i = 0; i < count; i++)
        if (wb_unread(readers[i]))
            return true;
    return false;
}

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449            /* Linux 5.16, the same number on every architecture */
#endif

struct wait_entry {                    /* struct futex_waitv, which older kernel headers lack */
    uint64_t value, address;
    uint32_t flags, reserved;
};

/* Sleep until one of the event words changes or `until`; a spurious return is harmless. */
static int sleep_on(wb_reader *const readers[], const uint32_t events[], int count, int64_t until)
{
    struct timespec timeout = timespec_of(until);
    long result;
    if (count > 1) {
        struct wait_entry entries[WB_WAIT_MAX];
        for (int i = 0; i < count; i++)
            entries[i] = (struct wait_entry){.value = events[i],
                                             .address = (uintptr_t)&readers[i]->ring->header->event,
                                             .flags = 2 /* FUTEX2_SIZE_U32, shared */};
        result = syscall(SYS_futex_waitv, entries, count, 0, &timeout, CLOCK_MONOTONIC);
        if (result >= 0 || errno == EAGAIN || errno == ETIMEDOUT)
            return 0;
        if (errno == EINTR)
            return -EINTR;
        /* An older kernel, or a sandbox that forbids it: sleep on the first, but look at all every millisecond. */
        int64_t soon = wb_now() + 1000000;
        timeout = timespec_of(soon < until ? soon : until);
    }
    result = syscall(SYS_futex, &readers[0]->ring->header->event, FUTEX_WAIT_BITSET, events[0], &timeout, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    return result < 0 && errno == EINTR ? -EINTR : 0;
}

int wb_wait(wb_reader *const readers[], int count, int64_t until, int64_t spin)
{
    uint32_t events[WB_WAIT_MAX];
    if (count < 1 || count > WB_WAIT_MAX)
        return WB_SIZE;
    if (any_unread(readers, count))
        return 1;
    if (spin > 0) {
        int64_t start = wb_now(), end = spin < until - start ? start + spin : until;
        do {
            for (int i = 0; i < 32; i++) {
                if (any_unread(readers, count))
                    return 1;
                wb_relax();
            }
        } while (wb_now() < end);
    }
    for (;;) {
        for (int i = 0; i < count; i++)
            events[i] = atomic_fetch_or(&readers[i]->ring->header->event, WAITING) | WAITING;
        if (any_unread(readers, count))
            return 1;
        int64_t now = wb_now();
        if (now >= until)
            return 0;
        int status = sleep_on(readers, events, count, until - now < SLICE ? until : now + SLICE);
        if (any_unread(readers, count))
            return 1;
        if (status < 0)
            return status;
    }
}
