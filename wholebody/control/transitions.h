/* transitions.h - what of a problem changed since the cycle before. */
#ifndef WHOLEBODY_CONTROL_TRANSITIONS_H
#define WHOLEBODY_CONTROL_TRANSITIONS_H

#include "wholebody/control/problem.h"

/* What can change; of several at once, the last counts. transitions.py has the same numbers. */
typedef enum { CHANGE_NONE, CHANGE_GOAL, CHANGE_GAIN, CHANGE_STATE, CHANGE_PRIORITY, CHANGE_CONTACT } Change;

/* How many numbers all tasks and constraints have. */
int count_parameters(const Problem *problem);

/* Compare the numbers of all tasks and constraints with those seen last, and remember them in `seen`. A goal changed if it
 * moved by more than a jump, or if its velocity or acceleration asks for as much as that. */
Change find_changes(const Problem *problem, double *seen, double motion_jump, double force_jump);

#endif
