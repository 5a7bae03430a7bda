// SPDX-License-Identifier: MIT
// The page of `kiln report --html`.  The first half has no document: what the data is, which rows are shown, what a
// problem that is typed in comes to.  Texts reach the page as text nodes alone.
"use strict";

// ---- the data; ORDER PAGE: as tools/report_html.c and its neighbours write it ----
const KERNEL = ["vgprs", "agprs", "sgprs", "lds", "scratch", "vgpr_spills", "sgpr_spills", "threads", "waves", "most", "limit"];

function readData(data) {
  const m = { version: data.version, registry: data.registry, words: data.words };
  m.machines = data.machines.map(([spec, target, units], at) => ({ spec, target, units, at }));
  m.ops = data.ops.map((op, at) => ({ ...op, at, count: 0 }));
  m.instances = data.instances.map((row, at) => {
    const [name, op, target, schedule, types, layouts, fixed, tunables, derived, content, code, kernels] = row;
    const slash = name.lastIndexOf("/") + 1;
    const i = { at, name, folder: name.slice(0, slash), last: name.slice(slash), op: m.ops[op], target, schedule, types,
      layouts, fixed, tunables, derived, content, code, measured: [], simulated: [], lower: name.toLowerCase() };
    i.kernels = kernels.map((k) => Object.fromEntries(KERNEL.map((key, n) => [key, k[n]])));
    Object.assign(i, i.kernels[0]);
    i.op.count++;
    return i;
  });
  m.problems = data.problems.map(([text, op, machine, how, candidates], at) => ({
    at, text, normal: normal(text), sizes: sizesOf(text), op: m.ops[op], machine: m.machines[machine], how,
    candidates: candidates.map((c) => ({
      instance: typeof c[0] === "number" ? m.instances[c[0]] : null,
      name: typeof c[0] === "number" ? m.instances[c[0]].name : c[0],
      us: c[1], rule: c[1] === null ? m.words[c[2]] : "",
      parts: c[1] === null || !c[2] ? [] : c[2].map(([word, kind, value]) => ({ name: m.words[word], kind, value })),
    })),
  }));
  m.measured = data.measured.map(([at, machine, problem, us, error, modelled, device]) => {
    const row = { instance: m.instances[at], machine: m.machines[machine], problem, us, error, modelled, device,
      ratio: modelled === null ? null : us / modelled, lower: (problem + " " + m.instances[at].name + " " + device).toLowerCase() };
    row.instance.measured.push(row);
    return row;
  });
  for (const [at, kernel, figures] of data.simulated) m.instances[at].simulated.push({ kernel, figures });
  for (const i of m.instances) {
    const first = i.simulated.find((s) => s.kernel === 1);
    i.cycles = first ? first.figures.modelled_cycles : null;
    i.share = first ? first.figures.modelled_matrix_share : null;
  }
  return m;
}

// ---- problems as text ----
function sizesOf(text) {
  return text.split(/\s+/).filter((w) => w.includes("=") && !/^align=/.test(w)).join(" ");
}

// Words in one order, so that two texts of one problem are the same; batch=1 is what it is without.
function normal(text) {
  const words = text.trim().split(/\s+/).filter((w) => w !== "batch=1");
  return words.filter((w) => !w.includes("=")).concat(words.filter((w) => w.includes("=")).sort()).join(" ");
}

const LARGEST = 2147483647;

// What is wrong with a value; "": nothing.
function wrongValue(op, key, value) {
  if (key === "acc") return /^[a-z0-9]+$/.test(value) ? "" : "acc= is a type";
  if (value === "broadcast") return /^(ld|s|p)/.test(key) && op.keys.includes(key) ? "" : key + "= is a number";
  if (!/^\d+$/.test(value)) return key + "= is a whole number, 0 or more";
  if ((op.sizes.includes(key) || key === "batch") && Number(value) > LARGEST) return key + "= is at most " + LARGEST;
  const v = Number(value);
  if (/^align/.test(key) && !op.sizes.includes(key) && (v < 1 || v > LARGEST || (v & (v - 1)) !== 0)) return key + "= is a power of two";
  return "";
}

