// The little that KaTeX needs around it to run without a browser. Loaded once into each context, after
// katex.min.js. Every function takes and answers JSON: a long string made by JavaScript is a rope, which the
// Python side cannot read, while JSON.stringify gives it in one piece.

// What would let an expression reach outside of itself. The handlers are replaced rather than distrusted: KaTeX
// prints a distrusted command in red, and we want an error with a place. Marks of the builder's own are nodes of
// the parse tree, which no author can write.
const FORBIDDEN = [
  "\\href", "\\url", "\\includegraphics", "\\htmlClass", "\\htmlId", "\\htmlStyle", "\\htmlData",
];

katex.__defineFunction({
  type: "forbidden",
  names: FORBIDDEN,
  numArgs: 0,
  allowedInText: true,
  allowedInArgument: true,
  handler({funcName, token}) {
    throw new katex.ParseError("Forbidden command: " + funcName, token);
  },
});

// KaTeX parses and builds in one go. Marks need the tree between the two, and another in its place, so the parser's
// class is asked for, which KaTeX hands only to the handlers of commands. Then the command is unknown again.
let Parser = null;
katex.__defineFunction({
  type: "parser",
  names: ["\\site@parser"],
  numArgs: 0,
  handler({parser, token}) {
    if (Parser) throw new katex.ParseError("Undefined control sequence: \\site@parser", token);
    Parser = parser.constructor;
    return {type: "ordgroup", mode: parser.mode, body: []};
  },
});
katex.__parse("\\site@parser");

// The tree that was parsed last, if it is the whole one: a tag comes beside it. And one to be built whatever the expression.
let latest = null, given = null;
const parse = Parser.prototype.parse;
Parser.prototype.parse = function () {
  const body = given ?? parse.call(this);
  latest = this.gullet.macros.get("\\df@tag") ? null : body;
  return body;
};

// KaTeX writes `\def`s of the expression into the object that holds the macros: each call has its own.
const settings = (request) => ({
  displayMode: request.display,
  output: "htmlAndMathml",
  throwOnError: true,
  macros: Object.assign(Object.create(null), request.macros),
  maxExpand: request.maxExpand,
  maxSize: request.maxSize,
  trust: () => false,
  strict: (code) => (request.refuse.includes(code) ? "error" : "ignore"),
});

// A position counts in the text that the token was read from: the expression, or the body of a macro. The message
// quotes that text, so it tells which it was.
const isFrom = (error, text) => {
  if (error.position === undefined) return false;
  const loc = {start: error.position, end: error.position + error.length, lexer: {input: text}};
  return new katex.ParseError(error.rawMessage, {loc}).message === error.message;
};

const isUnknown = (complaint, tex, macros) => {
  try {
    katex.__parse(tex, {displayMode: true, macros: {...macros}, strict: "ignore"});
  } catch (error) {
    return error.rawMessage === complaint;
  }
  return false;
};

// Names that differ from the given one by a single slip of the fingers, the likeliest slips first.
function* slips(name) {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  const cut = (i, j, middle) => name.slice(0, i) + middle + name.slice(j);
  for (let i = 0; i + 1 < name.length; i++) yield cut(i, i + 2, name[i + 1] + name[i]);
  for (let i = 0; i < name.length; i++) yield cut(i, i + 1, "");
  for (let i = name.length; i >= 0; i--) for (const letter of letters) yield cut(i, i, letter);
  for (let i = name.length - 1; i >= 0; i--) for (const letter of letters) yield cut(i, i + 1, letter);
  yield name[0].toUpperCase() + name.slice(1);
  yield name.toLowerCase();
}

// The known command or environment that the author may have meant. KaTeX has no list of them, so it is asked.
const meant = (complaint, macros) => {
  const [, before, sign, name] = /^(.*: )(\\?)([a-zA-Z]{3,20})$/.exec(complaint) ?? [];
  if (!/^(Undefined control sequence|No such environment): $/.test(before)) return null;
  const known = (slip) => {
    const tex = sign ? sign + slip : `\\begin{${slip}}\\end{${slip}}`;
    return slip.length > 1 && !FORBIDDEN.includes(tex) && !isUnknown(before + sign + slip, tex, macros);
  };
  // Most of the questions are answered by an error, and its stack would cost more than the question.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    for (const slip of slips(name)) if (known(slip)) return sign + slip;
  } finally {
    Error.stackTraceLimit = limit;
  }
  return null;
};

const described = (error, request) => {
  // An overflow or an exhausted memory (`null`, as there is none left for an error) are none of KaTeX's complaints.
  if (!error || /call stack|out of memory/.test(error.message)) throw error;
  const {tex, macros} = request;
  const complaint = error.rawMessage ?? "KaTeX cannot typeset this: " + error.message;
  const here = isFrom(error, tex);
  return {
    complaint,
    position: here ? error.position : null,
    length: here ? error.length : 0,
    macro: here ? null : Object.keys(macros).find((name) => isFrom(error, macros[name])) ?? null,
    meant: meant(complaint, macros),
  };
};

