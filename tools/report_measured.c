// SPDX-License-Identifier: MIT
// What was measured, for report --html: rows of tuning files, of any device.  A row holds for the
// instance that was timed: where its kernel has changed since, it is left out and counted.
#include "report_page.h"
#include "tuning_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    kt_page *page;
    const char *file;
    char target[32], name[256];
    int units;
    kt_machine *machine; /* whose rows they are, once one is used; NULL: there is none */
    int asked;           /* for that */
    size_t rows, unused;
} reading;

static void validator(void *user, const char *key, const char *value)
{
    reading *r = user;
    if (!strcmp(key, "TARGET")) snprintf(r->target, sizeof r->target, "%s", value);
    if (!strcmp(key, "DEVICE")) snprintf(r->name, sizeof r->name, "%s", value);
    if (!strcmp(key, "UNITS")) r->units = atoi(value);
}

static json_t *finite_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* [instance, machine, problem, us, error, modelled us, device]. */
static void row(void *user, const char *problem, const kt_row *of)
{
    reading *r = user;
    kt_page *page = r->page;
    char text[KT_PROBLEM_TEXT];
    kiln_problem p;
    const int at = kt_page_instance(page, of->instance);
    r->rows++;
    if (at < 0 || page->found[at].info.content != of->content || kiln_problem_parse(problem, &p) ||
        strcmp(page->found[at].info.target, r->target) || !isfinite(of->us)) {
        r->unused++;
        return;
    }
    if (!r->asked++) r->machine = kt_page_machine(page, r->target, r->units);
    kt_machine *m = r->machine;
    json_t *device = json_string(r->name); /* of whatever encoding */
    const double us = m ? kt_page_explain(page, m, &p, of->instance) : NAN;
    json_array_append_new(page->measured,
                          json_pack("[i i s f o o o]", at, m ? (int)(m - page->machine) : -1,
                                    kt_problem_text(&p, text, sizeof text), of->us,
                                    finite_or_null(of->error), finite_or_null(us),
                                    device ? device : json_string("?")));
}

static int read_file(kt_page *page, const char *file)
{
    reading r = {.page = page, .file = file};
    const int code = kt_tuning_each(file, validator, row, &r);
    if (r.unused)
        kt_message("%s: %zu of %zu rows left out: their instances are not in this report, or have "
                   "changed, or they have no time",
                   file, r.unused, r.rows);
    return code;
}

int kt_page_measured(kt_page *page)
{
    const kt_names *named = &page->o->tuned;
    const char *from = named->count ? NULL : getenv("KILN_TUNING");
    int code = 0;
    for (size_t i = 0; i < named->count && !code; i++) code = read_file(page, named->name[i]);
    while (from && *from && !code) {
        const size_t n = strcspn(from, ":");
        char *file = strndup(from, n);
        if (!file) return kt_failed(KILN_NO_MEMORY, "report");
        if (n) code = read_file(page, file);
        free(file);
        from += n + (from[n] == ':');
    }
    return code;
}
