/* kill_points.c - kill, or stop and lap, a process before every single instruction of a call of ring.c as it is.
 *
 *     kill_points TRIAL FOLDER
 *
 * After every death a writer and a reader that were there before go on at once, and every place for a writer can be
 * taken. Prints how many points there were and how many laws were broken, as JSON; the evidence goes to stderr. */
#include "ring.c"

#include <dirent.h>

#include "child.h"
#include "stepper.h"
#include "witness.h"

#define SURVEYS_MAX 6
#define SHORT 2000000                  /* ns */
#define LONG INT64_C(10000000000)

static int reached, landed;            /* points; messages or channels that were there all the same */
static bool in_time;                   /* killed or stopped at a point inside the call, not after it */

/* --- kill it before every instruction ----------------------------------------------------------- */

static void nothing(void) { }

/* Reading the clock begins anew if the kernel sets it meanwhile; such a way is rare, so look until two agree. */
static void survey_all(const script *plot, void (*arrange)(void), void (*check)(void))
{
    for (int before = -1, attempt = 0; before != point_count && attempt < SURVEYS_MAX; attempt++) {
        before = point_count;
        arrange();
        survey(plot);
        check();
        landed = 0;
    }
}

/* Before each life `arrange`, after each death `check`. */
static void kill_everywhere(const script *plot, void (*arrange)(void), void (*check)(void))
{
    if (point_count == 0)
        survey_all(plot, arrange, check);
    for (current = 0; current < point_count && broken < BROKEN_MAX; current++) {
        arrange();
        pid_t child = begin(plot);
        reached += in_time = run_to_point(child, current);
        slay(child);
        check();
    }
}

/* The put happens at one instruction: killed before it there is no message, from there on there is. */
static int count_landed(void)
{
    int now = read_all();
    expect(now == 0 || (now == 1 && seen.life == CHILD), "a killed put leaves more than its message");
    expect(now == 1 || landed == 0, "a killed put is there, but a later killed one is not");
    landed += now == 1 && in_time;
    return now;
}

static void after_killed_put(void)
{
    count_landed();
    life_goes_on();
}

static void give_something_new(void)
{
    wb_latest(subject, outcome->words);
    lap(1);
}

static void give_nothing_new(void)
{
    lap(1);
    wb_latest(subject, outcome->words);
}

static void kill_put(void) { kill_everywhere(&put, nothing, after_killed_put); }
static void kill_open(void) { kill_everywhere(&open_writer, nothing, life_goes_on); }
static void kill_close(void) { kill_everywhere(&close_writer, nothing, life_goes_on); }
static void kill_latest(void) { kill_everywhere(&latest, give_something_new, life_goes_on); }
static void kill_next(void) { kill_everywhere(&next, give_something_new, life_goes_on); }

/* Stepping is slow, and slower on a busy machine: one that is out of time before it goes to sleep gets more of it. */
static void survey_wait(void)
{
    patience = 20 * SHORT;
    do {
        survey_all(&wait_for_it, give_nothing_new, nothing);
        patience *= 2;
    } while (!first_syscall && patience <= LONG);
}

static void kill_wait(void)
{
    survey_wait();
    patience = SHORT;
    kill_everywhere(&wait_for_it, give_nothing_new, life_goes_on);
}

/* Somebody waits while the writer is killed: for its message, or, if that was not put, for the next one. */
static pid_t sleeper;

static void let_somebody_wait(void)
{
    give_nothing_new();
    atomic_fetch_and(&ring->header->event, ~WAITING);
    sleeper = fork();
    if (sleeper == 0)
        _exit(wb_wait(&subject, 1, wb_now() + LONG, 0) == 1 ? 0 : 1);
    while (!(atomic_load(&ring->header->event) & WAITING))
        usleep(100);
}

static void somebody_wakes_up(void)
{
    int status;
    if (count_landed() == 0)
        put_and_read(survivor, SURVIVOR);
    waitpid(sleeper, &status, 0);
    expect(status == 0, "a waiting reader does not wake up");
    life_goes_on();
}

static void kill_waking(void) { kill_everywhere(&put, let_somebody_wait, somebody_wakes_up); }

