/* wide.c - the kernel of a snapshot once more, compiled for x86-64 processors with AVX, and the choice between both.
 *
 * AVX's instructions name three registers, which spares copies. They work on two numbers at a time, as everywhere: a
 * function that leaves the upper halves of AVX's registers dirty slows down all code without AVX after it. Nothing is
 * contracted, so that both variants give the same bits (tests/model/test_model_variants.py). */
#if defined(__x86_64__)

#pragma GCC target("avx,prefer-vector-width=128")

#define evaluate_plainly evaluate_with_avx
#define place_base place_base_avx
#define move_bodies move_bodies_avx
#define place_frame place_frame_avx
#define fill_jacobian fill_jacobian_avx

#include "wholebody/model/dynamics.c"
/* the pragma of these two holds to the end of the file */
#include "wholebody/model/bodies.c"
#include "wholebody/model/frames.c"

#undef evaluate_plainly
#endif

#include "wholebody/model/model.h"

#if defined(__x86_64__)

StateVerdict evaluate_plainly(const Tree *tree, const Snapshot *now);

const char *kernel_variant(void)
{
    return __builtin_cpu_supports("avx") ? "avx" : "plain";
}

StateVerdict evaluate_snapshot(const Tree *tree, const Snapshot *now)
{
    return __builtin_cpu_supports("avx") ? evaluate_with_avx(tree, now) : evaluate_plainly(tree, now);
}

#else

const char *kernel_variant(void)
{
    return "plain";
}

StateVerdict evaluate_snapshot(const Tree *tree, const Snapshot *now)
{
    return evaluate_plainly(tree, now);
}

#endif
