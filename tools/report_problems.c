// SPDX-License-Identifier: MIT
// Problems of report --html and what the library says of them: common sizes for everything that is
// compiled, and what --problems names.  A page cannot run the cost functions, which are compiled
// into the modules: so it has the answers.
#include "harness.h"
#include "report_page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes that models have ---- */
/* Of ops with products: rows, columns, what is summed. */
static const int64_t of_products[][3] = {
    {1, 4096, 4096},    {16, 4096, 4096},   {128, 4096, 4096},   {512, 11008, 4096},
    {512, 4096, 11008}, {4096, 4096, 4096}, {4096, 11008, 4096}, {8192, 8192, 8192},
};
/* Of ops with planes: planes, those that share one, rows, columns, batch. */
static const int64_t of_planes[][5] = {
    {32, 8, 4096, 4096, 1}, {32, 8, 2048, 2048, 8},    {32, 8, 1, 8192, 64},
    {64, 8, 1, 32768, 8},   {16, 16, 16384, 16384, 1},
};
/* Of others: rows, columns. */
static const int64_t of_rows[][2] = {
    {1, 8192}, {64, 8192}, {4096, 4096}, {4096, 8192}, {16384, 8192},
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* As many pages as the columns of all batches take, of a size that counts pages; else 0. */
static int64_t pages(const kiln_op_info *op, const kiln_problem *p, int size)
{
    const int64_t batch = p->size[KH_BATCH] > 1 ? p->size[KH_BATCH] : 1;
    for (size_t i = 0; i < op->ntensors; i++) {
        const kiln_rows_info *r = &op->rows_of[i];
        if (r->batches == size && r->page > 0)
            return batch * ((kh_size_of(p, op->cols) + r->page - 1) / r->page);
    }
    return 0;
}

/* What no kind of tensor means: pages of a cache, or a window of it. */
static void set_others(const kiln_op_info *op, kiln_problem *p)
{
    enum { WINDOW = 1024 };
    for (int i = 0; i < KH_SIZES; i++) {
        if (i == KH_BATCH || !kh_size_name(op, i) || kh_size_of(p, i)) continue;
        const int64_t n = pages(op, p, i);
        *kh_size(p, i) = n ? n : WINDOW;
    }
}

/* The nth sizes of an op; 0: there are no more. */
static int set_sizes(const kiln_op_info *op, size_t nth, kiln_problem *p)
{
    if (op->summed >= 0) {
        if (nth >= COUNT(of_products)) return 0;
        *kh_size(p, op->rows) = of_products[nth][0];
        *kh_size(p, op->cols) = of_products[nth][1];
        *kh_size(p, op->summed) = of_products[nth][2];
    } else if (op->planes >= 0) {
        if (nth >= COUNT(of_planes)) return 0;
        *kh_size(p, op->planes) = of_planes[nth][0];
        if (op->groups >= 0) *kh_size(p, op->groups) = of_planes[nth][1];
        *kh_size(p, op->rows) = of_planes[nth][2];
        *kh_size(p, op->cols) = of_planes[nth][3];
        p->size[KH_BATCH] = of_planes[nth][4];
    } else {
        if (nth >= COUNT(of_rows)) return 0;
        *kh_size(p, op->rows) = of_rows[nth][0];
        *kh_size(p, op->cols) = of_rows[nth][1];
    }
    set_others(op, p);
    return 1;
}

/* ---- one explanation ---- */
static json_t *word(kt_page *page, const char *text)
{
    json_t *at = json_object_get(page->word_at, text);
    if (at) return json_incref(at);
    at = json_integer((json_int_t)json_array_size(page->words));
    json_array_append_new(page->words, json_string(text));
    json_object_set(page->word_at, text, at);
    return at;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* [name, kind, number] of each part that is not 0. */
static json_t *parts(kt_page *page, const json_t *candidate)
{
    json_t *all = json_array(), *part;
    size_t i;
    json_array_foreach(json_object_get(candidate, "parts"), i, part)
    {
        json_t *number = json_object_get(part, "us");
        if (!number) number = json_object_get(part, "count");
        if (!(json_number_value(number) > 0)) continue;
        json_array_append_new(all, json_pack("[o s o]", word(page, text_of(part, "name")),
                                             text_of(part, "kind"),
                                             json_real(json_number_value(number))));
    }
    return all;
}

/* [instance, us], with parts behind them, or [instance, null, rule]. */
static json_t *candidate(kt_page *page, const json_t *c, int detailed)
{
    const char *name = text_of(c, "instance");
    const int at = kt_page_instance(page, name);
    json_t *row = json_array(), *us = json_object_get(c, "cost_us");
    json_array_append_new(row, at < 0 ? json_string(name) : json_integer(at));
    json_array_append_new(row, json_is_number(us) ? json_real(json_number_value(us)) : json_null());
    if (json_object_get(c, "not_legal"))
        json_array_append_new(row, word(page, text_of(c, "not_legal")));
    else if (detailed)
        json_array_append_new(row, parts(page, c));
    return row;
}

static json_t *ask(const kt_machine *m, const kiln_problem *p)
{
    size_t len = 0;
    const kiln_status status = kiln_explain_json(m->ctx, p, NULL, &len);
    char *text = status && status != KILN_TRUNCATED ? NULL : malloc(len + 1);
    json_t *answer = NULL;
    if (text && !kiln_explain_json(m->ctx, p, text, &len)) answer = json_loads(text, 0, NULL);
    free(text);
    return answer;
}

/* [problem, op, machine, how it was chosen, candidates]; the chosen one and the next with parts. */
static void keep(kt_page *page, const kt_machine *m, const char *text, int op, const json_t *answer)
{
    enum { DETAILED = 2 };
    json_t *rows = json_array(), *how = NULL, *c;
    size_t i;
    json_array_foreach(json_object_get(answer, "candidates"), i, c)
    {
        json_array_append_new(rows, candidate(page, c, i < DETAILED));
        if (json_is_string(json_object_get(c, "chosen"))) how = json_object_get(c, "chosen");
    }
    json_array_append_new(page->problems,
                          json_pack("[s i i O? o]", text, op, (int)(m - page->machine), how, rows));
}

static double cost_of(const json_t *answer, const char *instance)
{
    json_t *c;
    size_t i;
    json_array_foreach(json_object_get(answer, "candidates"), i, c)
    {
        json_t *us = json_object_get(c, "cost_us");
        if (!strcmp(text_of(c, "instance"), instance) && json_is_number(us))
            return json_number_value(us);
    }
    return NAN;
}

/* What the library says of a problem, which the page has from now on; NULL: nothing computes it. */
static json_t *explain(kt_page *page, const kt_machine *m, const kiln_problem *p)
{
    char text[KT_PROBLEM_TEXT], key[KT_PROBLEM_TEXT + 16];
    const int op = kt_page_op(page, p->op);
    json_t *answer = op < 0 ? NULL : ask(m, p);
    if (!json_array_size(json_object_get(answer, "candidates"))) {
        json_decref(answer);
        return NULL;
    }
    kt_problem_text(p, text, sizeof text);
    snprintf(key, sizeof key, "%d %s", (int)(m - page->machine), text);
    if (!json_object_get(page->problem_at, key)) keep(page, m, text, op, answer);
    json_object_set_new(page->problem_at, key, json_true());
    return answer;
}

double kt_page_explain(kt_page *page, kt_machine *m, const kiln_problem *p, const char *instance)
{
    json_t *answer = explain(page, m, p);
    const double us = cost_of(answer, instance);
    json_decref(answer);
    return us;
}

/* ---- all of them ---- */
/* What an instance's name has before its schedule: op, types, layouts, target. */
static size_t group_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) : strlen(name);
}