function near(word, known) { // the known name that is closest; null: none is
  let best = null, least = 3;
  for (const name of known) {
    const d = distance(word, name, least);
    if (d < least) [best, least] = [name, d];
  }
  return best;
}
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) >= most) return most;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++)
      next[k] = Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (a[i - 1] !== b[k - 1]));
    row = next;
  }
  return row[b.length];
}

// A problem that was typed in, for a machine: { errors, text, op }.  Names, types, layouts and numbers are checked here;
// whether strides fit the sizes is the command's to say.
function checkProblem(model, typed, machine) {
  const words = typed.trim().split(/\s+/).filter(Boolean), errors = [];
  if (!words.length) return { errors: ["type a problem: an op, its types, layouts where it has any, sizes"], text: "", op: null };
  const op = model.ops.find((o) => o.name === words[0]);
  if (!op) {
    const close = near(words[0], model.ops.map((o) => o.name));
    return { errors: ["no op '" + words[0] + "' here" + (close ? ": did you mean '" + close + "'?" : "")], text: "", op: null };
  }
  const heads = words.filter((w) => !w.includes("=")), pairs = words.filter((w) => w.includes("="));
  const wanted = 1 + (op.types.length > 0) + (op.letters > 0);
  const of = model.instances.filter((i) => i.op === op);
  const types = op.types.length ? heads[1] : "", layouts = op.letters ? heads[2] : "";
  if (op.types.length && !types) errors.push("types are missing: " + op.types.join(","));
  else if (op.letters && !layouts) errors.push("layouts are missing: " + op.letters + " letters, r or c each");
  else if (heads.length > wanted) errors.push("'" + heads[wanted] + "' is no KEY=NUMBER");
  else if (!of.some((i) => i.types === types))
    errors.push("not compiled for " + types + ", but for " + [...new Set(of.map((i) => i.types))].join("; "));
  else if (op.letters && !of.some((i) => i.types === types && i.layouts === layouts))
    errors.push("not compiled for layouts " + layouts + " of these types, but for " +
      [...new Set(of.filter((i) => i.types === types).map((i) => i.layouts))].join(", "));
  else if (!of.some((i) => i.types === types && (!op.letters || i.layouts === layouts) && i.target === machine.target))
    errors.push("compiled for these types" + (op.letters ? " and layouts" : "") + ", but not for " + machine.target + ": choose another device");
  const known = [...op.sizes, "batch", "align", ...op.keys], given = new Map();
  for (const pair of pairs) {
    const at = pair.indexOf("="), key = pair.slice(0, at), value = pair.slice(at + 1);
    const close = known.includes(key) ? null : near(key, known);
    if (!known.includes(key)) errors.push(op.name + " has no " + key + "=" + (close ? ": did you mean " + close + "=?" : ""));
    else if (given.has(key)) errors.push(key + "= stands there twice");
    else if (wrongValue(op, key, value)) errors.push(wrongValue(op, key, value));
    given.set(key, value);
  }
  for (const size of op.sizes)
    if (!given.has(size) && !op.fixed.includes(size)) errors.push(size + "= is missing");
  checkFixed(op, of, types, given, errors);
  return { errors, text: words.join(" "), op };
}

// Sizes that kernels are compiled for: one of their rows.
function checkFixed(op, instances, types, given, errors) {
  if (!op.fixed.length) return;
  const rows = [...new Set(instances.filter((i) => i.types === types).map((i) => op.fixed.map((s, n) => s + "=" + i.fixed[n]).join(" ")))];
  const said = op.fixed.filter((s) => given.has(s)).map((s) => s + "=" + given.get(s));
  const fit = rows.filter((row) => said.every((s) => row.split(" ").includes(s)));
  if (rows.length && !fit.length) errors.push("not compiled for " + said.join(" ") + ", but for " + rows.join("; "));
  else if (fit.length > 1) errors.push("which of " + fit.join("; ") + "?");
}

function findProblem(model, text, machine) {
  const key = normal(text);
  return model.problems.find((p) => p.machine === machine && p.normal === key) || null;
}

function quoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}
function commandFor(machine, text) {
  return "kiln explain --device " + machine.spec + " " + quoted(text);
}

