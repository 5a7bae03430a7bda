// SPDX-License-Identifier: MIT
// Expressions of an op evaluated in double precision: the value that the reference gives.
// NaN propagates through every function; comparisons with it are false, but ne; select takes one
// branch.
#include <math.h>
#include "internal.h"

const uint8_t kr_x_operands[KILN_X_COUNT] = {
#define X(name, id, operands, ...) [id] = operands,
    KILN_EXPR_OPS(X)
#undef X
};

static double gelu(double x)
{
    return x == -INFINITY ? 0 : x / 2 * erfc(-x * M_SQRT1_2);
}

static double gelu_tanh(double x)
{
    /* (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), which keeps its precision where tanh is close to -1.
     */
    const double u = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x == -INFINITY ? 0 : x / (1 + exp(-2 * u));
}

static double silu(double x)
{
    return x == -INFINITY ? 0 : x / (1 + exp(-x));
}

static double smaller(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x < y ? x : y;
}

static double larger(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x > y ? x : y;
}

double kr_leaf(const kiln_xnode *n, const kr_leaves *leaf)
{
    switch ((kiln_xop)n->op) {
    case KILN_X_CONST:
        return (double)n->value;
    case KILN_X_ACC:
        return leaf->acc[n->index];
    case KILN_X_D:
        return leaf->d[n->index];
    case KILN_X_SCALAR:
        return leaf->s[n->index];
    case KILN_X_ARG:
        return leaf->x;
    case KILN_X_AT:
        return (double)(float)leaf->at[n->index];
    default:
        return NAN;
    }
}

double kr_apply(const kiln_xnode *n, double x, double y, double z)
{
    switch ((kiln_xop)n->op) {
    case KILN_X_ADD:
        return x + y;
    case KILN_X_SUB:
        return x - y;
    case KILN_X_MUL:
        return x * y;
    case KILN_X_DIV:
        return x / y;
    case KILN_X_POW:
        return isnan(x) || isnan(y) ? NAN : pow(x, y);
    case KILN_X_NEG:
        return -x;
    case KILN_X_RELU:
        return larger(x, 0);
    case KILN_X_LEAKY_RELU:
        return x > 0 ? x : y * x;
    case KILN_X_GELU:
        return gelu(x);
    case KILN_X_GELU_TANH:
        return gelu_tanh(x);
    case KILN_X_SILU:
        return silu(x);
    case KILN_X_SIGMOID:
        return 1 / (1 + exp(-x));
    case KILN_X_TANH:
        return tanh(x);
    case KILN_X_EXP:
        return exp(x);
    case KILN_X_LOG:
        return log(x);
    case KILN_X_SQRT:
        return sqrt(x);
    case KILN_X_RSQRT:
        return 1 / sqrt(x);
    case KILN_X_ABS:
        return fabs(x);
    case KILN_X_MIN:
        return smaller(x, y);
    case KILN_X_MAX:
        return larger(x, y);
    case KILN_X_CLAMP:
        return smaller(larger(x, y), z);
    case KILN_X_ROUND:
        return nearbyint(x);
    case KILN_X_SELECT:
        return x != 0 ? y : z;
    case KILN_X_LT:
        return x < y;
    case KILN_X_LE:
        return x <= y;
    case KILN_X_GT:
        return x > y;
    case KILN_X_GE:
        return x >= y;
    case KILN_X_FLOOR:
        return floor(x);
    case KILN_X_EQ:
        return x == y;
    case KILN_X_NE:
        return x != y;
    case KILN_X_AND:
        return x != 0 && y != 0;
    case KILN_X_OR:
        return x != 0 || y != 0;
    case KILN_X_NOT:
        return x == 0;
    case KILN_X_CAST:
        return (double)(float)kr_round_to((kiln_dtype)n->index, x); /* the largest i32 is none */
    default:                                                        /* leaves and reductions */
        return NAN;
    }
}

double kr_eval(const kiln_xnode *node, uint32_t count, const kr_leaves *leaf, double *v)
{
    for (uint32_t i = 0; i < count; i++) {
        const kiln_xnode *n = &node[i];
        v[i] = kr_x_operands[n->op] ? kr_apply(n, v[n->arg[0]], v[n->arg[1]], v[n->arg[2]])
                                    : kr_leaf(n, leaf);
    }
    return v[count - 1];
}
