// SPDX-License-Identifier: MIT
// What the page of `kiln report --html` makes of its data, without a document: node page.js FILE.  TAP, without a plan.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const vm = require("vm");
const folder = path.resolve(__dirname, "../../../tools/page");
const page = require(path.join(folder, "model.js"));

function check(name, what) {
  try {
    what();
    console.log("ok - " + name);
  } catch (e) {
    console.log("not ok - " + name + "\n# " + String(e.message).replace(/\n/g, "\n# "));
    process.exitCode = 1;
  }
}

// ---- a registry made up: names that no page may take for its own, machines of two sizes ----
const kernel = [64, 0, 32, 1024, 0, 0, 0, 256, 4, 8, "registers"];
const row = (name, op, layouts, types, kernels, fixed) =>
  [name, op, name.split("/")[0], "mfma", types, layouts, fixed || [], [["m", 64]], [["threads", 256]], "00", 100,
   kernels];
const raw = {
  version: "1",
  registry: "0",
  words: ["A is not aligned to 16 bytes", "multiplying", "blocks"],
  machines: [["none:gfx942:304", "gfx942", 304], ["none:gfx942:228", "gfx942", 228], ["none:host:1", "host", 1]],
  ops: [
    {
      name: "bias_relu",
      family: "gemm",
      file: "x.lua",
      line: 1,
      text: "",
      tensors: [],
      scalars: [],
      sizes: ["m", "n", "k"],
      fixed: [],
      types: ["a", "b", "e"],
      keys: ["lda", "sa", "aligna", "ldd.bias", "acc"],
      letters: 3
    },
    {
      name: "causal",
      family: "attention",
      file: "<&'\">.lua",
      line: 2,
      text: "",
      tensors: [],
      scalars: [],
      sizes: ["heads", "q", "kv", "dim", "dimv"],
      fixed: ["dim", "dimv"],
      types: ["q", "k", "v", "o"],
      keys: ["pq"],
      letters: 0
    },
  ],
  instances: [
    row("gfx942/bias_relu/f16_f16_f16/rcr/mfma_1", 0, "rcr", "f16,f16,f16", [kernel, kernel]),
    row(
      "gfx942/bias_relu/f16_f16_f16/rcr/mfma_2", 0, "rcr", "f16,f16,f16",
      [[...kernel.slice(0, 3), 2048, ...kernel.slice(4)]]),
    row("gfx942/causal/f16_f16_f16_f16/128_128/mfma_3", 1, "", "f16,f16,f16,f16", [kernel], [128, 128]),
    row("gfx942/causal/f16_f16_f16_f16/64_64/mfma_4", 1, "", "f16,f16,f16,f16", [kernel], [64, 64]),
    row("host/bias_relu/f32_f32_f32/rrr/host_5", 0, "rrr", "f32,f32,f32", []),
  ],
  problems: [
    [
      "bias_relu f16,f16,f16 rcr m=1 n=2 k=3 align=256", 0, 0, "cost",
      [[0, 5.5, [[1, "time", 5], [2, "count", 4]]], [1, null, 0], ["gone", 9, []]]
    ],
    ["bias_relu f16,f16,f16 rcr m=1 n=2 k=3 align=256", 0, 1, "cost", [[1, 4], [0, 7]]],
  ],
  measured: [
    [0, 0, "bias_relu f16,f16,f16 rcr m=1 n=2 k=3 align=256", 11, 0.001, 5.5, "an <MI300X> & more"],
    [1, 0, "bias_relu f16,f16,f16 rcr m=1 n=2 k=4", 12, 0.001, null, "x"]
  ],
  simulated: [
    [0, 1, {modelled_cycles: 1000, modelled_matrix_share: 0.5, problem: "p"}],
    [0, 2, {modelled_cycles: 1, modelled_matrix_share: 0, problem: "p"}]
  ],
};
const model = page.readData(raw);
const [big, , host] = model.machines;
const wrong = (text, machine) => page.checkProblem(model, text, machine || big).errors;