// ---- rows that are shown ----
// filter: { text, target, op, schedule, type }; every word of the text is in the name.
function filterInstances(instances, filter) {
  const words = (filter.text || "").toLowerCase().split(/\s+/).filter(Boolean);
  return instances.filter((i) =>
    (!filter.target || i.target === filter.target) && (!filter.op || i.op.name === filter.op) &&
    (!filter.schedule || i.schedule === filter.schedule) &&
    (!filter.type || i.types.split(",").includes(filter.type)) && words.every((w) => i.lower.includes(w)));
}

// By a value, rows without one last in either order; equal ones as they came.
function sortRows(rows, value, down) {
  const keyed = rows.map((row, n) => ({ row, n, v: value(row) }));
  const none = (v) => v === null || v === undefined || v === "";
  const sign = down ? -1 : 1;
  keyed.sort((x, y) => {
    if (none(x.v) || none(y.v)) return none(x.v) - none(y.v) || x.n - y.n;
    if (x.v === y.v) return x.n - y.n;
    return (x.v < y.v ? -1 : 1) * sign;
  });
  return keyed.map((k) => k.row);
}

// Modelled microseconds, and measured ones, of instances for problems of some sizes, on the first machine of a target.
function timesFor(model, sizes) {
  const modelled = new Map(), rules = new Map(), measured = new Map();
  const first = new Map();
  for (const p of model.problems) {
    if (p.sizes !== sizes) continue;
    if (!first.has(p.machine.target)) first.set(p.machine.target, p.machine);
    if (first.get(p.machine.target) !== p.machine) continue;
    for (const c of p.candidates) {
      if (!c.instance) continue;
      if (c.us !== null) modelled.set(c.instance, c.us);
      else if (!rules.has(c.instance)) rules.set(c.instance, c.rule);
    }
  }
  for (const r of model.measured)
    if (sizesOf(r.problem) === sizes) measured.set(r.instance, Math.min(r.us, measured.get(r.instance) ?? Infinity));
  return { modelled, rules, measured };
}

function number(v, digits) {
  if (v === null || v === undefined) return "";
  const text = Number(v).toFixed(digits ?? 0);
  const [whole, rest] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") + (rest ? "." + rest : "");
}

if (typeof module !== "undefined")
  module.exports = { readData, normal, sizesOf, checkProblem, findProblem, commandFor, filterInstances, sortRows, timesFor, number };

// ---- the page ----
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined).map((c) => (typeof c === "number" ? String(c) : c)));
  return e;
}

// What tells rows apart above, what many share below.
const twoLines = (first, second) => make("div", { class: "two" }, make("div", {}, first), make("div", {}, second));
const nameCell = (i) => twoLines(i.last, i.folder);
function problemCell(text) {
  const words = text.split(" ");
  return twoLines(words.filter((w) => !w.includes("=")).join(" "), words.filter((w) => w.includes("=")).join(" "));
}

