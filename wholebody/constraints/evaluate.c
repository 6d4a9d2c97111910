/* evaluate.c - one constraint of any kind: laid over the arrays of Python, and its rows. */
#include "wholebody/constraints/constraints.h"

enum { DESCRIBED = 3 };

Constraint constraint_in(const int64_t *integers, int count, double *numbers, int length)
{
    return (Constraint){
        .kind = (ConstraintKind)integers[0],
        .frame = (int)integers[1],
        .rows = (int)integers[2],
        .joint_count = count - DESCRIBED,
        .joints = integers + DESCRIBED,
        .length = length,
        .numbers = numbers,
    };
}

/* What each kind needs: rows, and numbers with the state; whether it has a frame. */
typedef struct {
    int rows, numbers;
    bool has_frame;
} ConstraintNeeds;

static ConstraintNeeds needs_of(const Constraint *constraint)
{
    switch (constraint->kind) {
    case CONSTRAINT_CUSTOM: return (ConstraintNeeds){constraint->rows, 1, false};
    case CONSTRAINT_FLAT: return (ConstraintNeeds){6, 1, true};
    case CONSTRAINT_POINT: return (ConstraintNeeds){3, 4, true};
    case CONSTRAINT_LINE: return (ConstraintNeeds){5, 7, true};
    case CONSTRAINT_OMNI_WHEEL: return (ConstraintNeeds){2, 8, true};
    case CONSTRAINT_COACTUATION: return (ConstraintNeeds){constraint->joint_count - 1, constraint->joint_count, false};
    case CONSTRAINT_FIXED_BASE: return (ConstraintNeeds){6, 1, false};
    }
    return (ConstraintNeeds){-1, 0, false};
}

bool constraint_fits(const Constraint *constraint, const Tree *tree)
{
    ConstraintNeeds needs = needs_of(constraint);
    bool fits = constraint->rows == needs.rows && constraint->length >= needs.numbers &&
                (!needs.has_frame || (constraint->frame >= 0 && constraint->frame < tree->frames)) &&
                (constraint->kind != CONSTRAINT_FIXED_BASE || tree->nv >= 6);
    for (int i = 0; i < constraint->joint_count; i++)
        fits = fits && constraint->joints[i] >= 0 && constraint->joints[i] < tree->nv;
    return fits;
}

/* Its numbers: a ratio for each slave. v_slave - ratio v_master = 0. */
static void fill_coactuation(const Constraint *constraint, ConstraintColumns out)
{
    size_t width = (size_t)out.J.width;
    double (*J)[width] = (double (*)[width])out.J.at;
    for (int i = 0; i < constraint->rows; i++) {
        J[constraint->joints[1 + i]][i] = 1.0;
        J[constraint->joints[0]][i] = -constraint->numbers[1 + i];
        out.bias[i] = 0.0;
    }
}

static void fill_fixed_base(ConstraintColumns out)
{
    size_t width = (size_t)out.J.width;
    double (*J)[width] = (double (*)[width])out.J.at;
    for (int k = 0; k < 6; k++) {
        J[k][k] = 1.0;
        out.bias[k] = 0.0;
    }
}

void fill_constraint_rows(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out)
{
    switch (constraint->kind) {
    case CONSTRAINT_CUSTOM: break;
    case CONSTRAINT_FLAT: case CONSTRAINT_POINT: case CONSTRAINT_LINE: fill_contact(constraint, tree, now, out); break;
    case CONSTRAINT_OMNI_WHEEL: fill_omni_wheel(constraint, tree, now, out); break;
    case CONSTRAINT_COACTUATION: fill_coactuation(constraint, out); break;
    case CONSTRAINT_FIXED_BASE: fill_fixed_base(out); break;
    }
}
