// SPDX-License-Identifier: MIT
// A call of an op under way: op.c begins and launches it, arguments.c reads its arguments and
// tensors and makes its outputs.
#ifndef KILN_CALL_H
#define KILN_CALL_H
#include "binding.h"

enum { BOUND = 33 }; /* the host, 16 GPUs of each vendor */

/* Places of names: tensors', then scalars', then those of sizes that no tensor tells. */
enum { SCALAR_WORDS = KILN_MAX_TENSORS, SIZE_WORDS = SCALAR_WORDS + KILN_MAX_SCALARS };

/* What an op is in one generation of modules; calls under way keep theirs. */
typedef struct face {
    unsigned uses, generation;
    char *name;
    PyObject *word[KP_ARGUMENTS]; /* interned names: tensors, scalars, sizes */
    int ntensors, nscalars, ninputs;
    int input[KILN_MAX_TENSORS]; /* inputs in order, by position in kp_bound.tensor */
    int output[KILN_MAX_TENSORS], noutputs;
    PyObject *result;       /* a named tuple's type; NULL: one output */
    kp_bound *bound[BOUND]; /* [0]: the host's, which names are of */
} face;

/* A call under way. */
typedef struct running {
    face *face;
    kp_bound *b;
    PyObject *object[KILN_MAX_TENSORS]; /* borrowed from the arguments, or `made` */
    PyObject *made[KILN_MAX_TENSORS];
    kp_view view[KILN_MAX_TENSORS];
    kp_call call;
    float scalar[KILN_MAX_SCALARS];
    unsigned scalars_seen;
    PyObject *stream_object;
    bool streamed;
    void *stream;
    const kp_kind *kind;  /* of the first tensor */
    const kp_kind *maker; /* of outputs that are made */
    kp_plan *plan;
    PyObject *workspace;
    kp_scratch *scratch;
} running;

bool kp_words(void); /* interns the names that every op has */
kp_bound *kp_bound_for(face *, int device, int id);
bool kp_read_arguments(running *, PyObject *args, PyObject *kw);
bool kp_read_tensors(running *);
bool kp_make_outputs(running *);
#endif