// A table of any number of rows: those in sight are made.  columns: { head, title, width, number, value(row), show(row) }.
function rowTable(columns, options) {
  const ROW = 40, BEYOND = 8, LEAST = 16;
  let rows = [], shown = [], sorted = options.sort || 0, down = options.down || false, picked = null, from = -1, to = -1;
  const above = make("tr", { class: "space" }, make("td", { colspan: columns.length }));
  const below = make("tr", { class: "space" }, make("td", { colspan: columns.length }));
  const heads = columns.map((c, n) => make("th", { scope: "col", class: c.number ? "number" : null },
    make("button", { type: "button", title: c.title || c.head, onclick: () => sortBy(n) }, c.head)));
  const body = make("tbody");
  const table = make("table", {}, make("colgroup", {}, columns.map((c) => make("col", c.width ? { style: "width:" + c.width + "px" } : {}))),
    make("thead", {}, make("tr", {}, heads)), body);
  const least = columns.reduce((sum, c) => sum + (c.width || c.least || 300), 0);
  table.style.minWidth = least + "px";
  const box = make("div", { class: "scroll", tabindex: 0 }, table);

  function row(r) {
    const tr = make("tr", { "aria-selected": r === picked ? "true" : null, onclick: () => pick(r) });
    for (const c of columns) {
      const what = c.show(r);
      const td = make("td", { class: c.number ? "number" : null }, what);
      if (c.hint) td.title = c.hint(r) || "";
      else if (typeof what === "string") td.title = what;
      tr.append(td);
    }
    return tr;
  }
  function draw(force) {
    const height = box.clientHeight || 600;
    const first = Math.max(0, Math.min(Math.floor(box.scrollTop / ROW) - BEYOND, shown.length - LEAST));
    const last = Math.min(shown.length, Math.max(first, 0) + Math.ceil(height / ROW) + 2 * BEYOND);
    if (!force && first === from && last === to) return;
    [from, to] = [first, last];
    above.firstChild.style.height = first * ROW + "px";
    below.firstChild.style.height = (shown.length - last) * ROW + "px";
    body.replaceChildren(above, ...shown.slice(first, last).map(row), below);
  }
  function arrange() {
    const c = columns[sorted];
    shown = c ? sortRows(rows, c.value, down) : rows;
    heads.forEach((th, n) => {
      if (n === sorted) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    draw(true);
  }
  function sortBy(n) {
    down = n === sorted ? !down : false;
    sorted = n;
    box.scrollTop = 0;
    arrange();
  }
  function pick(r) {
    picked = r;
    draw(true);
    if (options.onpick) options.onpick(r);
  }
  function step(by) {
    if (!shown.length) return;
    const at = Math.max(0, Math.min(shown.length - 1, shown.indexOf(picked) + by));
    const top = at * ROW, head = 31;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW + head > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + head - box.clientHeight;
    pick(shown[at]);
  }
  box.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)), { passive: true });
  box.addEventListener("keydown", (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[e.key];
    if (!by || e.target !== box) return;
    e.preventDefault();
    step(by);
  });
  new ResizeObserver(() => draw(false)).observe(box);
  return {
    box,
    set(list) { rows = list; box.scrollTop = Math.min(box.scrollTop, list.length * ROW); arrange(); },
    again: arrange,
    clear() { picked = null; draw(true); },
  };
}

function choice(label, values, onchange, names) {
  return make("select", { "aria-label": label, title: label, onchange }, make("option", { value: "" }, label),
    values.map((v, n) => make("option", { value: v }, names ? names[n] : v)));
}
const unique = (list) => [...new Set(list)].sort();

function instanceColumns(model, times) {
  const figure = (head, title, key, width) => ({ head, title, width, number: true, value: (i) => i[key], show: (i) => number(i[key]) });
  const has = (key) => model.instances.some((i) => i[key] !== null && i[key] !== undefined && i[key] !== 0);
  const columns = [{ head: "Instance", value: (i) => i.name, show: nameCell, hint: (i) => i.name }];
  const timed = (head, title, map) => ({ head, title, width: 86, number: true,
    value: (i) => times()[map].get(i), show: (i) => number(times()[map].get(i), 1),
    hint: (i) => (map === "modelled" && times().rules.get(i)) || "" });
  columns.push({ ...timed("modelled", "Modelled time in µs of the sizes chosen above", "modelled"),
    show: (i) => times().modelled.has(i) ? number(times().modelled.get(i), 1)
      : times().rules.has(i) ? make("span", { class: "dim" }, "not legal") : "" });
  if (model.measured.length) columns.push(timed("measured", "Measured time in µs of the sizes chosen above", "measured"));
  if (has("cycles")) {
    columns.push({ head: "cycles", title: "Cycles of a compute unit full of its workgroups, on the simulator", width: 74, number: true,
      value: (i) => i.cycles, show: (i) => number(i.cycles) });
    columns.push({ head: "matrix", title: "Share of those that matrix units are busy, on the simulator", width: 58, number: true,
      value: (i) => i.share, show: (i) => number(i.share, 3) });
  }
  for (const [head, title, key, width] of [
    ["VGPR", "Vector registers of a thread", "vgprs", 52], ["AGPR", "Accumulation registers of a thread", "agprs", 54],
    ["SGPR", "Scalar registers", "sgprs", 52], ["LDS", "Bytes of LDS, or of shared memory, of a workgroup", "lds", 66],
    ["scratch", "Bytes of scratch memory of a thread", "scratch", 62], ["spills", "Vector registers that did not fit", "vgpr_spills", 52],
    ["threads", "Largest workgroup", "threads", 62]])
    if (has(key)) columns.push(figure(head, title, key, width));
  if (has("waves"))
    columns.push({ head: "waves", title: "Waves that one SIMD (of NVIDIA: warps that one SM) holds", width: 64, number: true, value: (i) => i.waves,
      show: (i) => (i.waves === null || i.waves === undefined ? "" : i.waves + " of " + i.most) },
    { head: "limit", title: "What keeps waves from being more", width: 74, value: (i) => i.limit || "", show: (i) => i.limit || "" });
  if (has("code")) columns.push(figure("code", "Bytes of the code object", "code", 68));
  return columns;
}

