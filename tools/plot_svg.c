// SPDX-License-Identifier: MIT
// Results as SVG: a roofline (rate over operations to a byte, both logarithmic, under the most
// bytes and operations a second that any row had), then for each layer the time over its size, each
// implementation a line.  One file without scripts, fonts or links, that follows the reader's light
// or dark; the same results give the same bytes.
#include "plot.h"
#include <math.h>
#include <string.h>

enum { MOST_TICKS = 9 };
/* Of a panel: its width and margins, the height inside its axes, of a line below them; of the line
 * above all panels. */
static const double panel_width = 620, left = 66, right = 18, top = 44, bottom = 46,
                    plot_height = 320, caption = 15, legend = 40;

typedef struct axis {
    double lo, hi, from, to; /* values, and where they are */
} axis;

typedef struct panel {
    FILE *f;
    const kt_plot *p;
    double x, y; /* its corner */
    axis h, v;
} panel;

/* ---- text ---- */
static void put_escaped(FILE *f, const char *s, size_t bytes)
{
    for (size_t i = 0; s[i] && i < bytes; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '&')
            fputs("&amp;", f);
        else if (c == '<')
            fputs("&lt;", f);
        else if (c == '>')
            fputs("&gt;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else
            fputc(c < 0x20 || c == 0x7f ? ' ' : c, f);
    }
}

/* Bytes of the first so many characters. */
static size_t bytes_of(const char *s, size_t characters)
{
    size_t i = 0;
    for (; s[i]; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80 && !characters--) break;
    return i;
}

/* At most so many characters, with an ellipsis for the rest. */
static void put_cut(FILE *f, const char *s, size_t characters)
{
    const size_t whole = bytes_of(s, characters);
    if (!s[whole]) {
        put_escaped(f, s, whole);
        return;
    }
    put_escaped(f, s, bytes_of(s, characters - 1));
    fputs("\xe2\x80\xa6", f);
}

