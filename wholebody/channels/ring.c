/* ring.c - the swap ring. ring.h draws the memory and says why it works; here is how. */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
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
#define PUT_ATTEMPTS 100000            /* of others' puts in between; more can only be garbage in the memory */
#define WAKE_ATTEMPTS 1000
#define LOOK 100000000                 /* ns between two looks at whether the file is still there */
#define UNCLOCKED 16                   /* puts that read no clock between two that do, to look */
#define POLL 1000000                   /* ns between two looks of a reader that may not say that it waits */
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
    uint64_t lost;                     /* of a mirror, from 1; 0: nobody can know of any */
    unsigned char payload[];
} wb_slot;

/* What has become of the file behind a mapping. */
enum { THERE, GONE, EMPTY };           /* GONE: out of its place; what was put is still readable. EMPTY: out of memory */

struct wb_ring {
    wb_header *header;                 /* the mapping; what follows is copied out of it and checked once */
    _Atomic uint64_t *entries;
    wb_lease *leases;
    unsigned char *slots;
    uint64_t payload_size, slot_stride, file_size;
    uint32_t depth, writers, slot_count;
    uint32_t mask;                     /* depth - 1, if depth is a power of 2 */
    int file;
    bool read_only;
    _Atomic int fate;
    wb_header constants;               /* the header as it was when opened, but for head and event */
    char *text, *path;                 /* path: NULL if it is relative, and so may mean another file later */
    wb_ring *next_open;                /* list of this process's rings, for the handler of SIGBUS */
};

struct wb_writer {
    wb_ring *ring;
    wb_writer *next_open;              /* list of this process's writers, for the fork guard */
    int lock;                          /* open file description that holds the lease's lock */
    uint32_t lease, process;
    uint32_t mine;                     /* the slot to fill next */
    uint32_t unclocked;                /* puts since one that read the clock */
    uint64_t last;                     /* sequence put last */
    uint64_t lost;                     /* for the messages to come */
    int64_t look_at;                   /* when to look at the file again */
    bool forked;
};

struct wb_reader {
    wb_ring *ring;
    unsigned char *scratch;            /* for wb_at, so that a failed copy spoils nothing */
    uint64_t cursor;                   /* last sequence taken by latest or next */
    _Atomic uint64_t *next;            /* the entry where the message after that one goes */
    int64_t look_at;                   /* when to look at the file again */
    uint64_t lost;                     /* that the mirror spoke of last */
    uint32_t mirror;                   /* its process */
    wb_message message;
};

/* --- small things ------------------------------------------------------------------------------- */

int64_t wb_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* To some ms, in a fifth of the time. */
static int64_t about_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
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
    case WB_GONE: return "the channel's file was truncated, replaced or removed";
    case WB_UNSAFE: return "anyone may write in the channel's folder";
    case WB_OVERRUN: return "writers overwrite messages faster than they can be copied";
    default: return status < 0 && status > -1000 ? strerror((int)-status) : "ok";
    }
}

/* --- memory that is pulled away ----------------------------------------------------------------- */

static pthread_mutex_t open_mutex = PTHREAD_MUTEX_INITIALIZER;   /* of the two lists */
static pthread_once_t fork_guard_once = PTHREAD_ONCE_INIT;
static wb_writer *open_writers;
static wb_ring *open_rings;
static struct sigaction former;        /* what SIGBUS did before */
static bool guarded;

static void before_fork(void) { pthread_mutex_lock(&open_mutex); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&open_mutex); }

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
    pthread_mutex_unlock(&open_mutex);
}