function pairs(list) {
  return list.map(([key, value]) => key + "=" + value).join("  ");
}

function instanceDetail(model, i, close) {
  const rows = [["op", make("a", { href: "#op/" + encodeURIComponent(i.op.name) }, i.op.name)],
    ["types", i.types + (i.layouts ? "  " + i.layouts : "")], ["tunables", pairs(i.tunables)], ["derived", pairs(i.derived)],
    ["described in", i.op.file + ":" + i.op.line], ["content", i.content]];
  if (i.kernels.length > 1)
    i.kernels.forEach((k, n) => rows.push(["kernel " + (n + 1), KERNEL.filter((key) => k[key] !== null).map((key) => key + "=" + k[key]).join("  ")]));
  for (const s of i.simulated) {
    const f = s.figures;
    rows.push(["simulated" + (s.kernel > 1 ? ", kernel " + s.kernel : ""), Object.entries(f).filter(([key, v]) => typeof v === "number")
      .map(([key, v]) => key + "=" + (Number.isInteger(v) ? v : Number(v.toFixed(4)))).join("  ") + "  (" + f.problem + ")"]);
  }
  const modelled = model.problems.filter((p) => p.candidates.some((c) => c.instance === i)).map((p) => {
    const c = p.candidates.find((k) => k.instance === i);
    return [p, c, i.measured.find((r) => r.problem === p.text && r.machine === p.machine)];
  });
  const table = modelled.length ? make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, make("th", {}, "problem"), make("th", {}, "device"), make("th", { class: "number" }, "modelled µs"),
      make("th", { class: "number" }, "measured µs"), make("th", {}, ""))),
    make("tbody", {}, modelled.map(([p, c, r]) => make("tr", {}, make("td", { class: "mono" }, p.text), make("td", {}, machineName(p.machine)),
      make("td", { class: "number" }, number(c.us, 1)), make("td", { class: "number" }, r ? number(r.us, 1) : ""),
      make("td", {}, c.rule || (p.candidates[0] === c && p.how ? "chosen" : "")))))) : null;
  return make("div", { class: "detail" }, make("div", { class: "head" }, make("code", {}, i.name),
    make("button", { type: "button", onclick: close }, "Close")),
  make("dl", {}, rows.filter(([, v]) => v !== "").flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)])), table);
}

function machineName(m) {
  return m ? m.target + ", " + m.units + (m.units === 1 ? " unit" : " units") : "";
}