/* Types that follow from the others are left out, as people do. */
static void leave_out_acc(const kiln_kernel_info *k, kiln_problem *p)
{
    kiln_problem resolved = {.struct_size = sizeof resolved};
    p->acc = KILN_DTYPE_NONE;
    if (kiln_problem_resolve(p, &resolved) || resolved.acc != k->acc) p->acc = k->acc;
}

static void explain_group(kt_page *page, const kt_instance *of)
{
    kiln_op_info op = {.struct_size = sizeof op};
    kiln_problem empty, p;
    kt_machine *m = kt_page_machine(page, of->info.target, 0);
    if (!m || kiln_op_describe(page->ctx, of->info.op, &op) ||
        kt_kernel_problem(page->ctx, &of->info, &empty))
        return;
    for (size_t i = 0; i < op.ntensors; i++) empty.tensor[op.tensor[i].at].align = KH_ALLOCATED;
    for (size_t nth = 0; p = empty, set_sizes(&op, nth, &p); nth++) {
        leave_out_acc(&of->info, &p);
        json_decref(explain(page, m, &p));
    }
}

static int explain_named(kt_page *page)
{
    kt_problems list;
    const int code = kt_problems_open(page->o, NULL, 0, &list);
    size_t absent = 0;
    for (size_t i = 0; !code && i < list.count; i++) {
        kiln_problem p;
        int computed = 0;
        for (size_t m = 0; m < page->machines && !kiln_problem_parse(list.item[i].text, &p); m++) {
            json_t *answer = explain(page, &page->machine[m], &p);
            computed |= answer != NULL;
            json_decref(answer);
        }
        absent += !computed;
    }
    if (absent)
        kt_message("%s: %zu of %zu problems are not in the page: no instance in it computes them",
                   page->o->problems, absent, list.count);
    kt_problems_close(&list);
    return code;
}

int kt_page_problems(kt_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        const char *name = page->found[i].info.name,
                   *before = i ? page->found[i - 1].info.name : "";
        const size_t n = group_of(name);
        if (n != group_of(before) || strncmp(name, before, n)) explain_group(page, &page->found[i]);
    }
    return explain_named(page);
}
