// What stands in several formulas of a page is found in KaTeX's parse trees, never in the text: there `x_k`, `x_{k}`
// and a macro that stands for them are one thing. The marks are put around the elements that were made of the nodes.
//
// Loaded after `markup.js`.

const unbraced = (node) => (node?.type === "ordgroup" && node.body.length === 1 ? unbraced(node.body[0]) : node);

// Equal numbers for equal structures, wherever they were typed. Where an author typed something makes no difference.
const identity = () => {
  const known = new Map(), seen = new Map(), orders = new Map();
  const numbered = (key) => {
    let number = seen.get(key);
    if (number === undefined) seen.set(key, number = "#" + seen.size);
    return number;
  };
  // Nodes of one type have the same few lists of keys.
  const ordered = (node) => {
    const keys = Object.keys(node), name = keys.join();
    let order = orders.get(name);
    if (order === undefined) orders.set(name, order = keys.filter((key) => key !== "loc").sort());
    return order;
  };
  const keyOf = (node) => {
    // Most nodes are one of these.
    if (LEAVES.has(node.type)) return sign(node);
    let key = "";
    if (Array.isArray(node)) {
      for (let at = 0; at < node.length; at++) if (node[at] !== undefined) key += at + "=" + id(node[at]) + ",";
      return key;
    }
    for (const name of ordered(node)) if (node[name] !== undefined) key += name + "=" + id(node[name]) + ",";
    return key;
  };
  const id = (value) => {
    if (typeof value === "string") return "string:" + value;
    if (value === null || typeof value !== "object") return typeof value + ":" + value;
    const node = unbraced(value);
    let number = known.get(node);
    if (number === undefined) known.set(node, number = numbered(keyOf(node)));
    return number;
  };
  return id;
};

// ---- what a symbol is

// KaTeX counts these among the ordinary signs, like digits.
const SIGNS = /^\\(Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega|ell|hbar|imath|jmath|wp|nabla|partial)$/;
const isName = (node) => node.type === "mathord" || (node.type === "textord" && SIGNS.test(node.text));
const isLetter = (node) => Boolean(node) && (isName(node) || ["accent", "accentUnder"].includes(node.type)
  || (node.type === "font" && node.font !== "mathbb"));
// The letter under accents and in another font.
const letterOf = (node) => (!node || node.text !== undefined ? node?.text ?? ""
  : letterOf(unbraced(node.base ?? (Array.isArray(node.body) ? node.body[0] : node.body))));
const isCapital = (node) => /^([A-Z]|\\[A-Z]\w*|\\var[A-Z]\w*)$/.test(letterOf(unbraced(node)));
const leaves = (node) =>
  node === null || typeof node !== "object" ? []
  : Array.isArray(node) ? node.flatMap(leaves)
  : node.text !== undefined ? [node]
  : Object.entries(node).flatMap(([key, value]) => (key === "loc" ? [] : leaves(value)));

// `W^Q` is another matrix than `W`. A transpose, a prime, a number or what stands in brackets makes no other of it; nor
// does anything above a small letter, `x^l`, which is an index like one below it.
const keepsName = (base, sup, isMapped) => {
  if (!sup || !isCapital(base)) return true;
  const above = leaves(sup);
  if (above.length > 2 && above[0].text === "(" && above.at(-1).text === ")") return true;
  if (above.length === 1 && above[0].text === "T") return !isMapped(above[0]);
  return above.every((leaf) => !isName(leaf) && leaf.mode !== "text");
};

// Text and the names of operators are language, whatever letters they are made of.
const isWord = (node) => ["ordgroup", "text", "operatorname"].includes(node.type)
  || (node.type === "font" && unbraced(node.body).type === "ordgroup");