// ---- views ----
function start(model) {
  const main = document.getElementById("main");
  const views = [["instances", "Instances"], ["ops", "Ops"]];
  if (model.measured.length) views.push(["measured", "Measured"]);
  const nav = document.getElementById("views");
  nav.append(...views.map(([key, name]) => make("a", { href: "#" + key, "data-view": key }, name)));
  document.getElementById("sum").textContent = model.instances.length + " instances of " + model.ops.length + (model.ops.length === 1 ? " op" : " ops") + " for " +
    unique(model.instances.map((i) => i.target)).join(", ") + " \u00b7 kiln " + model.version;
  theme();
  const made = {};
  const pages = { instances: instancesView, ops: opsView, measured: measuredView };
  function show() {
    let [view, name] = location.hash.slice(1).split("/");
    if (view === "op") view = "ops";
    if (!views.some(([key]) => key === view)) view = "instances";
    made[view] = made[view] || pages[view](model);
    if (main.firstChild !== made[view].element) main.replaceChildren(made[view].element);
    for (const a of nav.children) {
      if (a.dataset.view === view) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
    made[view].show(name ? decodeURIComponent(name) : "");
  }
  addEventListener("hashchange", show);
  show();
}

function theme() {
  const button = document.getElementById("theme"), order = ["auto", "light", "dark"];
  let now = "auto";
  try { now = localStorage.getItem("kiln-theme") || now; } catch { /* a file may have no storage */ }
  function set(to) {
    now = order.includes(to) ? to : "auto";
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    button.textContent = "Colours: " + now;
    try { localStorage.setItem("kiln-theme", now); } catch { /* nor now */ }
  }
  button.addEventListener("click", () => set(order[(order.indexOf(now) + 1) % order.length]));
  set(now);
}

function instancesView(model) {
  const filter = {}, counts = new Map();
  for (const p of model.problems) counts.set(p.sizes, (counts.get(p.sizes) || 0) + 1);
  const sizes = [...counts.keys()], usual = sizes.reduce((best, s) => (counts.get(s) > counts.get(best) ? s : best), sizes[0]);
  let times = timesFor(model, usual), detail = null;
  const count = make("span", { class: "count", "aria-live": "polite" });
  const element = make("div", { style: "display:contents" });
  const table = rowTable(instanceColumns(model, () => times), { onpick: open });
  function close() {
    if (detail) detail.remove();
    detail = null;
  }
  function open(i) {
    const next = instanceDetail(model, i, () => { close(); table.clear(); });
    if (detail) detail.replaceWith(next);
    else element.append(next);
    detail = next;
  }
  function apply() {
    const rows = filterInstances(model.instances, filter);
    count.textContent = rows.length === model.instances.length ? rows.length + " rows" : rows.length + " of " + model.instances.length + " rows";
    table.set(rows);
  }
  const by = (key) => (e) => { filter[key] = e.target.value; apply(); };
  const shape = make("select", { class: "sizes", "aria-label": "Times for", title: "Problem that modelled and measured times are of",
    onchange: (e) => { times = timesFor(model, e.target.value); table.again(); } }, sizes.map((s) => make("option", { value: s, selected: s === usual }, "times for " + s)));
  element.append(make("div", { class: "filters" },
    make("input", { type: "search", placeholder: "Words of a name: gemm bf16 rcr 128x", "aria-label": "Words of a name", oninput: by("text") }),
    choice("every target", unique(model.instances.map((i) => i.target)), by("target")),
    choice("every op", model.ops.map((o) => o.name), by("op")),
    choice("every schedule", unique(model.instances.map((i) => i.schedule)), by("schedule")),
    choice("every type", unique(model.instances.flatMap((i) => i.types.split(","))), by("type")),
    sizes.length ? shape : null, count), table.box);
  apply();
  return { element, show() { table.again(); } };
}

function measuredView(model) {
  const count = make("span", { class: "count", "aria-live": "polite" });
  const time = (head, title, key, digits) => ({ head, title, width: 84, number: true, value: (r) => r[key], show: (r) => number(r[key], digits) });
  const table = rowTable([
    { head: "Problem", least: 250, value: (r) => r.problem, show: (r) => problemCell(r.problem), hint: (r) => r.problem },
    { head: "Instance", value: (r) => r.instance.name, show: (r) => nameCell(r.instance), hint: (r) => r.instance.name },
    { head: "Device", width: 150, value: (r) => r.device, show: (r) => r.device },
    time("measured", "µs, as measured", "us", 1), time("modelled", "µs, as the cost function has it", "modelled", 1),
    time("ratio", "measured over modelled", "ratio", 2)],
  { onpick: (r) => { location.hash = "op/" + encodeURIComponent(r.instance.op.name); } });
  function apply(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = model.measured.filter((r) => words.every((w) => r.lower.includes(w)));
    count.textContent = rows.length + " of " + model.measured.length + " rows";
    table.set(rows);
  }
  const element = make("div", { style: "display:contents" }, make("div", { class: "filters" },
    make("input", { type: "search", placeholder: "Words of a problem, an instance, a device", "aria-label": "Words", oninput: (e) => apply(e.target.value) }),
    count), table.box);
  apply("");
  return { element, show() { table.again(); } };
}

function opsView(model) {
  const list = make("ul"), section = make("section", { tabindex: -1 });
  const links = model.ops.map((op) => make("a", { href: "#op/" + encodeURIComponent(op.name) }, make("span", {}, op.name), make("span", { class: "dim" }, op.count)));
  list.append(...links.map((a) => make("li", {}, a)));
  const find = make("input", { type: "search", placeholder: "Ops", "aria-label": "Ops", oninput: () => {
    links.forEach((a, n) => { a.parentNode.hidden = !model.ops[n].name.includes(find.value.trim().toLowerCase()); });
  } });
  let now = null;
  function show(name) {
    const at = Math.max(0, model.ops.findIndex((o) => o.name === name));
    if (now === at || !model.ops.length) return;
    if (now !== null) links[now].removeAttribute("aria-current");
    now = at;
    links[at].setAttribute("aria-current", "page");
    links[at].scrollIntoView({ block: "nearest" });
    section.replaceChildren(...opSection(model, model.ops[at]));
    section.scrollTop = 0;
  }
  return { element: make("div", { class: "ops" }, make("aside", {}, find, list), section), show };
}

function signatures(model, op) {
  const targets = unique(model.instances.filter((i) => i.op === op).map((i) => i.target)), rows = new Map();
  for (const i of model.instances) {
    if (i.op !== op) continue;
    const key = [i.types, i.layouts, op.fixed.map((s, n) => s + "=" + i.fixed[n]).join(" ")].filter(Boolean).join("  ");
    if (!rows.has(key)) rows.set(key, new Map());
    rows.get(key).set(i.target, (rows.get(key).get(i.target) || 0) + 1);
  }
  return make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, make("th", {}, "types" + (op.letters ? ", layouts" : "")), targets.map((t) => make("th", { class: "number" }, t)))),
    make("tbody", {}, [...rows].map(([key, counts]) => make("tr", {}, make("td", { class: "mono" }, key),
      targets.map((t) => make("td", { class: "number" }, counts.get(t) || ""))))));
}