/* --- kill the creator of a channel -------------------------------------------------------------- */

static int files_in_fresh_folder(void)
{
    int count = 0;
    DIR *folder = opendir(fresh_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    if (folder)
        closedir(folder);
    return count;
}

static void remove_fresh(void)
{
    unlink(fresh_path);
    rmdir(fresh_folder);
}

/* Open or create the channel as anybody would, put a message there and read it back. */
static void use_fresh(void)
{
    wb_ring *mine;
    wb_writer *writer = NULL;
    wb_reader *back = NULL;
    uint64_t words[WORDS], again[WORDS];
    bool good = wb_open(&mine, fresh_path, &layout, DEPTH, WRITERS) == 0;
    expect(good, "a channel whose creator was killed cannot be opened");
    if (!good)
        return;
    fill(words, WORDS, SURVIVOR, ++seen.count);
    good = wb_writer_open(&writer, mine) == 0 && wb_reader_open(&back, mine) == 0 && wb_put(writer, words) > 0 &&
           wb_latest(back, again) == 1 && memcmp(words, again, sizeof words) == 0;
    expect(good, "a channel whose creator was killed does not work");
    wb_writer_close(writer);
    wb_reader_close(back);
    wb_close(mine);
}

static void after_killed_creator(void)
{
    int files = files_in_fresh_folder();
    expect(files == 0 || (files == 1 && access(fresh_path, F_OK) == 0), "a killed creator leaves files behind");
    landed += files == 1 && in_time;
    use_fresh();
}

static void kill_create(void) { kill_everywhere(&create_channel, remove_fresh, after_killed_creator); }

/* --- stop it before every instruction, and let others pass -------------------------------------- */

/* Before each life `arrange`; while it is asleep in the middle of its call `meanwhile`; `resume` takes it to the end,
 * and judges. */
static void stop_everywhere(const script *plot, void (*arrange)(void), void (*meanwhile)(void), void (*resume)(pid_t))
{
    for (current = 0; current < point_count && broken < BROKEN_MAX; current++) {
        arrange();
        pid_t child = begin(plot);
        reached += in_time = run_to_point(child, current);
        meanwhile();
        resume(child);
    }
}

static int messages_meanwhile;

static void forget_child(void) { seen.child_count = 0; }

/* One place stays free: which of two slots a writer asleep in a put owns cannot be known, so both are kept for it. */
static void others_pass(void)
{
    landed += read_all() == 1 && in_time;
    lap(messages_meanwhile);
    open_others(WRITERS - 3);
    others_put();
}

static void resume_put(pid_t child)
{
    while (!cue->done) {
        go(child, PTRACE_SINGLESTEP);
        read_all();
        nothing_kept_has_changed();
    }
    expect(seen.child_count == 1 && seen.child_sequence == cue->result, "a resumed put does not land exactly once");
    dismiss(child);
    expect(read_all() == 2 && seen.life == CHILD, "a writer that was stopped cannot go on");
    nothing_kept_has_changed();
    others_put();
    close_others();
    life_goes_on();
}

static void stop_put(void)
{
    survey_all(&put, nothing, after_killed_put);
    for (messages_meanwhile = 1; messages_meanwhile <= 2 * DEPTH + 1; messages_meanwhile += DEPTH)
        stop_everywhere(&put, forget_child, others_pass, resume_put);
}

static void bystander_is_there(void) { open_others(1); }

static void bystander_leaves(void)
{
    lap(1);
    others_put();
    lap(messages_meanwhile);
    close_others();
}

static void resume_open(pid_t child)
{
    run_to_end(child);
    expect(cue->result == 0, "a writer stopped while it registered fails to");
    open_others(WRITERS - 2);
    others_put();
    dismiss(child);
    expect(read_all() == 2 && seen.life == CHILD, "a writer stopped while it registered cannot put");
    nothing_kept_has_changed();
    others_put();
    close_others();
    life_goes_on();
}

static void stop_open(void)
{
    survey_all(&open_writer, bystander_is_there, close_others);
    messages_meanwhile = 2 * DEPTH + 1;
    stop_everywhere(&open_writer, bystander_is_there, bystander_leaves, resume_open);
}

/* As a writer leaves it that is killed right after its swap. */
static void leave_head_behind(void)
{
    give_something_new();
    atomic_fetch_sub(&ring->header->head, 1);
}

static void survivor_passes(void) { lap(2 * DEPTH + 1); }

static void resume_reader(pid_t child)
{
    wb_message before;
    const wb_message *now = &outcome->message;
    dismiss(child);
    wb_message_of(subject, &before);
    expect(cue->result == 1, "a reader finds nothing though there was something new");
    expect(is_whole(outcome->words, WORDS), "a reader that was lapped reads a torn message");
    expect(now->sequence > before.sequence && now->missed == now->sequence - before.sequence - 1,
           "a reader that was lapped does not know what it missed");
    life_goes_on();
}

static void stop_reader(const script *plot)
{
    survey_all(plot, give_something_new, nothing);
    stop_everywhere(plot, give_something_new, survivor_passes, resume_reader);
    stop_everywhere(plot, leave_head_behind, survivor_passes, resume_reader);
}

static void stop_latest(void) { stop_reader(&latest); }
static void stop_next(void) { stop_reader(&next); }

static void resume_wait(pid_t child)
{
    dismiss(child);
    expect(cue->result == 1, "a waiting reader is not told of a message");
    life_goes_on();
}

static void stop_wait(void)
{
    survey_wait();
    patience = LONG;
    point_count = first_syscall + 1;   /* there it goes to sleep */
    stop_everywhere(&wait_for_it, give_nothing_new, survivor_passes, resume_wait);
}

static void resume_create(pid_t child)
{
    memset(outcome, 0, sizeof *outcome);
    dismiss(child);
    expect(cue->result == 0 && outcome->words[0] == SURVIVOR && outcome->words[1] == seen.count,
           "two that create the same channel get two");
    expect(files_in_fresh_folder() == 1, "two that create a channel leave files behind");
}

static void stop_create(void)
{
    survey_all(&create_channel, remove_fresh, nothing);
    stop_everywhere(&create_channel, remove_fresh, use_fresh, resume_create);
}

/* --- main --------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} trials[] = {
    {"kill put", kill_put},         {"kill waking", kill_waking},
    {"kill open", kill_open},       {"kill close", kill_close},
    {"kill latest", kill_latest},   {"kill next", kill_next},
    {"kill wait", kill_wait},       {"kill create", kill_create},
    {"stop put", stop_put},         {"stop open", stop_open},
    {"stop latest", stop_latest},   {"stop next", stop_next},
    {"stop wait", stop_wait},       {"stop create", stop_create},
};

static bool set_up(const char *folder)
{
    char ring_path[WB_PATH_MAX];
    snprintf(ring_path, sizeof ring_path, "%s/ring", folder);
    snprintf(fresh_folder, sizeof fresh_folder, "%s/fresh", folder);
    snprintf(fresh_path, sizeof fresh_path, "%s/fresh/channel", folder);
    make_cue();
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return outcome != MAP_FAILED && wb_open(&ring, ring_path, &layout, DEPTH, WRITERS) == 0 &&
           wb_writer_open(&survivor, ring) == 0 && wb_reader_open(&reader, ring) == 0 &&
           wb_reader_open(&looker, ring) == 0 && wb_reader_open(&subject, ring) == 0;
}

/* The first times take other ways than later ones, in malloc above all, and the points are those of one time. */
static void warm_up(void)
{
    lap(DEPTH);
    for (int i = 0; i < 4; i++)
        life_goes_on();
    use_fresh();
    remove_fresh();
}

int main(int argc, char *argv[])
{
    if (argc != 3 || !set_up(argv[2])) {
        fprintf(stderr, "kill_points TRIAL FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        if (strcmp(argv[1], trials[i].name) == 0) {
            warm_up();
            trials[i].run();
            printf("{\"points\": %d, \"reached\": %d, \"landed\": %d, \"broken\": %d}\n", point_count, reached, landed,
                   broken);
            return broken > 0;
        }
    fprintf(stderr, "no trial '%s'\n", argv[1]);
    return 2;
}