check("instances have their op, their kernels, what was simulated", () => {
  const [first, second, , , last] = model.instances;
  assert.equal(first.op.count, 3);
  assert.deepEqual([first.folder, first.last], ["gfx942/bias_relu/f16_f16_f16/rcr/", "mfma_1"]);
  assert.deepEqual([second.lds, first.kernels.length, last.kernels.length, last.vgprs], [2048, 2, 0, undefined]);
  assert.deepEqual([first.cycles, first.share, second.cycles], [1000, 0.5, null]);
  assert.equal(first.measured[0].ratio, 2);
  assert.equal(model.measured[1].ratio, null);
});
check("candidates, rules and parts", () => {
  const [chosen, cut, gone] = model.problems[0].candidates;
  assert.deepEqual([chosen.us, chosen.parts[0].name, chosen.parts[1].kind], [5.5, "multiplying", "count"]);
  assert.deepEqual([cut.us, cut.rule], [null, "A is not aligned to 16 bytes"]);
  assert.deepEqual([gone.instance, gone.name], [null, "gone"]);
});
check("a problem in any order of its keys is the same", () => {
  const text = "bias_relu f16,f16,f16  rcr k=3 align=256 n=2 batch=1 m=1 ";
  assert.equal(page.findProblem(model, text, big), model.problems[0]);
  assert.equal(page.findProblem(model, text, model.machines[1]), model.problems[1]);
  assert.equal(page.findProblem(model, text, host), null);
  assert.equal(page.findProblem(model, text + "batch=2", big), null);
  assert.equal(page.findProblem(model, "bias_relu f16,f16,f16 rcr m=1 n=2 k=3", big), null);
});
check("right problems", () => {
  for (const text of
         ["bias_relu f16,f16,f16 rcr m=0 n=2 k=3",
          "bias_relu f16,f16,f16 rcr m=1 n=2 k=3 lda=8 ldd.bias=broadcast acc=f32 align=16",
          "causal f16,f16,f16,f16 heads=8 q=1 kv=9 dim=64 dimv=64 pq=broadcast",
          "causal f16,f16,f16,f16 heads=8 q=1 kv=9 dimv=128"])
    assert.deepEqual(wrong(text), []);
});
check("mistakes have messages", () => {
  const said = (text, message, machine) =>
    assert.ok(wrong(text, machine).some((e) => e.includes(message)), text + ": " + wrong(text, machine).join("; "));
  said("  ", "type a problem");
  said("bias_rleu f16,f16,f16 rcr m=1", "did you mean 'bias_relu'?");
  said("<script>alert(1)</script>", "no op '<script>alert(1)</script>'");
  said("bias_relu", "types are missing: a,b,e");
  said("bias_relu f16,f16,f16", "layouts are missing: 3 letters");
  said("bias_relu bf16,bf16,bf16 rcr m=1 n=1 k=1", "not compiled for bf16,bf16,bf16, but for f16,f16,f16; f32,f32,f32");
  said("bias_relu f16,f16,f16 rrr m=1 n=1 k=1", "not compiled for layouts rrr of these types, but for rcr");
  said("bias_relu f16,f16,f16 rcr m=1 n=1 k=1", "but not for host: choose another device", host);
  said("bias_relu f16,f16,f16 rcr m=1 n=1 k=1 extra", "'extra' is no KEY=NUMBER");
  said("bias_relu f16,f16,f16 rcr m=1 n=1", "k= is missing");
  said("bias_relu f16,f16,f16 rcr m=1 n=1 k=1 k=2", "k= stands there twice");
  said("bias_relu f16,f16,f16 rcr m=-1 n=1 k=1", "m= is a whole number");
  said("bias_relu f16,f16,f16 rcr m=2147483648 n=1 k=1", "m= is at most 2147483647");
  said("bias_relu f16,f16,f16 rcr m=1 n=1 k=1 align=24", "align= is a power of two");
  said("bias_relu f16,f16,f16 rcr m=broadcast n=1 k=1", "m= is a number");
  said("bias_relu f16,f16,f16 rcr m=1 n=1 k=1 ldb.bias=4", "did you mean ldd.bias=?");
  said("causal f16,f16,f16,f16 heads=8 q=1 kv=9", "which of dim=128 dimv=128; dim=64 dimv=64?");
  said(
    "causal f16,f16,f16,f16 heads=8 q=1 kv=9 dim=96",
    "not compiled for dim=96, but for dim=128 dimv=128; dim=64 dimv=64");
});
check("the command line says the problem as it was checked", () => {
  const checked = page.checkProblem(model, " bias_relu  f16,f16,f16 rcr m=1 n=2 k=5 ", big);
  assert.equal(
    page.commandFor(big, checked.text),
    "kiln explain --device none:gfx942:304 'bias_relu f16,f16,f16 rcr m=1 n=2 k=5'");
  assert.equal(page.commandFor(big, "it's"), "kiln explain --device none:gfx942:304 'it'\\''s'");
});
check("filters add up", () => {
  const names = (filter) => page.filterInstances(model.instances, filter).map((i) => i.last);
  assert.deepEqual(names({}).length, 5);
  assert.deepEqual(names({text: "BIAS  mfma_2"}), ["mfma_2"]);
  assert.deepEqual(names({target: "host"}), ["host_5"]);
  assert.deepEqual(names({op: "causal", type: "f16", schedule: "mfma", text: "64_64"}), ["mfma_4"]);
  assert.deepEqual(names({type: "f3"}), []);
});
check("rows without a value come last in either order", () => {
  const by = (down) => page.sortRows(model.instances, (i) => i.lds, down).map((i) => i.last);
  assert.deepEqual(by(false), ["mfma_1", "mfma_3", "mfma_4", "mfma_2", "host_5"]);
  assert.deepEqual(by(true), ["mfma_2", "mfma_1", "mfma_3", "mfma_4", "host_5"]);
});
check("times of some sizes are those of a target's first machine", () => {
  const times = page.timesFor(model, "m=1 n=2 k=3"), [first, second] = model.instances;
  assert.deepEqual(
    [times.modelled.get(first), times.modelled.has(second), times.rules.get(second), times.measured.get(first)],
    [5.5, false, "A is not aligned to 16 bytes", 11]);
});
check(
  "numbers",
  () => assert.deepEqual(
    [page.number(1234567.25, 1), page.number(999), page.number(null), page.number(0.5, 3)],
    ["1\u202f234\u202f567.3", "999", "", "0.500"]));