function opSection(model, op) {
  const tensors = make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, ["tensor", "", "type", "kind", "extent"].map((h) => make("th", {}, h)))),
    make("tbody", {}, op.tensors.map(([name, kind, type, written, extent]) => make("tr", {}, make("td", { class: "mono" }, name),
      make("td", { class: "dim" }, written ? "out" : "in"), make("td", { class: "mono" }, type), make("td", {}, kind), make("td", { class: "mono" }, extent)))));
  const sizes = [...new Set(model.problems.filter((p) => p.op === op).map((p) => p.sizes))];
  let times = timesFor(model, sizes[0]);
  const detail = make("div");
  const table = rowTable(instanceColumns(model, () => times), {
    onpick: (i) => detail.replaceChildren(instanceDetail(model, i, () => { detail.replaceChildren(); table.clear(); })) });
  const rows = model.instances.filter((i) => i.op === op);
  table.box.style.height = Math.min(360, 34 + 40 * rows.length) + "px";
  queueMicrotask(() => table.set(rows));
  return [make("h2", {}, op.name), make("div", { class: "dim" }, op.family + ", described in " + op.file + ":" + op.line),
    make("h3", {}, "What it computes, as traced"), make("pre", {}, op.text.trimEnd()),
    make("h3", {}, "Tensors"), tensors,
    op.scalars.length ? make("p", {}, "Scalars: ", make("span", { class: "mono" }, op.scalars.join(", "))) : null,
    make("h3", {}, "Compiled for"), signatures(model, op),
    make("h3", {}, "Instances", sizes.length ? make("select", { "aria-label": "Times for",
      onchange: (e) => { times = timesFor(model, e.target.value); table.again(); } }, sizes.map((s) => make("option", { value: s }, "times for " + s))) : null), table.box, detail,
    make("h3", {}, "Which kernel a problem gets, and why"), explainForm(model, op)].filter(Boolean);
}

