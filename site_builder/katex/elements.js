// KaTeX's elements: from which node of the parse tree each was made, and the text that they are written as.
//
// Loaded after `engine.js`.

const {Span, SymbolNode} = katex.__domTree;

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

// ---- which node became which element

// KaTeX keeps the functions that make elements to itself, by the types of the nodes that they take. But it calls each as
// a method of that table, so one that is put there sees the others.
let makers = null;
katex.__defineFunction({type: "makers", names: [], htmlBuilder() { makers = this; return new Span(); }});
built([{type: "makers", mode: "math"}], {});
delete makers.makers;

// No key that a walk through the tree comes upon: two nodes stay equal, whatever was made of them.
const MADE = Symbol("made"), OPTIONS = Symbol("options");

// ---- letters and signs, made once
//
// Most of what KaTeX does for a formula is to find out what a letter looks like. The same letter always looks the same in one
// font, size and colour, so it is copied.

// What nodes are alike that stand for one sign.
const LEAVES = new Set(["mathord", "textord", "atom"]);
const sign = ({type, mode, family, text}) => type + " " + mode + " " + family + " " + text;

function Copy(symbol) {
  this.letters = symbol.letters;
  this.height = symbol.height;
  this.depth = symbol.depth;
  this.italic = symbol.italic;
  this.skew = symbol.skew;
  this.width = symbol.width;
  this.maxFontSize = symbol.maxFontSize;
  this.classes = symbol.classes.slice();
  this.style = symbol.style.color ? {color: symbol.style.color} : {};
}
Copy.prototype = SymbolNode.prototype;

const SIGNS_AS = Symbol("signs");
const looks = kept(() => new Map());
// The signs that were made with the same options.
const signsOf = (options) => options[SIGNS_AS] ??= looks([
  options.font, options.fontFamily, options.fontWeight, options.fontShape,
  options.sizeMultiplier, options.style.isTight(), options.getColor(),
].join());

const copied = (make) => (node, options) => {
  const signs = signsOf(options), key = sign(node), known = signs.get(key);
  if (known) return new Copy(known);
  const made = make(node, options);
  if (made instanceof SymbolNode && signs.size < 5000) signs.set(key, new Copy(made));
  return made;
};

for (const type of Object.keys(makers)) {
  const make = LEAVES.has(type) ? copied(makers[type]) : makers[type];
  makers[type] = (node, options) => {
    const made = make(node, options);
    node[MADE] = made;
    node[OPTIONS] = options;
    // The spaces that KaTeX adds afterwards come from no node.
    made.asked = true;
    return made;
  };
}

// Neighbours of one style become a single element: the first is given the text of the next, which is then dropped.
// A mark may have to come between them again, so it is noted who took whom.
let asked = null;
Object.defineProperty(SymbolNode.prototype, "text", {
  get() {
    asked = this;
    return this.letters;
  },
  set(letters) {
    if (this.letters !== undefined && asked !== this && letters === this.letters + asked.letters) {
      this.own ??= this.letters;
      (this.taken ??= []).push(asked);
    }
    this.letters = letters;
  },
});

// ---- text
//
// To the letter what KaTeX's own `toMarkup` makes, in a third of the time: there each class, style and letter is searched for
// what must be escaped, and most of them have been seen before.

