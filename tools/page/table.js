// SPDX-License-Identifier: MIT
// The page of `kiln report --html`: elements, tables of any length, what there is to know of an instance.  Texts reach
// the page as text nodes alone.
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on"))
      e.addEventListener(key.slice(2), value);
    else if (value === true)
      e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined)
      e.setAttribute(key, value);
  }
  e.append(...children.flat()
             .filter((c) => c !== null && c !== undefined)
             .map((c) => (typeof c === "number" ? String(c) : c)));
  return e;
}

// What tells rows apart above, what many share below.
const twoLines = (first, second) => make("div", {class: "two"}, make("div", {}, first), make("div", {}, second));
const nameCell = (i) => twoLines(i.last, i.folder);
function problemCell(text) {
  const words = text.split(" ");
  return twoLines(words.filter((w) => !w.includes("=")).join(" "), words.filter((w) => w.includes("=")).join(" "));
}

// A table of any number of rows: those in sight are made.
// columns: { head, title, width, number, value(row), show(row), hint(row) }.
function rowTable(columns, options) {
  const ROW = 40, BEYOND = 8, LEAST = 16;
  let rows = [], shown = [], sorted = options.sort || 0, down = options.down || false, picked = null, from = -1,
      to = -1;
  const above = make("tr", {class: "space"}, make("td", {colspan: columns.length}));
  const below = make("tr", {class: "space"}, make("td", {colspan: columns.length}));
  const heads = columns.map(
    (c, n) => make(
      "th", {scope: "col", class: c.number ? "number" : null},
      make("button", {type: "button", title: c.title || c.head, onclick: () => sortBy(n)}, c.head)));
  const body = make("tbody");
  const table = make(
    "table", {},
    make("colgroup", {}, columns.map((c) => make("col", c.width ? {style: "width:" + c.width + "px"} : {}))),
    make("thead", {}, make("tr", {}, heads)), body);
  const least = columns.reduce((sum, c) => sum + (c.width || c.least || 300), 0);
  table.style.minWidth = least + "px";
  const box = make("div", {class: "scroll", tabindex: 0}, table);

  function row(r) {
    const tr = make("tr", {"aria-selected": r === picked ? "true" : null, onclick: () => pick(r)});
    for (const c of columns) {
      const what = c.show(r);
      const td = make("td", {class: c.number ? "number" : null}, what);
      if (c.hint)
        td.title = c.hint(r) || "";
      else if (typeof what === "string")
        td.title = what;
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
      if (n === sorted)
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else
        th.removeAttribute("aria-sort");
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
    if (top < box.scrollTop)
      box.scrollTop = top;
    else if (top + ROW + head > box.scrollTop + box.clientHeight)
      box.scrollTop = top + ROW + head - box.clientHeight;
    pick(shown[at]);
  }
  box.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)), {passive: true});
  box.addEventListener("keydown", (e) => {
    const by = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10}[e.key];
    if (!by || e.target !== box) return;
    e.preventDefault();
    step(by);
  });
  new ResizeObserver(() => draw(false)).observe(box);
  return {
    box,
    set(list) {
      rows = list;
      box.scrollTop = Math.min(box.scrollTop, list.length * ROW);
      arrange();
    },
    again: arrange,
    clear() {
      picked = null;
      draw(true);
    },
  };
}

function choice(label, values, onchange, names) {
  return make(
    "select", {"aria-label": label, title: label, onchange}, make("option", {value: ""}, label),
    values.map((v, n) => make("option", {value: v}, names ? names[n] : v)));
}
const unique = (list) => [...new Set(list)].sort();

