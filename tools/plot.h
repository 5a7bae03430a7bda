// SPDX-License-Identifier: MIT
// kiln bench --plot: results as a picture.  plot_rows.c reads them and finds what is to be drawn,
// plot_svg.c draws.
#ifndef KILN_PLOT_H
#define KILN_PLOT_H
#include "command.h"
#include <jansson.h>

/* The set of the problems that bench adds for ceilings, and what it is to show. */
#define KT_CEILING     "ceiling"
#define KT_CEILING_AIM "what this machine does at most, for --plot"
enum {
    KT_PLOT_NAMES = 6,  /* implementations with a line of their own */
    KT_PLOT_LAYERS = 5, /* panels of time */
    KT_PLOT_RATES = 4,  /* ceilings by type */
};

typedef struct kt_plot_row {
    const char *set, *problem, *note;
    int name;                /* position in kt_plot.name */
    double us, tflops, gbps; /* 0: not known */
} kt_plot_row;

typedef struct kt_plot_point {
    double at, us;
    const kt_plot_row *row;
} kt_plot_point;

/* Problems that differ in one size alone. */
typedef struct kt_plot_layer {
    const char *size;                    /* "m" */
    char *text;                          /* of the problems, without it */
    kt_plot_point *point[KT_PLOT_NAMES]; /* by implementation, by size: the least time of each */
    size_t points[KT_PLOT_NAMES];
} kt_plot_layer;

typedef struct kt_plot_ceiling {
    double value; /* 0: there is none */
    char type[32];
    const kt_plot_row *row; /* that had it */
} kt_plot_ceiling;

typedef struct kt_plot {
    json_t *rows;
    const char *device; /* "" where the results do not say */
    int modelled;       /* times are a simulator's */
    kt_plot_row *row;
    size_t count;
    const char *name[KT_PLOT_NAMES];
    int names;
    size_t unnamed; /* rows of implementations beyond */
    kt_plot_layer layer[KT_PLOT_LAYERS];
    int layers;
    size_t layers_left; /* that there was no room for */
    kt_plot_ceiling bytes, rate[KT_PLOT_RATES];
    int rates;
} kt_plot;

/* Of rows as bench --json has them, which belong to the plot from now on; an exit code. */
int kt_plot_open(json_t *rows, kt_plot *);
void kt_plot_close(kt_plot *);
void kt_plot_draw(const kt_plot *, FILE *);
/* Draws rows into a file; an exit code. */
int kt_plot_write(json_t *rows, const char *name);
/* bench --plot FILE --from RESULTS; an exit code. */
int kt_plot_from(const kt_options *);
#endif
