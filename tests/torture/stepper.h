/* stepper.h - stop a child process before any chosen instruction of a call, with ptrace.
 *
 * The child is a fork of this process. The first one is single-stepped through the whole call, which gives the list of
 * points: the instruction, and how often it had been reached. Later children run to a point through a breakpoint,
 * because a step costs 20 µs and a call may have thousands. A system call is one instruction. */
#ifndef TORTURE_STEPPER_H
#define TORTURE_STEPPER_H

#ifndef __x86_64__
#error "breakpoints and registers are those of x86-64"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define POINTS_MAX 20000
#define BREAKPOINT 0xcc
#define SYSCALL 0x050f
#define CANNOT_STEP 77                 /* exit status */

typedef struct {
    uintptr_t at;                      /* address of an instruction */
    unsigned visit;                    /* the how-manieth time that it is reached */
} point;

/* What the child does: prepare, then the call, of which every instruction is a point, then the rest. */
typedef struct {
    void (*prepare)(void);
    int64_t (*volatile call)(void);    /* volatile: not inlined, not moved across the two cues */
    void (*finish)(void);
} script;

static struct {
    volatile bool started, done;
    volatile int64_t result;           /* of the call */
} *cue;                                /* shared with the child */

static bool at_end;                    /* the child has stopped after the call */
static point points[POINTS_MAX];
static int point_count, first_syscall; /* number of points, and the point of the first system call */

static void cannot(const char *why)
{
    perror(why);
    exit(CANNOT_STEP);
}

static void make_cue(void)
{
    cue = mmap(NULL, sizeof *cue, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cue == MAP_FAILED)
        cannot("mmap");
}

static void play(const script *plot)
{
    if (plot->prepare)
        plot->prepare();
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
        cannot("ptrace is not permitted");
    raise(SIGSTOP);
    cue->started = true;
    cue->result = plot->call();
    cue->done = true;
    raise(SIGSTOP);
    if (plot->finish)
        plot->finish();
    _exit(0);
}

/* Let the child go on to the next breakpoint, step, or end of the call. */
static void go(pid_t child, int how)
{
    int status;
    if (ptrace(how, child, 0, 0) < 0 || waitpid(child, &status, 0) < 0)
        cannot("ptrace");
    if (!WIFSTOPPED(status) || (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)) {
        fprintf(stderr, "the child ended with status %#x\n", (unsigned)status);
        exit(1);
    }
    at_end = WSTOPSIG(status) == SIGSTOP;
}

static pid_t begin(const script *plot)
{
    int status;
    cue->started = cue->done = at_end = false;
    pid_t child = fork();
    if (child < 0)
        cannot("fork");
    if (child == 0)
        play(plot);
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        exit(WEXITSTATUS(status));
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
    return child;
}

static uintptr_t instruction(pid_t child)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip), 0);
}

/* Run to the beginning of that instruction; false if the call ended before. */
static bool run_to(pid_t child, point where)
{
    long text = ptrace(PTRACE_PEEKTEXT, child, where.at, 0);
    for (;;) {
        ptrace(PTRACE_POKETEXT, child, where.at, (text & ~0xffL) | BREAKPOINT);
        go(child, PTRACE_CONT);
        ptrace(PTRACE_POKETEXT, child, where.at, text);
        if (at_end)
            return false;
        ptrace(PTRACE_POKEUSER, child, offsetof(struct user, regs.rip), where.at);
        if (--where.visit == 0)
            return true;
        go(child, PTRACE_SINGLESTEP);
    }
}

static bool run_to_point(pid_t child, int number)
{
    return run_to(child, points[0]) && run_to(child, points[number]);
}

static void run_to_end(pid_t child)
{
    while (!at_end)
        go(child, PTRACE_CONT);
}

static void slay(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Let the child play on to its end, untraced. */
static void dismiss(pid_t child)
{
    run_to_end(child);
    ptrace(PTRACE_DETACH, child, 0, 0);
    waitpid(child, NULL, 0);
}

static void add_point(uintptr_t at)
{
    unsigned visit = 1;
    for (int i = 0; i < point_count; i++)
        visit += points[i].at == at;
    points[point_count++] = (point){.at = at, .visit = visit};
}

/* Find the points of the call; the child that shows them is killed at its end. */
static void survey(const script *plot)
{
    pid_t child = begin(plot);
    while (!cue->started)
        go(child, PTRACE_SINGLESTEP);
    for (point_count = 0, first_syscall = 0; !cue->done && point_count < POINTS_MAX; go(child, PTRACE_SINGLESTEP)) {
        add_point(instruction(child));
        if (!first_syscall && (ptrace(PTRACE_PEEKTEXT, child, points[point_count - 1].at, 0) & 0xffff) == SYSCALL)
            first_syscall = point_count - 1;
    }
    slay(child);
}

#endif
