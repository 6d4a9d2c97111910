/* kernels.c - the module wholebody._kernels: every loop in C that Python calls, package by package. */
#include "wholebody/binding.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "wholebody._kernels",
    .m_doc = "The loops in C of all packages; each is called by the Python beside its source.",
    .m_size = 0,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    const Kernel *packages[] = {
        balance_kernels,
        collision_kernels,
        constraint_kernels,
        control_kernels,
        estimation_kernels,
        estimation_part_kernels,
        foot_kernels,
        inverse_kernels,
        kinematics_kernels,
        leg_kernels,
        model_kernels,
        motion_kernels,
        plan_kernels,
        quadratic_kernels,
        stabilizer_kernels,
        support_kernels,
        task_kernels,
        unitree_kernels,
        updater_kernels,
        wbosc_kernels,
    };
    PyObject *module = PyModule_Create(&definition);
    for (size_t i = 0; module && i < sizeof packages / sizeof packages[0]; i++)
        if (!add_kernels(module, packages[i]))
            Py_CLEAR(module);
    return module;
}
