// SPDX-License-Identifier: MIT
// The page of `kiln report --html`: its views.
function start(model) {
  const main = document.getElementById("main");
  const views = [["instances", "Instances"], ["ops", "Ops"]];
  if (model.measured.length) views.push(["measured", "Measured"]);
  const nav = document.getElementById("views");
  nav.append(...views.map(([key, name]) => make("a", {href: "#" + key, "data-view": key}, name)));
  document.getElementById("sum").textContent = model.instances.length + " instances of " + model.ops.length +
    (model.ops.length === 1 ? " op" : " ops") + " for " + unique(model.instances.map((i) => i.target)).join(", ") +
    " \u00b7 kiln " + model.version;
  theme();
  const made = {};
  const pages = {instances: instancesView, ops: opsView, measured: measuredView};
  function show() {
    let [view, name] = location.hash.slice(1).split("/");
    if (view === "op") view = "ops";
    if (!views.some(([key]) => key === view)) view = "instances";
    made[view] = made[view] || pages[view](model);
    if (main.firstChild !== made[view].element) main.replaceChildren(made[view].element);
    for (const a of nav.children) {
      if (a.dataset.view === view)
        a.setAttribute("aria-current", "page");
      else
        a.removeAttribute("aria-current");
    }
    made[view].show(name);
  }
  addEventListener("hashchange", show);
  show();
}

function theme() {
  const button = document.getElementById("theme"), order = ["auto", "light", "dark"];
  let now = "auto";
  try {
    now = localStorage.getItem("kiln-theme") || now;
  } catch { /* a file may have no storage */
  }
  function set(to) {
    now = order.includes(to) ? to : "auto";
    if (now === "auto")
      delete document.documentElement.dataset.theme;
    else
      document.documentElement.dataset.theme = now;
    button.textContent = "Colours: " + now;
    try {
      localStorage.setItem("kiln-theme", now);
    } catch { /* nor now */
    }
  }
  button.addEventListener("click", () => set(order[(order.indexOf(now) + 1) % order.length]));
  set(now);
}

// A field to search in, its name beside it; what may be typed shows beside the pointer.
function search(name, title, oninput) {
  return make(
    "label", {class: "search"}, make("span", {class: "dim"}, name), make("input", {type: "search", title, oninput}));
}

// The sizes that times are of.
function sizesChoice(sizes, chosen, onchange) {
  return make(
    "select", {
      class: "sizes",
      "aria-label": "Times for",
      title: "Problem that modelled and measured times are of",
      onchange: (e) => onchange(e.target.value)
    },
    sizes.map((s) => make("option", {value: s, selected: s === chosen}, "times for " + s)));
}

function instancesView(model) {
  const filter = {}, counts = new Map();
  for (const p of model.problems) counts.set(p.sizes, (counts.get(p.sizes) || 0) + 1);
  const sizes = [...counts.keys()],
        usual = sizes.reduce((best, s) => (counts.get(s) > counts.get(best) ? s : best), sizes[0]);
  let times = timesFor(model, usual), detail = null;
  const count = make("span", {class: "count", "aria-live": "polite"});
  const element = make("div", {style: "display:contents"});
  const table = rowTable(instanceColumns(model, () => times), {onpick: open});
  function close() {
    if (detail) detail.remove();
    detail = null;
  }
  function open(i) {
    const next = instanceDetail(model, i, () => {
      close();
      table.clear();
    });
    if (detail)
      detail.replaceWith(next);
    else
      element.append(next);
    detail = next;
  }
  function apply() {
    const rows = filterInstances(model.instances, filter);
    count.textContent = rows.length === model.instances.length ?
      rows.length + " rows" :
      rows.length + " of " + model.instances.length + " rows";
    table.set(rows);
  }
  const by = (key) => (e) => {
    filter[key] = e.target.value;
    apply();
  };
  const shape = sizesChoice(sizes, usual, (chosen) => {
    times = timesFor(model, chosen);
    table.again();
  });
  element.append(
    make(
      "div", {class: "filters"},
      search("Words of a name", "Any order, parts of words, too: gemm bf16 rcr 128x", by("text")),
      choice("every target", unique(model.instances.map((i) => i.target)), by("target")),
      choice("every op", model.ops.map((o) => o.name), by("op")),
      choice("every schedule", unique(model.instances.map((i) => i.schedule)), by("schedule")),
      choice("every type", unique(model.instances.flatMap((i) => i.types.split(","))), by("type")),
      sizes.length ? shape : null, count),
    table.box);
  apply();
  return {
    element,
    show() {
      table.again();
    }
  };
}