// ---- a document of what the page uses of one: enough to build each view and to press on things ----
class Element {
  constructor(tag) {
    Object.assign(this, {
      tag,
      children: [],
      attributes: {},
      listeners: {},
      style: {},
      dataset: {},
      parentNode: null,
      value: "",
      scrollTop: 0,
      clientHeight: 400
    });
  }
  get firstChild() {
    return this.children[0] || null;
  }
  get textContent() {
    return this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join("");
  }
  set textContent(text) {
    this.replaceChildren(text);
  }
  setAttribute(key, value) {
    value = String(value);
    this.attributes[key] = value;
    if (key === "value") this.value = value;
    if (key.startsWith("data-")) this.dataset[key.slice(5)] = value;
  }
  removeAttribute(key) {
    delete this.attributes[key];
  }
  append(...list) {
    for (const c of list) {
      assert.ok(c instanceof Element || typeof c === "string", "a child that is neither text nor element");
      if (c instanceof Element) c.parentNode = this;
      this.children.push(c);
      if (this.tag === "select" && this.children.length === 1) this.value = c.value;
    }
  }
  replaceChildren(...list) {
    this.children = [];
    this.append(...list);
  }
  replaceWith(other) {
    const at = this.parentNode.children.indexOf(this);
    this.parentNode.children[at] = other;
    other.parentNode = this.parentNode;
  }
  remove() {
    this.parentNode.children = this.parentNode.children.filter((c) => c !== this);
  }
  scrollIntoView() {}
  addEventListener(type, f) {
    this.listeners[type] = f;
  }
  fire(type, event) {
    this.listeners[type]({target: this, preventDefault() {}, ...event});
  }
  all(test) {
    return this.children.flatMap((c) => (typeof c === "string" ? [] : [...(test(c) ? [c] : []), ...c.all(test)]));
  }
  rows() {
    return this.all((e) => e.tag === "tr" && e.listeners.click);
  }
}

function open(data, hash) {
  const byId = {
    main: new Element("main"),
    views: new Element("nav"),
    sum: new Element("span"),
    theme: new Element("button"),
    data: new Element("script")
  };
  byId.data.append(JSON.stringify(data));
  const html = new Element("html"), listeners = {}, later = [];
  const global = {
    document: {createElement: (tag) => new Element(tag), getElementById: (id) => byId[id], documentElement: html},
    location: {hash},
    addEventListener: (type, f) => { listeners[type] = f; },
    ResizeObserver: class {observe() {}},
    requestAnimationFrame: (f) => f(),
    queueMicrotask: (f) => later.push(f),
    localStorage: {
      getItem() {
        throw new Error("a file's");
      }
    }
  };
  vm.runInNewContext(
    ["model.js", "table.js", "views.js"].map((f) => fs.readFileSync(path.join(folder, f), "utf8")).join(""), global);
  const settle = () => {
    while (later.length) later.shift()();
  };
  settle();
  return {
    ...byId,
    html,
    go(to) {
      global.location.hash = to;
      listeners.hashchange();
      settle();
    }
  };
}

