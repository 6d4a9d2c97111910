/* updater_races.c - a loop and an updater at full speed, for the thread sanitizer: updater_races FILE SNAPSHOTS.
 *
 * FILE: how many int64 and how many doubles there are, as two int64; then both, as model_tree gets them. What the
 * updater hands over must be, bit by bit, what the loop computes itself; exits with 1 if it is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wholebody/model/updater.h"

static void *read_all(FILE *file, size_t size, int64_t count)
{
    void *memory = malloc(size * (size_t)count);
    if (!memory || fread(memory, size, (size_t)count, file) != (size_t)count)
        exit(2);
    return memory;
}

static void move(const Tree *tree, const Snapshot *now, long cycle)
{
    for (int i = 0; i < tree->nq; i++)
        now->q[i] = 1e-4 * (double)((cycle * (i + 3)) % 9973);
    if (tree->floating)
        memcpy(now->q + 3, (double[]){0.0, 0.0, 0.0, 1.0}, 4 * sizeof(double));
    for (int i = 0; i < tree->nv; i++)
        now->v[i] = 1e-3 * (double)((cycle * (i + 7)) % 997);
}

int main(int count, char **arguments)
{
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    int64_t sizes[2];
    if (!file || fread(sizes, sizeof sizes, 1, file) != 1)
        return 2;
    int64_t *integers = read_all(file, sizeof(int64_t), sizes[0]);
    double *numbers = read_all(file, sizeof(double), sizes[1]);
    fclose(file);
    Tree tree = tree_in(integers, numbers);
    size_t size = snapshot_size(&tree) * sizeof(double);
    double *memory[2] = {calloc(1, size), calloc(1, size)};
    Snapshot asked = snapshot_in(&tree, memory[0]), own = snapshot_in(&tree, memory[1]);
    static Updater updater;
    lay_out_updater(&updater, &tree, 1e-6);
    if (begin_updater(&updater) != 0)
        return 2;
    long wanted = atol(arguments[2]), taken = 0, wrong = 0;
    while (taken < wanted) {
        StateVerdict verdict;
        if (take_from_updater(&updater, &verdict)) {
            wrong += verdict != STATE_WELL || memcmp(memory[0], memory[1], size) != 0;
            taken++;
        }
        if (atomic_load(&updater.turn) != UPDATER_IDLE)
            continue;
        move(&tree, &asked, taken);
        move(&tree, &own, taken);
        ask_updater(&updater, asked);
        evaluate_snapshot(&tree, &own);
        if (taken % 100 == 0) { /* the thread also ends and begins anew, with something to do */
            end_updater(&updater);
            if (begin_updater(&updater) != 0)
                return 2;
        }
    }
    end_updater(&updater);
    clear_updater(&updater);
    printf("%ld taken, %ld wrong\n", taken, wrong);
    free(integers), free(numbers), free(memory[0]), free(memory[1]);
    return wrong > 0;
}