function measuredView(model) {
  const count = make("span", {class: "count", "aria-live": "polite"});
  const time = (head, title, key, digits) =>
    ({head, title, width: 84, number: true, value: (r) => r[key], show: (r) => number(r[key], digits)});
  const table = rowTable(
    [
      {
        head: "Problem",
        least: 250,
        value: (r) => r.problem,
        show: (r) => problemCell(r.problem),
        hint: (r) => r.problem
      },
      {
        head: "Instance",
        value: (r) => r.instance.name,
        show: (r) => nameCell(r.instance),
        hint: (r) => r.instance.name
      },
      {head: "Device", width: 150, value: (r) => r.device, show: (r) => r.device},
      time("measured", "µs, as measured", "us", 1), time("modelled", "µs, as the cost function has it", "modelled", 1),
      time("ratio", "measured over modelled", "ratio", 2)
    ],
    {onpick: (r) => { location.hash = "op/" + encodeURIComponent(r.instance.op.name); }});
  function apply(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = model.measured.filter((r) => words.every((w) => r.lower.includes(w)));
    count.textContent = rows.length + " of " + model.measured.length + " rows";
    table.set(rows);
  }
  const element = make(
    "div", {style: "display:contents"},
    make(
      "div", {class: "filters"},
      search(
        "Words of a problem, an instance, a device", "Any order, parts of words, too", (e) => apply(e.target.value)),
      count),
    table.box);
  apply("");
  return {
    element,
    show() {
      table.again();
    }
  };
}

function opsView(model) {
  const list = make("ul"), section = make("section", {tabindex: -1});
  const links = model.ops.map(
    (op) => make(
      "a", {href: "#op/" + encodeURIComponent(op.name)}, make("span", {}, op.name),
      make("span", {class: "dim"}, op.count)));
  list.append(...links.map((a) => make("li", {}, a)));
  const find = search("Find", "A part of an op's name", (e) => {
    const part = e.target.value.trim().toLowerCase();
    links.forEach((a, n) => { a.parentNode.hidden = !model.ops[n].name.includes(part); });
  });
  let now = null;
  function show(name) {
    const at = Math.max(0, model.ops.findIndex((o) => encodeURIComponent(o.name) === name));
    if (now === at || !model.ops.length) return;
    if (now !== null) links[now].removeAttribute("aria-current");
    now = at;
    links[at].setAttribute("aria-current", "page");
    links[at].scrollIntoView({block: "nearest"});
    section.replaceChildren(...opSection(model, model.ops[at]));
    section.scrollTop = 0;
  }
  return {element: make("div", {class: "ops"}, make("aside", {}, find, list), section), show};
}

function signatures(model, op) {
  const targets = unique(model.instances.filter((i) => i.op === op).map((i) => i.target)), rows = new Map();
  for (const i of model.instances) {
    if (i.op !== op) continue;
    const key = [i.types, i.layouts, op.fixed.map((s, n) => s + "=" + i.fixed[n]).join(" ")].filter(Boolean).join("  ");
    if (!rows.has(key)) rows.set(key, new Map());
    rows.get(key).set(i.target, (rows.get(key).get(i.target) || 0) + 1);
  }
  return make(
    "table", {class: "plain"},
    make(
      "thead", {},
      make(
        "tr", {}, make("th", {}, "types" + (op.letters ? ", layouts" : "")),
        targets.map((t) => make("th", {class: "number"}, t)))),
    make(
      "tbody", {},
      [...rows].map(
        ([key, counts]) => make(
          "tr", {}, make("td", {class: "mono"}, key),
          targets.map((t) => make("td", {class: "number"}, counts.get(t) || ""))))));
}