check("the view of instances: rows in sight, filters, sorting, one row's values", () => {
  const many = {
    ...raw,
    instances: Array.from(
      {length: 3000},
      (_, n) => row(
        "gfx942/bias_relu/f16_f16_f16/rcr/mfma_" + String(n).padStart(4, "0"), 0, "rcr", "f16,f16,f16",
        [[...kernel.slice(0, 3), n, ...kernel.slice(4)]]))
  };
  const at = open(many, ""),
        names = () => at.main.rows().map((tr) => tr.children[0].children[0].children[0].textContent.split("_").pop());
  assert.ok(names().length < 100 && names()[0] === "0000", names().join());
  const button = (text) => at.main.all((e) => e.tag === "button" && e.textContent === text)[0];
  button("LDS").fire("click");
  button("LDS").fire("click");
  assert.equal(names()[0], "2999");
  const box = at.main.all((e) => e.attributes.class === "scroll")[0];
  box.scrollTop = 40 * 1500;
  box.fire("scroll");
  assert.ok(names().includes("1495") && !names().includes("2999"), names().join());
  const search = at.main.all((e) => e.attributes.type === "search")[0];
  search.value = "mfma_0042";
  search.fire("input");
  assert.equal(names().join(), "0042");
  box.fire("keydown", {key: "ArrowDown"});
  assert.ok(at.main.textContent.includes("described inx.lua:1"));
  button("Close").fire("click");
  assert.ok(!at.main.textContent.includes("described in"));
});
check("the view of an op: what is typed in is answered, refused, or sent to the command line", () => {
  const at = open(raw, "#op/bias_relu"), input = at.main.all((e) => e.attributes.type === "text")[0];
  const form = at.main.all((e) => e.tag === "form")[0], answer = at.main.all((e) => e.attributes.class === "answer")[0];
  const say = (text) => {
    input.value = text;
    form.fire("submit");
    return answer.textContent;
  };
  assert.ok(answer.textContent.includes("2 of 3 candidates are legal"), answer.textContent);
  assert.ok(
    answer.textContent.includes("multiplying 5.0 \u00b5s decides") && answer.textContent.includes("4 blocks"),
    answer.textContent);
  assert.ok(answer.textContent.includes("not legal: A is not aligned to 16 bytes"));
  assert.ok(say("bias_relu f16,f16,f16 rcr m=1 n=2").includes("k= is missing"));
  const other = say("bias_relu f16,f16,f16 rcr m=9 n=2 k=3");
  assert.ok(
    other.includes("kiln explain --device none:gfx942:304 'bias_relu f16,f16,f16 rcr m=9 n=2 k=3'") &&
      !other.includes("chosen"),
    other);
  assert.ok(say("bias_relu f16,f16,f16 rcr m=1 n=2 k=3").includes("with align=256"));
  answer.all((e) => e.tag === "button" && e.textContent === "with align=256")[0].fire("click");
  assert.ok(answer.textContent.includes("candidates are legal"));
  at.go("#op/causal");
  assert.ok(at.main.textContent.includes("described in <&'\">.lua:2"));
  assert.ok(!at.main.textContent.includes("bias_relu f16"), "of one op alone");
});
check("the view of what was measured; colours", () => {
  const at = open(raw, "#measured");
  assert.ok(
    at.main.textContent.includes("an <MI300X> & more") && at.main.textContent.includes("2.00"), at.main.textContent);
  assert.equal(at.views.children.length, 3);
  at.theme.fire("click");
  assert.equal(at.html.dataset.theme, "light");
  at.theme.fire("click");
  assert.equal(at.html.dataset.theme, "dark");
  at.theme.fire("click");
  assert.equal(at.html.dataset.theme, undefined);
});

check("every field and every choice has a name", () => {
  for (const hash of ["#instances", "#measured", "#op/bias_relu"]) {
    const fields = open(raw, hash).main.all((e) => e.tag === "input" || e.tag === "select");
    assert.ok(fields.length);
    for (const e of fields)
      assert.ok(e.attributes["aria-label"] || (e.parentNode.tag === "label" && e.parentNode.children[0].textContent));
  }
});
check("a place that is none of the page's opens it all the same", () => {
  assert.ok(open(raw, "#op/%").main.textContent.includes("bias_relu"));
});

// ---- the file's own data ----
const html = fs.readFileSync(process.argv[2], "utf8");
const real = page.readData(JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)[1]));
check("every problem of the file passes the page's own check, and is found", () => {
  for (const p of real.problems) {
    assert.deepEqual([p.text, ...page.checkProblem(real, p.text, p.machine).errors], [p.text]);
    assert.equal(page.findProblem(real, p.text, p.machine), p);
  }
});
check("every instance of the file is a candidate of some problem, or has no machine", () => {
  const seen = new Set(real.problems.flatMap((p) => p.candidates.map((c) => c.instance)));
  const not =
    real.instances.filter((i) => !seen.has(i) && real.machines.some((m) => m.target === i.target)).map((i) => i.name);
  assert.deepEqual(not, []);
});
check("each of the file's views opens", () => {
  const at =
    open(JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)[1]), "#instances");
  for (const op of real.ops) {
    at.go("#op/" + encodeURIComponent(op.name));
    assert.ok(at.main.textContent.includes(op.name + op.family + ", described in " + op.file));
  }
  at.go("#instances");
  assert.ok(at.main.rows().length > 0);
});