function instanceColumns(model, times) {
  const figure = (head, title, key, width) =>
    ({head, title, width, number: true, value: (i) => i[key], show: (i) => number(i[key])});
  const has = (key) => model.instances.some((i) => i[key] !== null && i[key] !== undefined && i[key] !== 0);
  const columns = [{head: "Instance", value: (i) => i.name, show: nameCell, hint: (i) => i.name}];
  const timed = (head, title, map) => ({
    head,
    title,
    width: 86,
    number: true,
    value: (i) => times()[map].get(i),
    show: (i) => number(times()[map].get(i), 1),
    hint: (i) => (map === "modelled" && times().rules.get(i)) || ""
  });
  columns.push({
    ...timed("modelled", "Modelled time in µs of the sizes chosen above", "modelled"),
    show: (i) => times().modelled.has(i) ? number(times().modelled.get(i), 1) :
      times().rules.has(i)               ? make("span", {class: "dim"}, "not legal") :
                                           ""
  });
  if (model.measured.length)
    columns.push(timed("measured", "Measured time in µs of the sizes chosen above", "measured"));
  if (has("cycles")) {
    columns.push({
      head: "cycles",
      title: "Cycles of a compute unit full of its workgroups, on the simulator",
      width: 74,
      number: true,
      value: (i) => i.cycles,
      show: (i) => number(i.cycles)
    });
    columns.push({
      head: "matrix",
      title: "Share of those that matrix units are busy, on the simulator",
      width: 58,
      number: true,
      value: (i) => i.share,
      show: (i) => number(i.share, 3)
    });
  }
  for (const [head, title, key, width] of [
         ["VGPR", "Vector registers of a thread", "vgprs", 52],
         ["AGPR", "Accumulation registers of a thread", "agprs", 54], ["SGPR", "Scalar registers", "sgprs", 52],
         ["LDS", "Bytes of LDS, or of shared memory, of a workgroup", "lds", 66],
         ["scratch", "Bytes of scratch memory of a thread", "scratch", 62],
         ["spills", "Vector registers that did not fit", "vgpr_spills", 52],
         ["threads", "Largest workgroup", "threads", 62]])
    if (has(key)) columns.push(figure(head, title, key, width));
  if (has("waves"))
    columns.push(
      {
        head: "waves",
        title: "Waves that one SIMD (of NVIDIA: warps that one SM) holds",
        width: 64,
        number: true,
        value: (i) => i.waves,
        show: (i) => (i.waves === null || i.waves === undefined ? "" : i.waves + " of " + i.most)
      },
      {
        head: "limit",
        title: "What keeps waves from being more",
        width: 74,
        value: (i) => i.limit || "",
        show: (i) => i.limit || ""
      });
  if (has("code")) columns.push(figure("code", "Bytes of the code object", "code", 68));
  return columns;
}

function pairs(list) {
  return list.map(([key, value]) => key + "=" + value).join("  ");
}

function instanceDetail(model, i, close) {
  const rows = [
    ["op", make("a", {href: "#op/" + encodeURIComponent(i.op.name)}, i.op.name)],
    ["types", i.types + (i.layouts ? "  " + i.layouts : "")], ["tunables", pairs(i.tunables)],
    ["derived", pairs(i.derived)], ["described in", i.op.file + ":" + i.op.line], ["content", i.content]
  ];
  if (i.kernels.length > 1)
    i.kernels.forEach(
      (k, n) => rows.push(
        ["kernel " + (n + 1), KERNEL.filter((key) => k[key] !== null).map((key) => key + "=" + k[key]).join("  ")]));
  for (const s of i.simulated) {
    const f = s.figures;
    rows.push([
      "simulated" + (s.kernel > 1 ? ", kernel " + s.kernel : ""),
      Object.entries(f)
          .filter(([key, v]) => typeof v === "number")
          .map(([key, v]) => key + "=" + (Number.isInteger(v) ? v : Number(v.toFixed(4))))
          .join("  ") +
        "  (" + f.problem + ")"
    ]);
  }
  const modelled = model.problems.filter((p) => p.candidates.some((c) => c.instance === i)).map((p) => {
    const c = p.candidates.find((k) => k.instance === i);
    return [p, c, i.measured.find((r) => r.problem === p.text && r.machine === p.machine)];
  });
  const table = modelled.length ?
    make(
      "table", {class: "plain"},
      make(
        "thead", {},
        make(
          "tr", {}, make("th", {}, "problem"), make("th", {}, "device"), make("th", {class: "number"}, "modelled µs"),
          make("th", {class: "number"}, "measured µs"), make("th", {}, ""))),
      make(
        "tbody", {},
        modelled.map(
          ([p, c, r]) => make(
            "tr", {}, make("td", {class: "mono"}, p.text), make("td", {}, machineName(p.machine)),
            make("td", {class: "number"}, number(c.us, 1)), make("td", {class: "number"}, r ? number(r.us, 1) : ""),
            make("td", {}, c.rule || (p.candidates[0] === c && p.how ? "chosen" : "")))))) :
    null;
  return make(
    "div", {class: "detail"},
    make("div", {class: "head"}, make("code", {}, i.name), make("button", {type: "button", onclick: close}, "Close")),
    make("dl", {}, rows.filter(([, v]) => v !== "").flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)])),
    table);
}

function machineName(m) {
  return m ? m.target + ", " + m.units + (m.units === 1 ? " unit" : " units") : "";
}