static void install_fork_guard(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

static bool covers(const wb_ring *ring, const void *address)
{
    uintptr_t from = (uintptr_t)ring->header, at = (uintptr_t)address;
    return at >= from && at - from < ring->file_size;
}

static bool is_cut(const wb_ring *ring)
{
    struct stat found;
    return fstat(ring->file, &found) == 0 && (uint64_t)found.st_size < ring->file_size;
}

/* Lay zeros over the whole mapping, so that the access that failed goes on; its call finds out at its end. */
static bool lay_zeros(wb_ring *ring)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    atomic_store(&ring->fate, EMPTY);
    for (int attempt = 0; attempt < 2; attempt++) {
        if (mmap(ring->header, ring->file_size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED)
            return true;
        munmap(ring->header, ring->file_size);   /* as much locked memory as before, and the old, may be too much */
    }
    return false;
}

/* Whoever was asked before us: another library's handler, or the kernel. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    if (former.sa_flags & SA_SIGINFO) {
        former.sa_sigaction(number, info, context);
    } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
        former.sa_handler(number);
    } else if (former.sa_handler == SIG_DFL || info->si_code > 0) {
        signal(SIGBUS, SIG_DFL);       /* an access that failed does so again, now for good */
        if (info->si_code <= 0)
            raise(SIGBUS);
    }
}

/* Who may write a channel's file may shorten it, too; then the next access to its memory is a SIGBUS. It comes in the
 * middle of a call of ours, which holds no lock and is in no call that a handler may not interrupt. One that was sent
 * may come anywhere: also by a handler above ours that passes on what it got, so look which file was shortened. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int error = errno;
    bool sent = info->si_code <= 0, ours = false;
    if (sent ? pthread_mutex_trylock(&open_mutex) == 0 : pthread_mutex_lock(&open_mutex) == 0) {
        for (wb_ring *ring = open_rings; ring; ring = ring->next_open)
            if (sent ? is_cut(ring) : covers(ring, info->si_addr))
                ours |= lay_zeros(ring);
        pthread_mutex_unlock(&open_mutex);
    }
    errno = error;
    if (!ours)
        pass_on(number, info, context);
}

/* Handlers that came after ours stay above it; but if ours was taken out it is put in again. */
static void install_guard(void)
{
    struct sigaction now, handler = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&handler.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) < 0)
        return;
    bool nobody = !(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
    if (guarded && !nobody)
        return;
    former = now;
    guarded = sigaction(SIGBUS, &handler, NULL) == 0;
}

static void guard(wb_ring *ring)
{
    pthread_once(&fork_guard_once, install_fork_guard);
    pthread_mutex_lock(&open_mutex);
    install_guard();
    ring->next_open = open_rings;
    open_rings = ring;
    pthread_mutex_unlock(&open_mutex);
}

static void unguard(wb_ring *ring)
{
    pthread_mutex_lock(&open_mutex);
    wb_ring **link = &open_rings;
    while (*link && *link != ring)
        link = &(*link)->next_open;
    if (*link)
        *link = ring->next_open;
    pthread_mutex_unlock(&open_mutex);
}

/* A file of the right length with holes in it could take all memory of the machine when it is mapped. */
static bool has_holes(const struct stat *found) { return (uint64_t)found->st_blocks * 512 < (uint64_t)found->st_size; }

/* Whether the file is as it was, under its name; it may be out of sight, but not another one. */
static bool is_in_place(const wb_ring *ring)
{
    struct stat mine, named;
    if (fstat(ring->file, &mine) < 0 || (uint64_t)mine.st_size != ring->file_size || mine.st_nlink == 0 ||
        has_holes(&mine))
        return false;
    if (memcmp(ring->header, &ring->constants, offsetof(wb_header, head)) != 0)
        return false;
    if (!ring->path)
        return true;
    if (stat(ring->path, &named) < 0)
        return errno != ENOENT && errno != ENOTDIR;
    return named.st_ino == mine.st_ino && named.st_dev == mine.st_dev;
}

static int look(wb_ring *ring)
{
    int there = THERE;
    if (!is_in_place(ring))
        atomic_compare_exchange_strong(&ring->fate, &there, GONE);
    return atomic_load(&ring->fate) == THERE ? 0 : WB_GONE;
}

/* Numbers in the memory that cannot be: because it is gone, or because somebody wrote them there. */
static int64_t verdict(wb_ring *ring) { return look(ring) < 0 ? WB_GONE : WB_CORRUPT; }

int wb_look(wb_ring *ring) { return look(ring); }

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

/* The folder of a channel, made for its owner alone if it is not there. A channel in it gets the rights that the folder
 * has, so the kernel lets nobody else make a channel there, or write one. A folder in which anyone may write is refused:
 * anyone could move the robot. */
