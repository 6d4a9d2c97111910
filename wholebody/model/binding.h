/* binding.h - the handles of the model, for the bindings of packages that work on trees and snapshots. */
#ifndef WHOLEBODY_MODEL_BINDING_H
#define WHOLEBODY_MODEL_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/model/model.h"

#define TREE_HANDLE "wholebody.Tree"
#define SNAPSHOT_HANDLE "wholebody.Snapshot"

typedef struct {
    Borrowed arrays;
    Tree tree;
} TreeHandle;

typedef struct {
    Borrowed arrays;
    Snapshot now;
    int bodies, frames, nv, nq; /* of the tree that it was made for */
} SnapshotHandle;

/* The tree of a handle, or NULL with a Python error. */
static inline const Tree *given_tree(Given *given, int index)
{
    TreeHandle *found = given_handle(given, index, TREE_HANDLE);
    return found ? &found->tree : NULL;
}

/* The snapshot of a handle, or NULL with a Python error; also if it is of another robot than that tree. */
const Snapshot *given_snapshot(Given *given, int index, const Tree *tree);

#endif