// ---- from KaTeX's tree of elements to text
//
// To the letter what its own `toMarkup` makes, in a third of the time: there each class, style and letter is searched for
// what must be escaped, and most of them have been seen before.

const kept = (make) => {
  const known = new Map();
  return (text) => {
    let made = known.get(text);
    if (made === undefined) {
      // Whoever writes a new number into each formula shall not fill the memory with them.
      if (known.size > 5000) known.clear();
      made = make(text);
      known.set(text, made);
    }
    return made;
  };
};

const ENTITIES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", '"': "&quot;", "'": "&#x27;"};
const plain = (text) => String(text).replace(/[&><"']/g, (sign) => ENTITIES[sign]);
const escaped = kept(plain);
const property = kept((name) => name.replace(/([A-Z])/g, "-$1").toLowerCase() + ":");

const classNames = (classes) => {
  let names = "";
  for (let at = 0; at < classes.length; at++) if (classes[at]) names += names ? " " + classes[at] : classes[at];
  return escaped(names);
};

const styleOf = (node) => {
  let style = node.italic > 0 && node.text !== undefined ? "margin-right:" + +node.italic.toFixed(4) + "em;" : "";
  for (const name in node.style) if (node.style[name] !== undefined) style += property(name) + node.style[name] + ";";
  return style && ' style="' + escaped(style) + '"';
};

const inside = (node) => {
  const {children} = node;
  let html = "";
  for (let at = 0; at < children.length; at++) html += children[at].toMarkup();
  return html;
};

const {Span, SymbolNode} = katex.__domTree;
const MARKS = new Set(["data-s", "data-e", "data-c"]);
const INVALID = /[\s"'>/=\x00-\x1f]/;

// Where a mark ends is written with a blank, so that all of it can be taken out again without counting brackets.
Span.prototype.toMarkup = function () {
  let html = "<span", end = "</span>";
  if (this.classes.length) html += ' class="' + classNames(this.classes) + '"';
  html += styleOf(this);
  for (const name in this.attributes) {
    if (INVALID.test(name)) throw new katex.ParseError("Invalid attribute name '" + name + "'");
    html += " " + name + '="' + escaped(this.attributes[name]) + '"';
    if (MARKS.has(name)) end = "</span >";
  }
  return html + ">" + inside(this) + end;
};

SymbolNode.prototype.toMarkup = function () {
  const names = this.classes.length ? ' class="' + classNames(this.classes) + '"' : "";
  const style = styleOf(this);
  return names || style ? "<span" + names + style + ">" + escaped(this.text) + "</span>" : escaped(this.text);
};

// MathML carries the TeX along for those who copy it: they should get what the author wrote.
const annotated = (html, tex) => {
  const open = '<annotation encoding="application/x-tex">';
  const start = html.indexOf(open) + open.length;
  const end = html.indexOf("</annotation>", start);
  return html.slice(0, start) + plain(tex) + html.slice(end);
};

globalThis.version = () => JSON.stringify(katex.version);

// Trees of the page whose formulas are typeset now, for the marks that are asked for next. Each is given out once: marks
// change it.
const trees = new Map();
const nameOf = ({tex, display, macros}) => JSON.stringify([tex, display, macros]);
const MOST = 2000;

globalThis.typeset = (json) => {
  const request = JSON.parse(json);
  try {
    const html = annotated(katex.renderToString(request.tex, settings(request)), request.source);
    if (request.keep && latest && trees.size < MOST) trees.set(nameOf(request), latest);
    return JSON.stringify({html});
  } catch (error) {
    return JSON.stringify(described(error, request));
  }
};

// ---- marks ----
//
// What stands in several formulas of a page is found in KaTeX's parse trees, never in the text: there `x_k`, `x_{k}`
// and a macro that stands for them are one thing. Marked nodes are wrapped in nodes of the type that `\htmlData` makes.

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
const isTrivial = (node) => ["atom", "text", "rule", "delimsizing", "tag", "color", "styling", "sizing"].includes(node.type) || breaks(node)
  || (node.type === "textord" && !isName(node))
  || (node.type === "ordgroup" && node.body.every(isTrivial));

// Goes through a tree. `look` is asked about each list of siblings that form a whole, and about each node; `symbols`
// says whether a symbol may be found there. What it answers is called with the node and gives what takes its place.
const walk = (look) => {
  const list = (nodes, symbols, whole) => look.list(nodes, symbols, whole);
  const within = (node, symbols) => {
    if (!node) return;
    for (const slot of LISTS[node.type] ?? []) node[slot] = list(node[slot], symbols, node.type !== "styling");
    for (const slot of SLOTS[node.type] ?? []) if (node[slot]) node[slot] = single(node[slot], symbols);
    if (node.type === "array") for (const row of node.body) for (const cell of row) within(cell, symbols);
    if (node.type === "supsub") scripts(node, symbols);
  };
  const single = (node, symbols) => {
    if (node.type === "ordgroup") { within(node, symbols); return node; }
    const [made, ...more] = list([node], symbols, false);
    return more.length ? node : made;
  };
  const scripts = (node, symbols) => {
    const base = unbraced(node.base);
    // The base itself is never wrapped: its scripts are placed by what it is.
    if (base && !isLetter(base) && !["text", "operatorname", "op"].includes(base.type)) within(base, symbols);
    const own = isLetter(base);
    const power = symbols && (!own || letterOf(base) === "e");
    if (node.sub) node.sub = single(node.sub, symbols && !own);
    if (node.sup) node.sup = single(node.sup, power);
  };
  return {list, within};
};

// Counts what stands in the trees, then wraps what stands there more than once, and the symbols.
const marker = (symbols, id) => {
  const {named, run} = matcher(symbols, id);
  const counts = new Map(), numbers = new Map(), places = symbols.map(() => 0);
  const count = (key, times) => counts.set(key, (counts.get(key) ?? 0) + times);
  const key = (nodes) => "run:" + nodes.map(id).join();
  const isWhole = (nodes, whole) => whole && nodes.filter((node) => !isTrivial(node)).length > 1;

  // The spans of siblings that are a symbol: [first, behind the last, number].
  const spans = (nodes, allowed) => {
    const found = [];
    for (let at = 0; allowed && at < nodes.length; at++) {
      const several = run(nodes, at);
      const number = several ? several[0] : named(nodes[at]);
      if (number === undefined) continue;
      found.push([at, at + (several ? several[1] : 1), number]);
      at = found.at(-1)[1] - 1;
    }
    return found;
  };
  let wraps = 0;
  const wrap = (node, attributes) => {
    wraps += 1;
    return {type: "html", mode: node.mode, attributes, body: [node]};
  };
  const wrapAll = (nodes, name, value) => {
    let first = true;
    return nodes.map((node) => {
      if (breaks(node)) return node;
      const attributes = first ? {[name]: value} : {[name]: value, "data-c": ""};
      first = false;
      return wrap(node, attributes);
    });
  };
  const number = (key) => {
    if (counts.get(key) < 2) return undefined;
    if (!numbers.has(key)) numbers.set(key, String(numbers.size + 1));
    return numbers.get(key);
  };

  const counting = (times) => {
    const look = {
      list(nodes, allowed, whole) {
        if (isWhole(nodes, whole)) count(key(nodes), times);
        const taken = spans(nodes, allowed);
        for (const [, , number] of taken) places[number] += times;
        nodes.forEach((node, at) => {
          const symbol = taken.some(([from, to]) => from <= at && at < to);
          if (!symbol && !isTrivial(node) && node.type !== "ordgroup") count(id(node), times);
          walker.within(node, allowed && !symbol);
        });
        return nodes;
      },
    };
    const walker = walk(look);
    return walker;
  };

  const wrapping = () => {
    const look = {
      list(nodes, allowed, whole) {
        const taken = spans(nodes, allowed);
        const own = isWhole(nodes, whole) ? number(key(nodes)) : undefined;
        const keys = nodes.map((node) => isTrivial(node) || node.type === "ordgroup" ? undefined : number(id(node)));
        const done = nodes.map((node, at) => {
          const symbol = taken.find(([from, to]) => from <= at && at < to);
          walker.within(node, allowed && !symbol);
          if (symbol) {
            if (breaks(node)) return node;
            return wrap(node, at === symbol[0] ? {"data-s": String(symbol[2] + 1)} : {"data-s": String(symbol[2] + 1), "data-c": ""});
          }
          return keys[at] === undefined ? node : wrap(node, {"data-e": keys[at]});
        });
        return own === undefined ? done : wrapAll(done, "data-e", own);
      },
    };
    const walker = walk(look);
    return walker;
  };
  return {counting, wrapping, places, wraps: () => wraps};
};

const parsed = (tex, request) => {
  try {
    return katex.__parse(tex, settings(request));
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    return null;
  }
};

// Of each formula of a page, the HTML with marks in it, or null where it has none or cannot be had; and how often each symbol occurs.
globalThis.mark = (json) => {
  const request = JSON.parse(json);
  const formulas = request.formulas.map((formula) => ({...request, ...formula}));
  const bodies = formulas.map((formula) => {
    const name = nameOf(formula), known = trees.get(name);
    trees.delete(name);
    return known ?? parsed(formula.tex, formula);
  });
  trees.clear();
  const id = identity();
  const {counting, wrapping, places, wraps} = marker(request.symbols.map((tex) => parsed(tex, {...request, display: true})), id);
  bodies.forEach((body, at) => body && counting(formulas[at].count).list(body, true, true));
  const html = bodies.map((body, at) => {
    if (!body) return null;
    try {
      const before = wraps();
      given = wrapping().list(body, true, true);
      if (wraps() === before) return null;
      return katex.renderToString("", {...settings(formulas[at]), output: "html"});
    } catch (error) {
      if (!(error instanceof Error) || /call stack|out of memory|interrupted/.test(error.message)) throw error;
      return null;
    } finally {
      given = null;
    }
  });
  return JSON.stringify({html, places});
};