static int folder_of(const char *path, bool make, char folder[WB_PATH_MAX], struct stat *rights)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= WB_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (length == 0)
        strcpy(folder, slash ? "/" : ".");
    if (make && mkdir(folder, 0700) < 0 && errno != EEXIST)
        return -errno;
    if (stat(folder, rights) < 0)
        return -errno;
    return rights->st_mode & S_IWOTH ? WB_UNSAFE : 0;
}

/* The rights of a channel: its group has those that the folder gives to its group, if that is the same. */
static mode_t mode_in(const struct stat *folder, int file)
{
    struct stat made;
    mode_t mode = folder->st_mode & 0664;
    bool grouped = fstat(file, &made) == 0 &&
                   (made.st_gid == folder->st_gid || fchown(file, (uid_t)-1, folder->st_gid) == 0);
    return grouped ? mode : mode & (mode_t)~0060;
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

static void attach(wb_ring *ring, const wb_header *header, int file)
{
    unsigned char *base = (unsigned char *)ring->header;
    ring->entries = (_Atomic uint64_t *)(base + header->ring_offset);
    ring->leases = (wb_lease *)(base + header->lease_offset);
    ring->slots = base + header->slot_offset;
    ring->payload_size = header->payload_size;
    ring->slot_stride = header->slot_stride;
    ring->depth = header->depth;
    ring->writers = header->writers;
    ring->slot_count = header->depth + 2 * header->writers;
    ring->mask = header->depth & (header->depth - 1) ? 0 : header->depth - 1;
    ring->file = file;
    memcpy(&ring->constants, header, offsetof(wb_header, head));
}

/* Map the file of a ring, whose accesses from here on are guarded. */
static int map(wb_ring *ring, int file, uint64_t size)
{
    int access = ring->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void *base = mmap(NULL, size, access, MAP_SHARED | MAP_POPULATE, file, 0);
    if (base == MAP_FAILED)
        return -errno;
    ring->header = base;
    ring->file_size = size;
    ring->file = file;
    guard(ring);
    return 0;
}

static void unmap(wb_ring *ring)
{
    if (!ring->header)
        return;
    unguard(ring);
    munmap(ring->header, ring->file_size);
    ring->header = NULL;
}

static int keep_text(wb_ring *ring, uint32_t size)
{
    free(ring->text);
    ring->text = malloc(size + 1);
    return ring->text ? 0 : -ENOMEM;
}

/* Make the whole channel without a name, then name it: nobody ever sees half of it, and a creator that is
 * killed leaves nothing behind. */
static int create(wb_ring *ring, const char *path, const wb_layout *layout, uint32_t depth, uint32_t writers)
{
    char folder[WB_PATH_MAX], link[64];
    struct stat rights;
    if (!sizes_are_legal(layout->payload_size, layout->text_size, depth, writers))
        return WB_SIZE;
    int status = folder_of(path, true, folder, &rights);
    if (status == 0)
        status = keep_text(ring, layout->text_size);
    if (status < 0)
        return status;
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    wb_header header = plan(layout->payload_size, layout->text_size, depth, writers);
    header.layout_hash = layout->hash;
    read_boot(header.boot);
    memcpy(header.magic, MAGIC, sizeof MAGIC);

    /* Take the memory now, or a page would be missing in somebody's control loop later. */
    status = -posix_fallocate(file, 0, (off_t)header.file_size);
    if (status == 0 && fchmod(file, mode_in(&rights, file)) < 0)
        status = -errno;
    if (status == 0)
        status = map(ring, file, header.file_size);
    if (status < 0) {
        close(file);
        return status;
    }
    wb_header *mapped = ring->header;
    memcpy(mapped, &header, sizeof header);
    memcpy((char *)mapped + header.text_offset, layout->text, layout->text_size);
    memcpy(ring->text, layout->text, layout->text_size);
    attach(ring, &header, file);
    for (uint32_t i = 0; i < depth; i++)
        atomic_store(&ring->entries[i], entry_of(0, i));
    for (uint32_t i = 0; i < writers; i++)
        atomic_store(&ring->leases[i].slots, (depth + i) * 0x10001u);

    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0) {
        status = -errno;
        unmap(ring);
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

/* Open a channel's file to write, or to read alone if only that is permitted. Something else that lies there, such as a
 * named pipe, must not make us wait. */
static int open_file(const char *path, bool *read_only)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int file = open(path, O_RDWR | flags);
    *read_only = file < 0 && (errno == EACCES || errno == EROFS);
    if (*read_only)
        file = open(path, O_RDONLY | flags);
    return file < 0 ? -errno : file;
}

static int check_file(int file, struct stat *found)
{
    if (fstat(file, found) < 0)
        return -errno;
    if (!S_ISREG(found->st_mode))
        return WB_FOREIGN;
    return 0;
}

static int open_existing(wb_ring *ring, const char *path, const wb_layout *layout)
{
    struct stat found;
    int file = open_file(path, &ring->read_only);
    if (file < 0)
        return file;
    wb_header header = {0};
    int status = check_file(file, &found);
    uint64_t size = status == 0 ? (uint64_t)found.st_size : 0;
    if (status == 0 && pread(file, &header, sizeof header, 0) < 0)
        status = -errno;
    if (status == 0)
        status = check(&header, size);
    if (status == 0 && has_holes(&found))
        status = WB_TRUNCATED;
    if (status == 0 && layout && (layout->hash != header.layout_hash || layout->payload_size != header.payload_size))
        status = WB_LAYOUT;
    if (status == 0)
        status = keep_text(ring, header.text_size);
    if (status == 0 && pread(file, ring->text, header.text_size, (off_t)header.text_offset) != (ssize_t)header.text_size)
        status = WB_TRUNCATED;
    if (status == 0)
        status = map(ring, file, size);
    if (status < 0) {
        close(file);
        return status;
    }
    attach(ring, &header, file);
    return 0;
}

static void release(wb_ring *ring)
{
    free(ring->text);
    free(ring->path);
    free(ring);
}

int wb_open(wb_ring **ring, const char *path, const wb_layout *layout, uint32_t depth, uint32_t writers)
{
    char folder[WB_PATH_MAX];
    struct stat rights;
    wb_ring *opened = calloc(1, sizeof *opened);
    if (!opened)
        return -ENOMEM;
    int status = folder_of(path, layout != NULL, folder, &rights);
    if (status == 0 && path[0] == '/' && !(opened->path = strdup(path)))
        status = -ENOMEM;
    if (status == 0)
        do {                           /* again if it was created, or removed, between our two looks */
            status = open_existing(opened, path, layout);
            if (status == -ENOENT && layout)
                status = create(opened, path, layout, depth, writers);
        } while (status == -EEXIST);
    if (status < 0) {
        release(opened);
        return status;
    }
    *ring = opened;
    return 0;
}

void wb_close(wb_ring *ring)
{
    if (!ring)
        return;
    unmap(ring);
    close(ring->file);
    release(ring);
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
    *info = (wb_info){.layout = {.payload_size = ring->payload_size,
                                 .hash = ring->constants.layout_hash,
                                 .text = ring->text,
                                 .text_size = ring->constants.text_size},
                      .newest = newest(ring),
                      .file_size = ring->file_size,
                      .depth = ring->depth,
                      .writers = ring->writers,
                      .read_only = ring->read_only};
}

/* --- writers ------------------------------------------------------------------------------------ */

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

/* A writer's lock is one to write; a lock to read, which who may only read the file can take, is nobody's life. */
static bool is_alive(int file, uint32_t lease)
{
    struct flock lock = lock_of(lease, F_RDLCK);
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
    if (ring->read_only) {
        free(opened);
        return -EACCES;
    }
    opened->ring = ring;
    opened->process = (uint32_t)getpid();
    /* A file description of its own carries the lock; through /proc it is the same file even if its name has
     * gone meanwhile. Opened under the mutex, or a fork now would leave it open in the child. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", ring->file);
    pthread_mutex_lock(&open_mutex);
    opened->lock = open(path, O_RDWR | O_CLOEXEC);
    int status = opened->lock < 0 ? -errno : 0;
    opened->next_open = open_writers;
    open_writers = opened;
    pthread_mutex_unlock(&open_mutex);
    if (status == 0)
        status = take_lease(opened, wb_now() + REGISTER_PATIENCE);
    if (status < 0) {
        wb_writer_close(opened);
        return status;
    }
    opened->look_at = wb_now() + LOOK;
    *writer = opened;
    return 0;
}

void wb_writer_close(wb_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&open_mutex);
    wb_writer **link = &open_writers;
    while (*link && *link != writer)
        link = &(*link)->next_open;
    if (*link)
        *link = writer->next_open;
    if (writer->lock >= 0)
        close(writer->lock);
    pthread_mutex_unlock(&open_mutex);
    free(writer);
}

static void wake(wb_ring *ring)
{
    uint32_t event = atomic_load(&ring->header->event);
    for (int attempt = 0; event & WAITING && attempt < WAKE_ATTEMPTS; attempt++) {
        if (atomic_compare_exchange_strong(&ring->header->event, &event, (event + 2) & ~WAITING)) {
            WB_FAULT(5);
            syscall(SYS_futex, &ring->header->event, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
            return;
        }
    }
}

/* Whether the channel is still there, as far as is known; every now and then its file is looked at. */
static inline bool is_there(wb_writer *writer, bool has_read_clock, int64_t now)
{
    if (!has_read_clock && ++writer->unclocked % UNCLOCKED == 0)
        now = wb_now();
    else if (!has_read_clock)
        now = 0;
    if (now >= writer->look_at) {
        writer->look_at = now + LOOK;
        look(writer->ring);
    }
    return atomic_load_explicit(&writer->ring->fate, memory_order_relaxed) == THERE;
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
    int attempts = PUT_ATTEMPTS;
    int64_t now;

    /* The swap that gave us this slot must be visible before what we write into it. */
    atomic_thread_fence(memory_order_release);
    WB_FAULT(0);
    memcpy(slot->payload, payload, ring->payload_size);
    slot->writer = writer->lease;
    slot->process = writer->process;
    slot->lost = writer->lost;
    WB_FAULT(1);
    for (;;) {
        uint64_t head = atomic_load(&ring->header->head);
        sequence = head + 1;
        if (sequence > SEQUENCE_MAX)
            return WB_EXHAUSTED;
        if (--attempts == 0)
            return verdict(ring);
        old = atomic_load(entry_at(ring, sequence));
        if (sequence_of(old) == sequence) {        /* another writer was stopped before it advanced head */
            atomic_compare_exchange_strong(&ring->header->head, &head, sequence);
            continue;
        }
        if (sequence_of(old) > sequence)           /* head moved on while we looked */
            continue;
        if (sequence_of(old) != predecessor(ring, sequence) || slot_of(old) >= ring->slot_count ||
            sequence <= writer->last)
            return verdict(ring);
        slot->stamp = stamp < 0 ? wb_now() : stamp;
        now = slot->stamp;
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
    writer->last = sequence;
    return is_there(writer, stamp < 0, now) ? (int64_t)sequence : WB_GONE;
}

int64_t wb_put(wb_writer *writer, const void *payload) { return wb_put_stamped(writer, payload, -1); }

void wb_say_lost(wb_writer *writer, uint64_t lost) { writer->lost = lost; }

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
static inline bool is_unread(const wb_reader *reader) { return sequence_of(atomic_load(reader->next)) > reader->cursor; }

static inline bool is_there_for(const wb_reader *reader)
{
    return atomic_load_explicit(&reader->ring->fate, memory_order_relaxed) == THERE;
}

static inline void look_if_due(wb_reader *reader, int64_t now)
{
    if (now >= reader->look_at) {
        reader->look_at = now + LOOK;
        look(reader->ring);
    }
}

int wb_unread(wb_reader *reader)
{
    if (is_unread(reader))
        return 1;
    look_if_due(reader, about_now());
    return !is_there_for(reader);
}

/* Nothing new: 0, unless the memory says what cannot be, or is gone. */
static int nothing_new(wb_reader *reader, uint64_t found)
{
    if (found != predecessor(reader->ring, reader->cursor + 1))
        return (int)verdict(reader->ring);
    look_if_due(reader, about_now());
    return is_there_for(reader) ? 0 : WB_GONE;
}

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
    uint64_t lost = slot->lost;
    uint32_t writer = slot->writer, process = slot->process;
    memcpy(payload, slot->payload, ring->payload_size);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(place, memory_order_relaxed) != entry)
        return 0;
    message->sequence = sequence;
    message->stamp = stamp;
    message->lost = lost;
    message->writer = writer;
    message->process = process;
    return 1;
}

/* What a mirror lost since its message before this one. One that has begun anew counts anew. */
static uint64_t lost_on_the_way(wb_reader *reader)
{
    const wb_message *message = &reader->message;
    uint64_t before = reader->mirror == message->process ? reader->lost : message->lost;
    if (message->lost == 0)
        return 0;
    reader->mirror = message->process;
    reader->lost = message->lost;
    return message->lost > before ? message->lost - before : 0;
}

/* Read `wanted`; if it is overwritten under our hands, the newest instead. */
static int take(wb_reader *reader, uint64_t wanted, void *payload)
{
    for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        if (wanted <= reader->cursor)
            return (int)verdict(reader->ring);
        int copied = copy(reader->ring, wanted, payload, &reader->message);
        if (copied < 0)
            return (int)verdict(reader->ring);
        if (copied) {
            reader->message.missed = (reader->cursor ? wanted - reader->cursor - 1 : 0) + lost_on_the_way(reader);
            reader->message.missed_total += reader->message.missed;
            reader->cursor = wanted;
            reader->next = entry_at(reader->ring, wanted + 1);
            return 1;
        }
        uint64_t now = newest(reader->ring);
        if (now == wanted)             /* the newest is overwritten only by a newer one */
            return (int)verdict(reader->ring);
        wanted = now;
    }
    reader->message.sequence = 0;
    return look(reader->ring) < 0 ? WB_GONE : WB_OVERRUN;
}