const ENTITIES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", '"': "&quot;", "'": "&#x27;"};
const plain = (text) => String(text).replace(/[&><"']/g, (sign) => ENTITIES[sign]);
const escaped = kept(plain);
const property = kept((name) => name.replace(/([A-Z])/g, "-$1").toLowerCase() + ":");

const classNames = (classes) => {
  let names = "";
  for (let at = 0; at < classes.length; at++) if (classes[at]) names += names ? " " + classes[at] : classes[at];
  return escaped(names);
};

const styleOf = (node, italic) => {
  let style = italic > 0 ? "margin-right:" + +italic.toFixed(4) + "em;" : "";
  const names = Object.keys(node.style);
  for (let at = 0; at < names.length; at++) {
    const value = node.style[names[at]];
    if (value !== undefined) style += property(names[at]) + value + ";";
  }
  return style && ' style="' + escaped(style) + '"';
};

// Most elements have no attributes, and to look for some takes longer than to write the element.
Span.prototype.setAttribute = function (name, value) {
  this.attributes[name] = value;
  this.hasAttributes = true;
};

const attributesOf = (node) => {
  let html = "";
  const names = Object.keys(node.attributes);
  for (let at = 0; at < names.length; at++) html += " " + names[at] + '="' + escaped(node.attributes[names[at]]) + '"';
  return html;
};

Span.prototype.toMarkup = function () {
  let html = "<span";
  if (this.classes.length) html += ' class="' + classNames(this.classes) + '"';
  html += styleOf(this, 0);
  if (this.hasAttributes) html += attributesOf(this);
  return html + ">" + siblings(this.children) + "</span>";
};

const letters = (node, text, italic) => {
  const names = node.classes.length ? ' class="' + classNames(node.classes) + '"' : "";
  const style = styleOf(node, italic);
  return names || style ? "<span" + names + style + ">" + escaped(text) + "</span>" : escaped(text);
};

SymbolNode.prototype.toMarkup = function () {
  return letters(this, this.letters, this.italic);
};

const unmarked = (children) => {
  let html = "";
  for (let at = 0; at < children.length; at++) html += children[at].toMarkup();
  return html;
};
let siblings = unmarked;

// ---- MathML

// An element of MathML, the one that carries the TeX along, and the text in it.
const math = (root) => root.children[0].children[0];
const annotation = (element) => element.children[0].children[1].children[0];
const MathNode = math(katex.__renderToDomTree("", {})).constructor;
const TextNode = annotation(math(katex.__renderToDomTree("", {}))).constructor;

MathNode.prototype.toMarkup = function () {
  let html = "<" + this.type + attributesOf(this);
  if (this.classes.length) html += ' class ="' + classNames(this.classes) + '"';
  return html + ">" + unmarked(this.children) + "</" + this.type + ">";
};

TextNode.prototype.toMarkup = function () {
  return this.text.length < 20 ? escaped(this.text) : plain(this.text);
};

// ---- marks in the text
//
// A mark is written around elements that are siblings: nothing else changes, so nothing can move by it. Elements bear the
// tags of the marks that begin at them, how many those are, and how many marks end with them.

// A fragment is no element: what is in it stands for it.
const isFragment = (node) => node.children !== undefined && node.attributes === undefined;
const elementsOf = (made) => (isFragment(made) ? made.children.flatMap(elementsOf) : [made]);

const TAG = Symbol("tag");
// A mark has the classes and the colour that an element has which is made with these options.
const opening = (options) => {
  if (options[TAG] === undefined) {
    const colour = options.getColor();
    options[TAG] = '<span class="enclosing' + (options.style.isTight() ? ' mtight"' : '"')
      + (colour ? ' style="' + escaped("color:" + colour + ";") + '"' : "");
  }
  return options[TAG];
};

// Puts a mark around what was made of a node, and inside of the marks that are there.
const markAround = (node, attributes) => {
  const made = node[MADE];
  if (!made) return;
  let first = made, last = made;
  if (isFragment(made)) {
    const elements = elementsOf(made);
    if (!elements.length) return;
    [first, last] = [elements[0], elements.at(-1)];
  }
  first.begin = (first.begin ?? "") + opening(node[OPTIONS]) + attributes + ">";
  first.begun = (first.begun ?? 0) + 1;
  last.ended = (last.ended ?? 0) + 1;
};

// A symbol and those that it took, as far as no mark comes between them: [text, the first of them, the last].
const parts = (symbol) => {
  const found = [];
  const add = (one) => {
    const text = one.own ?? one.letters, last = found.at(-1);
    if (!last || last[2].ended || one.begin) found.push([text, one, one]);
    else {
      last[0] += text;
      last[2] = one;
    }
    one.taken?.forEach(add);
  };
  add(symbol);
  return found;
};

const misplaced = () => new katex.ParseError("A mark begins and ends among different siblings");

const marked = (children) => {
  let html = "", open = 0;
  // The space that KaTeX put behind an element belongs to its mark.
  const ended = (count, next) => {
    const space = next?.classes?.[0] === "mspace" && !next.asked;
    if (space) html += next.toMarkup();
    html += count === 1 ? "</span>" : "</span>".repeat(count);
    open -= count;
    if (open < 0) throw misplaced();
    return space;
  };
  for (let at = 0; at < children.length; at++) {
    const child = children[at];
    if (child.taken) {
      const pieces = parts(child), end = pieces.length - 1;
      pieces.forEach(([text, first, last], index) => {
        if (first.begin) html += first.begin, open += first.begun;
        // What KaTeX adds to the right of a slanted letter, it adds behind the last.
        html += letters(child, text, index === end ? child.italic : 0);
        if (last.ended && ended(last.ended, index === end ? children[at + 1] : null)) at += 1;
      });
      continue;
    }
    if (child.begin) html += child.begin, open += child.begun;
    html += isFragment(child) ? marked(child.children) : child.toMarkup();
    if (child.ended && ended(child.ended, children[at + 1])) at += 1;
  }
  if (open) throw misplaced();
  return html;
};

// The text of a tree of elements with the marks in it.
const withMarks = (root) => {
  siblings = marked;
  try {
    return root.toMarkup();
  } finally {
    siblings = unmarked;
  }
};