// Which symbol a node stands for, if any. A subscript is an index of the symbol.
const matcher = (symbols, id) => {
  const single = new Map(), runs = [];
  symbols.forEach((body, number) => {
    if (body?.length === 1 && !single.has(id(body[0]))) single.set(id(body[0]), number);
    else if (body?.length > 1) runs.push([body.map(id), number]);
  });
  runs.sort((a, b) => b[0].length - a[0].length);
  const mapped = (node) => single.has(id(node));
  const named = (node) => {
    if (isWord(node)) return undefined;
    if (mapped(node)) return single.get(id(node));
    if (node.type !== "supsub" || !node.base) return undefined;
    const {base, sub, sup} = node;
    const {type, mode} = node;
    if (sup && sub) {
      const below = {type, mode, base, sub}, above = {type, mode, base, sup};
      if (mapped(below) && keepsName(base, sup, mapped)) return single.get(id(below));
      if (mapped(above)) return single.get(id(above));
    }
    if (mapped(base) && keepsName(base, sup, mapped)) return single.get(id(base));
    return undefined;
  };
  const run = (nodes, at) => {
    for (const [ids, number] of runs) {
      if (ids.every((wanted, index) => at + index < nodes.length && id(nodes[at + index]) === wanted)) {
        return [number, ids.length];
      }
    }
    return undefined;
  };
  return {named, run, mapped};
};

// ---- where marks may stand

// The bodies of these are lists of siblings; what is not named here is left alone: text, operators' names, letters in
// another font, accents, which are one sign with what they stand on.
const LISTS = {ordgroup: ["body"], leftright: ["body"], mclass: ["body"], color: ["body"], styling: ["body"], sizing: ["body"]};
const SLOTS = {genfrac: ["numer", "denom"], sqrt: ["body"], overline: ["body"], underline: ["body"], horizBrace: ["base"]};
// Lines break at relations and binary operators, which a wrapper would hide.
const SPACES = new Set(["spacing", "kern", "cr", "internal", "htmlmathml", "mathchoice", "xArrow", "middle"]);
const breaks = (node) => SPACES.has(node.type)
  || (node.type === "atom" && ["bin", "rel"].includes(node.family))
  || (node.type === "mclass" && ["mbin", "mrel"].includes(node.mclass))
  || (node.type === "supsub" && Boolean(node.base) && breaks(node.base));
// A number, a bracket, a comma, a word stands everywhere and means nothing by itself.
const TRIVIAL = new Set(["atom", "text", "rule", "delimsizing", "tag", "color", "styling", "sizing"]);
const isTrivial = (node) => node.type !== "mathord" && (TRIVIAL.has(node.type) || breaks(node)
  || (node.type === "textord" && !isName(node))
  || (node.type === "ordgroup" && node.body.every(isTrivial)));

// Goes through a tree. `list` is called with each list of siblings; `symbols` says whether a symbol may be found there, and
// `whole` whether the siblings are all that there is of an expression.
const walk = (list) => {
  const within = (node, symbols) => {
    if (!node) return;
    for (const slot of LISTS[node.type] ?? []) list(node[slot], symbols, node.type !== "styling");
    for (const slot of SLOTS[node.type] ?? []) if (node[slot]) single(node[slot], symbols);
    if (node.type === "array") for (const row of node.body) for (const cell of row) within(cell, symbols);
    if (node.type === "supsub") scripts(node, symbols);
  };
  const single = (node, symbols) => (node.type === "ordgroup" ? within(node, symbols) : list([node], symbols, false));
  const scripts = (node, symbols) => {
    const base = unbraced(node.base);
    // The base itself is never wrapped: its scripts are placed by what it is.
    if (base && !isLetter(base) && !["text", "operatorname", "op"].includes(base.type)) within(base, symbols);
    const own = isLetter(base);
    const power = symbols && (!own || letterOf(base) === "e");
    if (node.sub) single(node.sub, symbols && !own);
    if (node.sup) single(node.sup, power);
  };
  return within;
};