function opSection(model, op) {
  const tensors = make(
    "table", {class: "plain"},
    make("thead", {}, make("tr", {}, ["tensor", "", "type", "kind", "extent"].map((h) => make("th", {}, h)))),
    make(
      "tbody", {},
      op.tensors.map(
        ([name, kind, type, written, extent]) => make(
          "tr", {}, make("td", {class: "mono"}, name), make("td", {class: "dim"}, written ? "out" : "in"),
          make("td", {class: "mono"}, type), make("td", {}, kind), make("td", {class: "mono"}, extent)))));
  const sizes = [...new Set(model.problems.filter((p) => p.op === op).map((p) => p.sizes))];
  let times = timesFor(model, sizes[0]);
  const detail = make("div");
  const table = rowTable(instanceColumns(model, () => times), {
    onpick: (i) => detail.replaceChildren(instanceDetail(
      model, i,
      () => {
        detail.replaceChildren();
        table.clear();
      }))
  });
  const rows = model.instances.filter((i) => i.op === op);
  table.box.style.height = Math.min(360, 34 + 40 * rows.length) + "px";
  queueMicrotask(() => table.set(rows));
  return [
    make("h2", {}, op.name), make("div", {class: "dim"}, op.family + ", described in " + op.file + ":" + op.line),
    make("h3", {}, "What it computes, as traced"), make("pre", {}, op.text.trimEnd()), make("h3", {}, "Tensors"),
    tensors,
    op.scalars.length ? make("p", {}, "Scalars: ", make("span", {class: "mono"}, op.scalars.join(", "))) : null,
    make("h3", {}, "Compiled for"), signatures(model, op),
    make(
      "h3", {}, "Instances",
      sizes.length ? sizesChoice(
                       sizes, sizes[0],
                       (chosen) => {
                         times = timesFor(model, chosen);
                         table.again();
                       }) :
                     null),
    table.box, detail, make("h3", {}, "Which kernel a problem gets, and why"), explainForm(model, op)
  ].filter(Boolean);
}

// ---- explanations ----
function explainForm(model, op) {
  const machines = model.machines.filter((m) => model.instances.some((i) => i.op === op && i.target === m.target));
  if (!machines.length) return make("p", {class: "dim"}, "No device of these targets is known: no modelled times.");
  const input = make("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    title: "A problem of " + op.name
  });
  const device = make(
    "select", {
      "aria-label": "Device",
      title: "Device",
      onchange: () => {
        fill();
        answer();
      }
    },
    machines.map((m) => make("option", {value: m.at}, machineName(m))));
  const known = make("select", {
    "aria-label": "Problems that are here",
    onchange: () => {
      input.value = known.value;
      answer();
    }
  });
  const out = make("div", {class: "answer", "aria-live": "polite"});
  const machine = () => model.machines[Number(device.value)];
  function fill() {
    const list = model.problems.filter((p) => p.op === op && p.machine === machine());
    known.replaceChildren(...list.map((p) => make("option", {value: p.text}, p.text)));
    known.disabled = !list.length;
    if (!input.value && list.length) input.value = list[0].text;
    known.value = input.value;
  }
  function answer() {
    const checked = checkProblem(model, input.value, machine());
    const found = checked.errors.length ? null : findProblem(model, checked.text, machine());
    out.replaceChildren(...(
      checked.errors.length ? checked.errors.map((e) => make("div", {class: "wrong"}, e)) :
        found               ? explanation(found) :
                              elsewhere(model, machine(), checked, (text) => {
                                input.value = text;
                                answer();
                              })));
  }
  fill();
  answer();
  return make(
    "div", {},
    make(
      "form", {
        class: "explain",
        onsubmit: (e) => {
          e.preventDefault();
          answer();
        }
      },
      make("label", {}, make("span", {class: "dim"}, "problem:"), input), device,
      make("button", {type: "submit"}, "Explain"),
      make("label", {class: "wide"}, make("span", {class: "dim"}, "precomputed:"), known)),
    out);
}