int wb_latest(wb_reader *reader, void *payload)
{
    const wb_ring *ring = reader->ring;
    uint64_t next = reader->cursor + 1, found = sequence_of(atomic_load(reader->next));
    if (found < next)
        return nothing_new(reader, found);
    bool is_newest = found == next && sequence_of(atomic_load(entry_at(ring, next + 1))) < next;
    return take(reader, is_newest ? next : newest(ring), payload);
}

int wb_next(wb_reader *reader, void *payload)
{
    const wb_ring *ring = reader->ring;
    uint64_t wanted = reader->cursor + 1, found = sequence_of(atomic_load(reader->next));
    if (found < wanted)
        return nothing_new(reader, found);
    uint64_t last = newest(ring);
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
        return 1;
    }
    if (copied < 0)
        return (int)verdict(reader->ring);
    return atomic_load(&reader->ring->fate) == EMPTY ? WB_GONE : 0;
}

/* --- waiting ------------------------------------------------------------------------------------ */

static struct timespec timespec_of(int64_t instant)
{
    return (struct timespec){.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000};
}

/* Something to take, be it that the channel is gone. */
static bool any_unread(wb_reader *const readers[], int count)
{
    for (int i = 0; i < count; i++)
        if (is_unread(readers[i]) || !is_there_for(readers[i]))
            return true;
    return false;
}

static int64_t look_at_due(wb_reader *const readers[], int count)
{
    int64_t now = wb_now();
    for (int i = 0; i < count; i++)
        look_if_due(readers[i], now);
    return now;
}

/* Say that one waits, where one may write; where not, nobody wakes us, and we look again soon. */
static uint32_t say_waiting(const wb_ring *ring, int64_t *slice)
{
    if (!ring->read_only)
        return atomic_fetch_or(&ring->header->event, WAITING) | WAITING;
    *slice = POLL;
    return atomic_load(&ring->header->event);
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
        } while (look_at_due(readers, count) < end);
    }
    for (;;) {
        int64_t slice = SLICE;
        for (int i = 0; i < count; i++)
            events[i] = say_waiting(readers[i]->ring, &slice);
        int64_t now = look_at_due(readers, count);
        if (any_unread(readers, count))
            return 1;
        if (now >= until)
            return 0;
        int status = sleep_on(readers, events, count, until - now < slice ? until : now + slice);
        if (any_unread(readers, count))
            return 1;
        if (status < 0)
            return status;
    }
}