// Counts what stands in the trees, then finds the places of what stands there more than once, and of the symbols.
const marker = (symbols, id) => {
  const {named, run} = matcher(symbols, id);
  const counts = new Map(), numbers = new Map(), places = symbols.map(() => 0);
  const count = (key, times) => counts.set(key, (counts.get(key) ?? 0) + times);

  // The spans of siblings that are a symbol: [first, behind the last, number].
  const spans = (nodes) => {
    const found = [];
    for (let at = 0; at < nodes.length; at++) {
      const several = run(nodes, at);
      const number = several ? several[0] : named(nodes[at]);
      if (number === undefined) continue;
      found.push([at, at + (several ? several[1] : 1), number]);
      at = found.at(-1)[1] - 1;
    }
    return found;
  };
  const number = (key) => {
    if (key === undefined || counts.get(key) < 2) return undefined;
    if (!numbers.has(key)) numbers.set(key, String(numbers.size + 1));
    return numbers.get(key);
  };

  // The lists of siblings of a tree, those outside before those within: the nodes, what each and what the whole counts as,
  // and of which symbol each node is a part.
  const counted = (body, times) => {
    const lists = [];
    const list = (nodes, allowed, whole) => {
      let own, meaning = 0;
      const keys = nodes.map((node) => {
        if (isTrivial(node)) return undefined;
        meaning += 1;
        return node.type === "ordgroup" ? undefined : id(node);
      });
      if (whole && meaning > 1) count(own = "run:" + nodes.map(id).join(), times);
      const parts = [];
      if (allowed && symbols.length) {
        for (const [from, to, symbol] of spans(nodes)) {
          places[symbol] += times;
          for (let at = from; at < to; at++) parts[at] = {symbol, isFirst: at === from};
        }
      }
      lists.push({nodes, keys, own, parts});
      nodes.forEach((node, at) => {
        if (!parts[at] && keys[at] !== undefined) count(keys[at], times);
        within(node, allowed && !parts[at]);
      });
    };
    const within = walk(list);
    list(body, true, true);
    return lists;
  };

  // [node, attributes] of each mark, the outer ones before those within.
  const found = (lists) => {
    const marks = [];
    const add = (node, name, value, isFirst) => marks.push([node, ` ${name}="${value}"${isFirst ? "" : ' data-c=""'}`]);
    for (const {nodes, keys, own, parts} of lists) {
      const whole = number(own);
      if (whole !== undefined) {
        nodes.filter((node) => !breaks(node)).forEach((node, at) => add(node, "data-e", whole, at === 0));
      }
      nodes.forEach((node, at) => {
        const alone = number(keys[at]), part = parts[at];
        if (part && !breaks(node)) add(node, "data-s", part.symbol + 1, part.isFirst);
        if (!part && alone !== undefined) add(node, "data-e", alone, true);
      });
    }
    return marks;
  };
  return {counted, found, places};
};

const parsed = (tex, request) => {
  try {
    return katex.__parse(tex, settings(request));
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    return null;
  }
};

const withMarksOf = (formula, {body, root}, marks) => {
  if (!marks.length) return null;
  try {
    const made = root ?? built(body, settings(formula));
    for (const [node, attributes] of marks) markAround(node, attributes);
    return withMarks(made);
  } catch (error) {
    if (!(error instanceof Error) || /call stack|out of memory|interrupted/.test(error.message)) throw error;
    return null;
  }
};

// Of each formula of a page, the HTML with marks in it, or null where it has none or cannot be had; and how often each symbol occurs.
globalThis.mark = (json) => {
  const request = JSON.parse(json);
  const formulas = request.formulas.map((formula) => ({...request, ...formula}));
  const trees = formulas.map((formula) => recalled(formula) ?? {body: parsed(formula.tex, formula)});
  forget();
  const symbols = request.symbols.map((tex) => parsed(tex, {...request, display: true}));
  const {counted, found, places} = marker(symbols, identity());
  const lists = trees.map(({body}, at) => body && counted(body, formulas[at].count));
  const html = trees.map((tree, at) => lists[at] && withMarksOf(formulas[at], tree, found(lists[at])));
  return JSON.stringify({html, places});
};
