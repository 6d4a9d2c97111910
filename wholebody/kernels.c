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
    PyMethodDef *packages[] = {
        collision_methods,
        constraints_methods,
        control_methods,
        estimation_balance_methods,
        estimation_methods,
        estimation_parts_methods,
        inverse_methods,
        kinematics_methods,
        locomotion_methods,
        model_methods,
        motion_methods,
        quadratic_methods,
        support_methods,
        tasks_methods,
        updater_methods,
        wbosc_methods,
    };
    PyObject *module = PyModule_Create(&definition);
    for (size_t i = 0; module && i < sizeof packages / sizeof packages[0]; i++)
        if (PyModule_AddFunctions(module, packages[i]) != 0)
            Py_CLEAR(module);
    return module;
}
