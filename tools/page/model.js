// SPDX-License-Identifier: MIT
// The page of `kiln report --html`, without a document: what the data is, which rows are shown, what a problem that is
// typed in comes to.
"use strict";

// ---- the data; ORDER PAGE: as tools/report_html.c and its neighbours write it ----
const KERNEL =
  ["vgprs", "agprs", "sgprs", "lds", "scratch", "vgpr_spills", "sgpr_spills", "threads", "waves", "most", "limit"];

function readData(data) {
  const m = {version: data.version, registry: data.registry, words: data.words};
  m.machines = data.machines.map(([spec, target, units], at) => ({spec, target, units, at}));
  m.ops = data.ops.map((op, at) => ({...op, at, count: 0}));
  m.instances = data.instances.map((row, at) => {
    const [name, op, target, schedule, types, layouts, fixed, tunables, derived, content, code, kernels] = row;
    const slash = name.lastIndexOf("/") + 1;
    const i = {
      at,
      name,
      folder: name.slice(0, slash),
      last: name.slice(slash),
      op: m.ops[op],
      target,
      schedule,
      types,
      layouts,
      fixed,
      tunables,
      derived,
      content,
      code,
      measured: [],
      simulated: [],
      lower: name.toLowerCase()
    };
    i.kernels = kernels.map((k) => Object.fromEntries(KERNEL.map((key, n) => [key, k[n]])));
    Object.assign(i, i.kernels[0]);
    i.op.count++;
    return i;
  });
  m.problems = data.problems.map(
    ([text, op, machine, how, candidates], at) => ({
      at,
      text,
      normal: normal(text),
      sizes: sizesOf(text),
      op: m.ops[op],
      machine: m.machines[machine],
      how,
      candidates: candidates.map(
        (c) => ({
          instance: typeof c[0] === "number" ? m.instances[c[0]] : null,
          name: typeof c[0] === "number" ? m.instances[c[0]].name : c[0],
          us: c[1],
          rule: c[1] === null ? m.words[c[2]] : "",
          parts: c[1] === null || !c[2] ? [] : c[2].map(([word, kind, value]) => ({name: m.words[word], kind, value})),
        })),
    }));
  m.measured = data.measured.map(([at, machine, problem, us, error, modelled, device]) => {
    const row = {
      instance: m.instances[at],
      machine: m.machines[machine],
      problem,
      us,
      error,
      modelled,
      device,
      ratio: modelled === null ? null : us / modelled,
      lower: (problem + " " + m.instances[at].name + " " + device).toLowerCase()
    };
    row.instance.measured.push(row);
    return row;
  });
  for (const [at, kernel, figures] of data.simulated) m.instances[at].simulated.push({kernel, figures});
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
  if (/^align/.test(key) && !op.sizes.includes(key) && (v < 1 || v > LARGEST || (v & (v - 1)) !== 0))
    return key + "= is a power of two";
  return "";
}

function near(word, known) {  // the known name that is closest; null: none is
  let best = null, least = 3;
  for (const name of known) {
    const d = distance(word, name, least);
    if (d < least) [best, least] = [name, d];
  }
  return best;
}
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) >= most) return most;
  let row = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++)
      next[k] = Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (a[i - 1] !== b[k - 1]));
    row = next;
  }
  return row[b.length];
}