function partsText(parts) {
  const times = parts.filter((p) => p.kind === "time")
                  .sort((x, y) => y.value - x.value)
                  .map((p, n) => p.name + " " + number(p.value, 1) + " µs" + (n ? "" : " decides"));
  const counts = parts.filter((p) => p.kind === "count")
                   .map((p) => number(p.value, Number.isInteger(p.value) ? 0 : 1) + " " + p.name);
  const least =
    parts.filter((p) => p.kind === "least").map((p) => "at least " + number(p.value, 1) + " µs by " + p.name);
  return [times.join(", "), [...counts, ...least].join(", ")].filter(Boolean);
}

function explanation(p) {
  const HOW = {cost: "chosen", tuned: "chosen: tuned for this shape", nearest: "chosen: tuned for the nearest shape"};
  const legal = p.candidates.filter((c) => c.us !== null), most = Math.max(...legal.map((c) => c.us), 0);
  const folder = p.candidates[0].name.slice(0, p.candidates[0].name.lastIndexOf("/") + 1);
  const rows = p.candidates.map((c, n) => {
    const chosen = n === 0 && p.how, own = c.name.startsWith(folder) ? c.name.slice(folder.length) : c.name;
    return make(
      "tr", {class: chosen ? "chosen" : null},
      make(
        "td", {}, make("div", {class: "mono", title: c.name}, own),
        partsText(c.parts).map((t) => make("div", {class: "parts"}, t))),
      make(
        "td", {class: "us"}, c.us === null ? "" : number(c.us, 1) + " µs",
        c.us === null || !most ?
          null :
          make("div", {class: "bar", style: "width:" + Math.max(2, (100 * c.us) / most).toFixed(1) + "%"})),
      make(
        "td", {class: "why"},
        chosen          ? HOW[p.how] || "chosen" :
          c.us === null ? "not legal: " + c.rule :
                          "slower"));
  });
  return [
    make(
      "div", {class: "dim"},
      "By the cost functions, on " + p.machine.spec + "; " + legal.length + " of " + p.candidates.length +
        " candidates are legal."),
    make("div", {class: "folder mono dim"}, folder), make("table", {}, make("tbody", {}, rows)),
    commandLine("The same from the command line:", commandFor(p.machine, p.text))
  ];
}

function elsewhere(model, machine, checked, take) {
  const aligned = /(^| )align=/.test(checked.text) ? null : findProblem(model, checked.text + " align=256", machine);
  return [
    make("div", {}, "This problem's answer is not in the page: its cost functions are compiled into the module."),
    aligned ? make(
                "div", {}, "It is there ",
                make("button", {type: "button", onclick: () => take(aligned.text)}, "with align=256"),
                ", which allocated memory has.") :
              null,
    commandLine("This says what would run, and why:", commandFor(machine, checked.text))
  ].filter(Boolean);
}

function commandLine(label, text) {
  const pre = make("pre", {}, text);
  const copy = make(
    "button", {
      type: "button",
      onclick: () => {
        const range = document.createRange();
        range.selectNodeContents(pre);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
      }
    },
    "Copy");
  return make(
    "div", {}, make("div", {class: "dim", style: "margin-top:10px"}, label),
    make("div", {class: "command"}, pre, copy));
}

if (typeof document !== "undefined") start(readData(JSON.parse(document.getElementById("data").textContent)));