static void put_label(const panel *n, double x, double y, const char *anchor, const char *text)
{
    fprintf(n->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    put_escaped(n->f, text, strlen(text));
    fputs("</text>\n", n->f);
}

/* ---- axes ---- */
static double place(const axis *a, double value)
{
    return a->from + log(value / a->lo) / log(a->hi / a->lo) * (a->to - a->from);
}

static void widen(axis *a, double value)
{
    if (!(value > 0)) return;
    if (!(a->lo > 0) || value < a->lo) a->lo = value;
    if (value > a->hi) a->hi = value;
}

/* Ticks of an axis, at most `most`; how many. */
static int decimal_ticks(const axis *a, double *tick)
{
    static const double steps[][8] = {
        {1, 1.2, 1.5, 2, 3, 4, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        int n = 0;
        for (int e = (int)floor(log10(a->lo)); e <= (int)ceil(log10(a->hi)); e++)
            for (int i = 0; i < 8 && steps[s][i] > 0; i++) {
                const double v = steps[s][i] * pow(10, e);
                if (v < a->lo * 0.9999 || v > a->hi * 1.0001) continue;
                if (n < MOST_TICKS) tick[n] = v;
                n++;
            }
        if (n <= MOST_TICKS) return n;
    }
    return MOST_TICKS;
}

/* Powers of two where there are some, for sizes. */
static int binary_ticks(const axis *a, double *tick)
{
    for (int step = 1; step < 8; step++) {
        int n = 0;
        for (int e = 0; e < 63; e += step) {
            const double v = ldexp(1, e);
            if (v < a->lo * 0.9999 || v > a->hi * 1.0001) continue;
            if (n < MOST_TICKS) tick[n] = v;
            n++;
        }
        if (n > 1 && n <= MOST_TICKS) return n;
    }
    return decimal_ticks(a, tick);
}

static void put_line(const panel *n, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(n->f, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
            x1, y1, x2, y2);
}

static void put_axes(const panel *n, const char *across, const char *up, int binary)
{
    double tick[MOST_TICKS];
    char text[32];
    int ticks = binary ? binary_ticks(&n->h, tick) : decimal_ticks(&n->h, tick);
    for (int i = 0; i < ticks; i++) {
        const double x = place(&n->h, tick[i]);
        put_line(n, "grid", x, n->v.from, x, n->v.to);
        snprintf(text, sizeof text, "%.6g", tick[i]);
        put_label(n, x, n->v.from + 16, "middle", text);
    }
    ticks = decimal_ticks(&n->v, tick);
    for (int i = 0; i < ticks; i++) {
        const double y = place(&n->v, tick[i]);
        put_line(n, "grid", n->h.from, y, n->h.to, y);
        snprintf(text, sizeof text, "%.6g", tick[i]);
        put_label(n, n->h.from - 6, y + 4, "end", text);
    }
    put_line(n, "axis", n->h.from, n->v.from, n->h.to, n->v.from);
    put_line(n, "axis", n->h.from, n->v.from, n->h.from, n->v.to);
    put_label(n, (n->h.from + n->h.to) / 2, n->v.from + 34, "middle", across);
    fprintf(n->f, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">",
            n->x + 14, (n->v.from + n->v.to) / 2);
    put_escaped(n->f, up, strlen(up));
    fputs("</text>\n", n->f);
}

static void put_title(const panel *n, const char *text, const char *more)
{
    enum { MOST = 76 };
    fprintf(n->f, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", n->h.from, n->y + 24);
    put_escaped(n->f, text, strlen(text));
    put_cut(n->f, more, MOST - strlen(text));
    fputs("</text>\n", n->f);
}

/* ---- marks: a colour and a shape for each implementation ---- */
static void put_mark(FILE *f, int name, double x, double y)
{
    static const char *const shape[KT_PLOT_NAMES] = {
        "<circle cx=\"0\" cy=\"0\" r=\"3.6\"/>",
        "<rect x=\"-3.3\" y=\"-3.3\" width=\"6.6\" height=\"6.6\"/>",
        "<path d=\"M0 -4.6L4.4 3.4L-4.4 3.4Z\"/>",
        "<path d=\"M0 -4.8L4.8 0L0 4.8L-4.8 0Z\"/>",
        "<path d=\"M0 4.6L4.4 -3.4L-4.4 -3.4Z\"/>",
        "<path d=\"M-4 -1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z\"/>"};
    fprintf(f, "<g class=\"m%d\" transform=\"translate(%.1f %.1f)\">%s", name, x, y, shape[name]);
}

/* What it is of, which a browser shows beside the pointer. */
static void put_point(const panel *n, const kt_plot_row *r, double x, double y)
{
    put_mark(n->f, r->name, x, y);
    fputs("<title>", n->f);
    put_escaped(n->f, n->p->name[r->name], strlen(n->p->name[r->name]));
    fputs(": ", n->f);
    put_escaped(n->f, r->problem, strlen(r->problem));
    fprintf(n->f, ": %.5g \xc2\xb5s", r->us);
    if (r->tflops > 0) fprintf(n->f, ", %.4g TFLOP/s", r->tflops);
    if (r->gbps > 0) fprintf(n->f, ", %.4g GB/s", r->gbps);
    fputs("</title></g>\n", n->f);
}

static void put_legend(FILE *f, const kt_plot *p)
{
    double x = left;
    for (int i = 0; i < p->names; i++) {
        put_mark(f, i, x, legend - 14);
        fprintf(f, "</g><text x=\"%.1f\" y=\"%.0f\">", x + 9, legend - 10);
        put_cut(f, p->name[i], 24);
        fputs("</text>\n", f);
        const size_t bytes = bytes_of(p->name[i], 24);
        x += 34 + 7 * (double)bytes;
    }
}

/* ---- panels ---- */
static panel panel_at(FILE *f, const kt_plot *p, double x, double y)
{
    panel n = {.f = f, .p = p, .x = x, .y = y};
    n.h.from = x + left, n.h.to = x + panel_width - right;
    n.v.from = y + top + plot_height, n.v.to = y + top;
    return n;
}

static int in_roofline(const kt_plot_row *r)
{
    return r->tflops > 0 && r->gbps > 0;
}

static double intensity(const kt_plot_row *r)
{
    return r->tflops * 1e3 / r->gbps;
}

static int has_roofline(const kt_plot *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (in_roofline(&p->row[i])) return 1;
    return 0;
}

/* Where it comes from, below the axes. */
static void put_source(const panel *n, int line, const char *what, const kt_plot_row *r)
{
    char text[400];
    snprintf(text, sizeof text, "%s: %s, %s", what, n->p->name[r->name], r->problem);
    fprintf(n->f, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">", n->h.from,
            n->v.from + bottom + 4 + caption * line);
    put_cut(n->f, text, 84);
    fputs("</text>\n", n->f);
}

/* The line of bytes, up to the highest rate. */
static void put_bytes(const panel *n, double most)
{
    const double rate = n->p->bytes.value * 1e-3; /* TFLOP/s at one operation to a byte */
    double x1 = n->h.lo, y1 = rate * x1, x2 = n->h.hi, y2 = rate * x2;
    char text[64];
    if (y1 < n->v.lo) x1 = n->v.lo / rate, y1 = n->v.lo;
    if (y2 > most) x2 = most / rate, y2 = most;
    if (x1 >= x2) return;
    const double px1 = place(&n->h, x1), py1 = place(&n->v, y1), px2 = place(&n->h, x2),
                 py2 = place(&n->v, y2);
    put_line(n, "ceiling", px1, py1, px2, py2);
    snprintf(text, sizeof text, "%.4g GB/s", n->p->bytes.value);
    const double angle = atan2(py2 - py1, px2 - px1) * 57.29577951308232;
    if (hypot(px2 - px1, py2 - py1) < 90) return;
    fprintf(n->f,
            "<text class=\"name\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" dy=\"-5\" "
            "text-anchor=\"middle\">%s</text>\n",
            (px1 + px2) / 2, (py1 + py2) / 2, angle, text);
}

/* By value, the highest first; names stand above their lines, or below where another is. */
static void put_rates(const panel *n)
{
    const double room = 13;
    double lowest = n->v.to - 2 * room;
    int done = 0; /* bits */
    for (int k = 0; k < n->p->rates; k++) {
        int at = -1;
        for (int i = 0; i < n->p->rates; i++)
            if (!(done >> i & 1) && (at < 0 || n->p->rate[i].value > n->p->rate[at].value)) at = i;
        const kt_plot_ceiling *c = &n->p->rate[at];
        char text[96];
        const double y = place(&n->v, c->value);
        double x = place(&n->h, c->value * 1e3 / n->p->bytes.value);
        if (x < n->h.from) x = n->h.from;
        if (x < n->h.to) put_line(n, "ceiling", x, y, n->h.to, y);
        double name = y - 5;
        if (name < lowest + room) name = y + 14;
        if (name < lowest + room) name = lowest + room;
        snprintf(text, sizeof text, "%s %.4g TFLOP/s", c->type, c->value);
        fprintf(n->f, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                n->h.to - 4, name);
        put_escaped(n->f, text, strlen(text));
        fputs("</text>\n", n->f);
        lowest = name;
        done |= 1 << at;
    }
}

static void draw_roofline(const panel *at)
{
    panel n = *at;
    const kt_plot *p = n.p;
    double most = 0;
    int line = 1;
    char text[64];
    for (size_t i = 0; i < p->count; i++)
        if (in_roofline(&p->row[i])) {
            widen(&n.h, intensity(&p->row[i]));
            widen(&n.v, p->row[i].tflops);
        }
    for (int i = 0; i < p->rates; i++) {
        widen(&n.v, p->rate[i].value);
        widen(&n.h, p->rate[i].value * 1e3 / p->bytes.value);
        if (p->rate[i].value > most) most = p->rate[i].value;
    }
    n.h.lo /= 1.6, n.h.hi *= 1.8, n.v.lo /= 1.6, n.v.hi *= 1.6;
    put_title(&n, "Roofline", "");
    put_axes(&n, "arithmetic intensity, FLOP/byte", "TFLOP/s", 0);
    for (size_t i = 0; i < p->count; i++)
        if (in_roofline(&p->row[i]))
            put_point(&n, &p->row[i], place(&n.h, intensity(&p->row[i])),
                      place(&n.v, p->row[i].tflops));
    put_bytes(&n, most); /* their names stand before points */
    put_rates(&n);
    put_source(&n, line++, "most bytes measured", p->bytes.row);
    for (int i = 0; i < p->rates; i++) {
        snprintf(text, sizeof text, "most %s measured", p->rate[i].type);
        put_source(&n, line++, text, p->rate[i].row);
    }
}

static void draw_layer(const panel *at, const kt_plot_layer *l)
{
    panel n = *at;
    for (int k = 0; k < n.p->names; k++)
        for (size_t i = 0; i < l->points[k]; i++) {
            widen(&n.h, l->point[k][i].at);
            widen(&n.v, l->point[k][i].us);
        }
    n.h.lo /= 1.1, n.h.hi *= 1.1, n.v.lo /= 1.3, n.v.hi *= 1.3;
    put_title(&n, "", l->text);
    put_axes(&n, l->size, n.p->modelled ? "\xc2\xb5s, modelled" : "\xc2\xb5s", 1);
    for (int k = 0; k < n.p->names; k++) {
        if (l->points[k] > 1) {
            fprintf(n.f, "<polyline class=\"l%d\" points=\"", k);
            for (size_t i = 0; i < l->points[k]; i++)
                fprintf(n.f, "%s%.1f,%.1f", i ? " " : "", place(&n.h, l->point[k][i].at),
                        place(&n.v, l->point[k][i].us));
            fputs("\"/>\n", n.f);
        }
        for (size_t i = 0; i < l->points[k]; i++)
            put_point(&n, l->point[k][i].row, place(&n.h, l->point[k][i].at),
                      place(&n.v, l->point[k][i].us));
    }
}

/* ---- the picture ---- */
/* What is coloured, on a light page and on a dark one. */
static const struct colour {
    const char *what, *property, *of[2];
} colours[] = {
    {"text", "fill", {"#24292f", "#e6edf3"}},       {".small", "fill", {"#57606a", "#9da7b1"}},
    {".name", "stroke", {"#ffffff", "#0d1117"}},    {".page", "fill", {"#ffffff", "#0d1117"}},
    {".grid", "stroke", {"#e3e7eb", "#262c34"}},    {".axis", "stroke", {"#6e7781", "#8b949e"}},
    {".ceiling", "stroke", {"#57606a", "#9da7b1"}},
};
static const char *const mark_colour[KT_PLOT_NAMES][2] = {
    {"#0757c2", "#6cb0ff"}, {"#c8500a", "#ff9d5c"}, {"#08805a", "#45cf9f"},
    {"#9a2f78", "#f08fd0"}, {"#7d6608", "#e3c84a"}, {"#555d66", "#b4bcc6"},
};

static void put_colours(FILE *f, int dark)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        fprintf(f, "%s { %s: %s; }\n", colours[i].what, colours[i].property, colours[i].of[dark]);
    for (int i = 0; i < KT_PLOT_NAMES; i++)
        fprintf(f, ".m%d { fill: %s; } .l%d { stroke: %s; }\n", i, mark_colour[i][dark], i,
                mark_colour[i][dark]);
}

static void put_style(FILE *f)
{
    fputs("<style>\n"
          "text { font: 12px system-ui, -apple-system, \"Segoe UI\", sans-serif; }\n"
          ".title { font-weight: 600; font-size: 13px; }\n"
          ".small { font-size: 11px; }\n"
          ".name { paint-order: stroke; stroke-width: 3px; }\n"
          ".ceiling { stroke-width: 1.4; stroke-dasharray: 6 4; }\n"
          "polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }\n",
          f);
    put_colours(f, 0);
    fputs("@media (prefers-color-scheme: dark) {\n", f);
    put_colours(f, 1);
    fputs("}\n</style>\n", f);
}

void kt_plot_draw(const kt_plot *p, FILE *f)
{
    const int roofline = has_roofline(p), panels = roofline + p->layers;
    const int across = panels > 1 ? 2 : 1, down = panels ? (panels + across - 1) / across : 0;
    const double first = top + plot_height + bottom + (roofline ? caption * (p->rates + 2) : 0),
                 other = top + plot_height + bottom;
    const double height = legend + (down ? first + (down - 1) * other : caption * 3.0);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>kiln bench",
            panel_width * across, height, panel_width * across, height);
    if (*p->device) {
        fputs(" on ", f);
        put_escaped(f, p->device, strlen(p->device));
    }
    fputs("</title>\n", f);
    put_style(f);
    fprintf(f, "<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n", panel_width * across,
            height);
    put_legend(f, p);
    fprintf(f, "<text class=\"small\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">",
            panel_width * across - right, legend - 10);
    put_cut(f, p->device, 48);
    fputs("</text>\n", f);
    for (int i = 0; i < panels; i++) {
        const double y = legend + (i / across ? first + (i / across - 1) * other : 0);
        const panel n = panel_at(f, p, i % across * panel_width, y);
        if (roofline && !i)
            draw_roofline(&n);
        else
            draw_layer(&n, &p->layer[i - roofline]);
    }
    if (!panels)
        fprintf(f,
                "<text x=\"%.0f\" y=\"%.0f\">no row has both TFLOP/s and GB/s, and no two problems "
                "differ in one size alone</text>\n",
                left, legend + 20);
    fputs("</svg>\n", f);
}
