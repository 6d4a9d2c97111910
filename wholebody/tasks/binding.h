/* binding.h - the handle of a task. */
#ifndef WHOLEBODY_TASKS_BINDING_H
#define WHOLEBODY_TASKS_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/tasks/tasks.h"

#define TASK_HANDLE "wholebody.Task"

typedef struct {
    Borrowed arrays;
    Task task;
} TaskHandle;

/* The task of a handle, or NULL with a Python error; the call fails. */
static inline const Task *task_of(Given *given, PyObject *handle)
{
    TaskHandle *found = given->failed ? NULL : handle_of(handle, TASK_HANDLE);
    given->failed = !found;
    return found ? &found->task : NULL;
}

#endif