// A problem that was typed in, for a machine: { errors, text, op }.  Names, types, layouts and numbers are checked;
// whether strides fit the sizes is the command's to say.
function checkProblem(model, typed, machine) {
  const words = typed.trim().split(/\s+/).filter(Boolean), errors = [];
  if (!words.length)
    return {errors: ["type a problem: an op, its types, layouts where it has any, sizes"], text: "", op: null};
  const op = model.ops.find((o) => o.name === words[0]);
  if (!op) {
    const close = near(words[0], model.ops.map((o) => o.name));
    return {
      errors: ["no op '" + words[0] + "' here" + (close ? ": did you mean '" + close + "'?" : "")],
      text: "",
      op: null
    };
  }
  const heads = words.filter((w) => !w.includes("=")), pairs = words.filter((w) => w.includes("="));
  const wanted = 1 + (op.types.length > 0) + (op.letters > 0);
  const of = model.instances.filter((i) => i.op === op);
  const types = op.types.length ? heads[1] : "", layouts = op.letters ? heads[2] : "";
  if (op.types.length && !types)
    errors.push("types are missing: " + op.types.join(","));
  else if (op.letters && !layouts)
    errors.push("layouts are missing: " + op.letters + " letters, r or c each");
  else if (heads.length > wanted)
    errors.push("'" + heads[wanted] + "' is no KEY=NUMBER");
  else if (!of.some((i) => i.types === types))
    errors.push("not compiled for " + types + ", but for " + [...new Set(of.map((i) => i.types))].join("; "));
  else if (op.letters && !of.some((i) => i.types === types && i.layouts === layouts))
    errors.push(
      "not compiled for layouts " + layouts + " of these types, but for " +
      [...new Set(of.filter((i) => i.types === types).map((i) => i.layouts))].join(", "));
  else if (!of.some((i) => i.types === types && (!op.letters || i.layouts === layouts) && i.target === machine.target))
    errors.push(
      "compiled for these types" + (op.letters ? " and layouts" : "") + ", but not for " + machine.target +
      ": choose another device");
  const known = [...op.sizes, "batch", "align", ...op.keys], given = new Map();
  for (const pair of pairs) {
    const at = pair.indexOf("="), key = pair.slice(0, at), value = pair.slice(at + 1);
    const close = known.includes(key) ? null : near(key, known);
    if (!known.includes(key))
      errors.push(op.name + " has no " + key + "=" + (close ? ": did you mean " + close + "=?" : ""));
    else if (given.has(key))
      errors.push(key + "= stands there twice");
    else if (wrongValue(op, key, value))
      errors.push(wrongValue(op, key, value));
    given.set(key, value);
  }
  for (const size of op.sizes)
    if (!given.has(size) && !op.fixed.includes(size)) errors.push(size + "= is missing");
  checkFixed(op, of, types, given, errors);
  return {errors, text: words.join(" "), op};
}

// Sizes that kernels are compiled for: one of their rows.
function checkFixed(op, instances, types, given, errors) {
  if (!op.fixed.length) return;
  const rows = [...new Set(
    instances.filter((i) => i.types === types).map((i) => op.fixed.map((s, n) => s + "=" + i.fixed[n]).join(" ")))];
  const said = op.fixed.filter((s) => given.has(s)).map((s) => s + "=" + given.get(s));
  const fit = rows.filter((row) => said.every((s) => row.split(" ").includes(s)));
  if (rows.length && !fit.length)
    errors.push("not compiled for " + said.join(" ") + ", but for " + rows.join("; "));
  else if (fit.length > 1)
    errors.push("which of " + fit.join("; ") + "?");
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
  return instances.filter(
    (i) => (!filter.target || i.target === filter.target) && (!filter.op || i.op.name === filter.op) &&
      (!filter.schedule || i.schedule === filter.schedule) &&
      (!filter.type || i.types.split(",").includes(filter.type)) && words.every((w) => i.lower.includes(w)));
}

// By a value, rows without one last in either order; equal ones as they came.
function sortRows(rows, value, down) {
  const keyed = rows.map((row, n) => ({row, n, v: value(row)}));
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
      if (c.us !== null)
        modelled.set(c.instance, c.us);
      else if (!rules.has(c.instance))
        rules.set(c.instance, c.rule);
    }
  }
  for (const r of model.measured)
    if (sizesOf(r.problem) === sizes) measured.set(r.instance, Math.min(r.us, measured.get(r.instance) ?? Infinity));
  return {modelled, rules, measured};
}

function number(v, digits) {
  if (v === null || v === undefined) return "";
  const text = Number(v).toFixed(digits ?? 0);
  const [whole, rest] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") + (rest ? "." + rest : "");
}

if (typeof module !== "undefined")
  module.exports =
    {readData, normal, sizesOf, checkProblem, findProblem, commandFor, filterInstances, sortRows, timesFor, number};
