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

/* The task of a handle, or NULL with a Python error. */
static inline const Task *task_of(PyObject *handle)
{
    TaskHandle *found = handle_of(handle, TASK_HANDLE);
    return found ? &found->task : NULL;
}

#endif
