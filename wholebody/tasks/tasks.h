/* tasks.h - tasks as kernels see them: what never changes, where their parameters lie, and the rows they ask for.
 *
 * Parameters are numpy's: the flat array of a `Packed` record, which Python changes while a loop runs. A user's own
 * task is of kind TASK_CUSTOM: Python writes its rows into memory that `own` points to. */
#ifndef WHOLEBODY_TASKS_H
#define WHOLEBODY_TASKS_H

#include "wholebody/model/model.h"

/* kinds.py has the same numbers. Kinds from TASK_CENTER_OF_PRESSURE on speak of the forces of contacts, not of motion. */
typedef enum {
    TASK_CUSTOM = 0,
    TASK_JOINT_POSITION = 1,
    TASK_POSITION = 2,
    TASK_ORIENTATION_2D = 3,
    TASK_ORIENTATION_3D = 4,
    TASK_POSE = 5,
    TASK_CENTER_OF_MASS = 6,
    TASK_MOMENTUM = 7,
    TASK_EXTERNAL_FORCE = 8,
    TASK_JOINT_LIMITS = 9,
    TASK_CENTER_OF_PRESSURE = 20,
    TASK_INTERNAL_FORCE = 21,
    TASK_CONTACT_FORCE = 22,
} TaskKind;

/* The state of a task or constraint, as parameters/packed.py has it. */
enum { DISABLED = 0, ENABLED = 1, SENSING = 2 };

/* Limits of errors from here on are none. */
#define UNLIMITED 1e9

/* One task: fixed but for the numbers that its pointers lead to, which lie in one array of `length` numbers. */
typedef struct {
    TaskKind kind;
    int frame, reference;     /* reference: the frame it is measured in; -1 is the world */
    int mask;                 /* a bit for each axis that counts */
    int rows;                 /* at most */
    int joint_count;
    const int64_t *joints;    /* columns of v */
    int length;
    double *numbers;          /* all parameters: the state first, then those below in their order */
    double *integral_limit, *error_limit;
    double *stiffness, *damping, *integral_gain, *goal_velocity, *goal_acceleration, *accumulated; /* of each row */
    double *goal;             /* the rest: what the kind of the task says */
} Task;

static inline int state_of_task(const Task *task)
{
    return (int)task->numbers[0];
}

static inline bool is_force_task(const Task *task)
{
    return task->kind >= TASK_CENTER_OF_PRESSURE;
}

/* Where the rows of one task go: its Jacobian as columns, from the first on, of a wide matrix whose entries are zero
 * (none, without such a matrix); the rest as vectors with one number a row. */
typedef struct {
    Columns J;          /* nv x rows: the transposed Jacobian */
    double *error;
    double *velocity;
    double *bias;       /* how fast the velocity changes with zero acceleration of v */
    double *activation; /* from 0, where a row comes or goes, to 1, where it counts in full */
    int *source;        /* the row of the task that this is, which tells its gains */
} TaskColumns;

/* evaluate.c: a task from the integers that tasks/kinds.py describes it by (kind, frame, reference, mask, rows, then its
 * joints), and its parameters. */
Task task_in(const int64_t *integers, int count, double *numbers, int length);

/* evaluate.c: whether a task has what its kind needs, and its frames and joints are of that robot. */
bool task_fits(const Task *task, const Tree *tree);

/* evaluate.c: how many rows a task on motion has at this instant, and these rows; not of a user's own. */
int count_task_rows(const Task *task, const Tree *tree, const Snapshot *now);
void fill_task_rows(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);

/* Each kind of task on motion; how many rows there were. position.c, orientation.c, joints.c, whole_body.c */
int fill_position(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_external_force(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_orientation_2d(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_orientation_3d(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_pose(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_joint_position(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_joint_limits(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int count_joint_limits(const Task *task, const Tree *tree, const Snapshot *now);
int fill_center_of_mass(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);
int fill_momentum(const Task *task, const Tree *tree, const Snapshot *now, TaskColumns out);

/* forces.c: rows on the wrenches of contacts, force before moment, in the axes of the world. */
void center_of_pressure_rows(double placement[4][4], const double goal[2], double rows[2][6]);
void internal_force_row(const Snapshot *now, int frame_a, int frame_b, double row[3]);

#endif