// ---- explanations ----
function explainForm(model, op) {
  const machines = model.machines.filter((m) => model.instances.some((i) => i.op === op && i.target === m.target));
  if (!machines.length) return make("p", { class: "dim" }, "No device of these targets is known: no modelled times.");
  const input = make("input", { type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "Problem", placeholder: "a problem of " + op.name });
  const device = make("select", { "aria-label": "Device", title: "Device", onchange: () => { fill(); answer(); } },
    machines.map((m) => make("option", { value: m.at }, machineName(m))));
  const known = make("select", { "aria-label": "Problems that are here", onchange: () => { input.value = known.value; answer(); } });
  const out = make("div", { class: "answer", "aria-live": "polite" });
  const machine = () => model.machines[Number(device.value)];
  function fill() {
    const list = model.problems.filter((p) => p.op === op && p.machine === machine());
    known.replaceChildren(...list.map((p) => make("option", { value: p.text }, p.text)));
    known.disabled = !list.length;
    if (!input.value && list.length) input.value = list[0].text;
    known.value = input.value;
  }
  function answer() {
    const checked = checkProblem(model, input.value, machine());
    const found = checked.errors.length ? null : findProblem(model, checked.text, machine());
    out.replaceChildren(...(checked.errors.length ? checked.errors.map((e) => make("div", { class: "wrong" }, e))
      : found ? explanation(found) : elsewhere(model, machine(), checked, (text) => { input.value = text; answer(); })));
  }
  fill();
  answer();
  return make("div", {}, make("form", { class: "explain", onsubmit: (e) => { e.preventDefault(); answer(); } },
    input, device, make("button", { type: "submit" }, "Explain"),
    make("label", { class: "wide" }, make("span", { class: "dim" }, "precomputed:"), known)), out);
}

function partsText(parts) {
  const times = parts.filter((p) => p.kind === "time").sort((x, y) => y.value - x.value).map((p, n) => p.name + " " + number(p.value, 1) + " µs" + (n ? "" : " decides"));
  const counts = parts.filter((p) => p.kind === "count").map((p) => number(p.value, Number.isInteger(p.value) ? 0 : 1) + " " + p.name);
  const least = parts.filter((p) => p.kind === "least").map((p) => "at least " + number(p.value, 1) + " µs by " + p.name);
  return [times.join(", "), [...counts, ...least].join(", ")].filter(Boolean);
}

function explanation(p) {
  const HOW = { cost: "chosen", tuned: "chosen: tuned for this shape", nearest: "chosen: tuned for the nearest shape" };
  const legal = p.candidates.filter((c) => c.us !== null), most = Math.max(...legal.map((c) => c.us), 0);
  const folder = p.candidates[0].name.slice(0, p.candidates[0].name.lastIndexOf("/") + 1); // which all share
  const rows = p.candidates.map((c, n) => {
    const chosen = n === 0 && p.how;
    return make("tr", { class: chosen ? "chosen" : null },
      make("td", {}, make("div", { class: "mono", title: c.name }, c.name.slice(folder.length)), partsText(c.parts).map((t) => make("div", { class: "parts" }, t))),
      make("td", { class: "us" }, c.us === null ? "" : number(c.us, 1) + " µs",
        c.us === null || !most ? null : make("div", { class: "bar", style: "width:" + Math.max(2, (100 * c.us) / most).toFixed(1) + "%" })),
      make("td", { class: "why" }, chosen ? HOW[p.how] || "chosen" : c.us === null ? "not legal: " + c.rule : "slower"));
  });
  return [make("div", { class: "dim" }, "By the cost functions, on " + p.machine.spec + "; " + legal.length + " of " + p.candidates.length + " candidates are legal."),
    make("div", { class: "folder mono dim" }, folder),
    make("table", {}, make("tbody", {}, rows)), commandLine("The same from the command line:", commandFor(p.machine, p.text))];
}

function elsewhere(model, machine, checked, take) {
  const aligned = /(^| )align=/.test(checked.text) ? null : findProblem(model, checked.text + " align=256", machine);
  return [make("div", {}, "This problem's answer is not in the page: its cost functions are compiled into the module."),
    aligned ? make("div", {}, "It is there ", make("button", { type: "button", onclick: () => take(aligned.text) }, "with align=256"), ", which allocated memory has.") : null,
    commandLine("This says what would run, and why:", commandFor(machine, checked.text))].filter(Boolean);
}

function commandLine(label, text) {
  const pre = make("pre", {}, text);
  const copy = make("button", { type: "button", onclick: () => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
  } }, "Copy");
  return make("div", {}, make("div", { class: "dim", style: "margin-top:10px" }, label), make("div", { class: "command" }, pre, copy));
}

if (typeof document !== "undefined") start(readData(JSON.parse(document.getElementById("data").textContent)));
