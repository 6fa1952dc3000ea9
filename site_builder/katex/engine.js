// The little that KaTeX needs around it to run without a browser. Loaded once into each context, after
// katex.min.js. Every function takes and answers JSON: a long string made by JavaScript is a rope, which the
// Python side cannot read, while JSON.stringify gives it in one piece.

// What would let an expression reach outside of itself. The handlers are replaced rather than distrusted: KaTeX
// prints a distrusted command in red, and we want an error with a place. The builder's own marks are
// written around KaTeX's elements, where no author can write.
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

// KaTeX parses and builds in one go. Marks need the tree between the two, and may have it already, so the parser's
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

// The elements of a parse tree, without MathML.
const built = (body, options) => {
  given = body;
  try {
    return katex.__renderToHTMLTree("", options);
  } finally {
    given = null;
  }
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

globalThis.version = () => JSON.stringify(katex.version);

// A block is wrapped once more.
const inner = (root, {display}) => (display ? root.children[0] : root);

// What was made of the formulas of a page that are typeset now, for the marks that are asked for next: tree and elements
// of each. There is a limit to how much is kept, in characters of HTML.
const trees = new Map();
const nameOf = ({tex, display, macros}) => JSON.stringify([tex, display, macros]);
const MOST = 4_000_000;
let most = MOST;

const keep = (request, body, root, size) => {
  if (size > most) return;
  most -= size;
  // The MathML is written, and marks are for the eye alone.
  inner(root, request).children.shift();
  trees.set(nameOf(request), {body, root});
};

// Each is given out once: marks change it.
const recalled = (request) => {
  const name = nameOf(request), known = trees.get(name);
  trees.delete(name);
  return known;
};

const forget = () => {
  trees.clear();
  most = MOST;
};

globalThis.typeset = (json) => {
  const request = JSON.parse(json);
  try {
    const root = katex.__renderToDomTree(request.tex, settings(request));
    // MathML carries the TeX along for those who copy it: they should get what the author wrote.
    annotation(inner(root, request)).text = request.source;
    const html = root.toMarkup();
    if (request.keep && latest) keep(request, latest, root, html.length);
    return JSON.stringify({html});
  } catch (error) {
    return JSON.stringify(described(error, request));
  }
};
