// KaTeX's elements: from which node of the parse tree each was made, and which letters became one.
//
// Loaded after `engine.js`.

const {Span, SymbolNode} = katex.__domTree;

// What was made of a text is made once.
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

// ---- who makes elements

// KaTeX keeps the functions that make elements to itself, by the types of the nodes that they take. But it calls each as
// a method of that table, so one that is put there sees the others.
let makers = null;
katex.__defineFunction({type: "makers", names: [], htmlBuilder() { makers = this; return new Span(); }});
built([{type: "makers", mode: "math"}], {});
delete makers.makers;

// ---- letters and signs, made once
//
// Most of what KaTeX does for a formula is to find out what a letter looks like. The same letter always looks the same in one
// font, size and colour, so it is copied.

// The nodes that stand for one sign, and what they have to have in common to be alike.
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

const LIKE = Symbol("like");
const looks = kept(() => new Map());
// The signs that were made with options like these.
const signsOf = (options) => options[LIKE] ??= looks([
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

// ---- which node became which element

// No key that a walk through the tree comes upon: two nodes stay equal, whatever was made of them.
const MADE = Symbol("made"), OPTIONS = Symbol("options");

for (const type of Object.keys(makers)) {
  const make = LEAVES.has(type) ? copied(makers[type]) : makers[type];
  makers[type] = (node, options) => {
    const made = make(node, options);
    node[MADE] = made;
    node[OPTIONS] = options;
    // The spaces that KaTeX adds afterwards come from no node.
    made.hasNode = true;
    return made;
  };
}

// Neighbours of one style become a single element: the first is given the text of the next, which is then dropped.
// A mark may have to come between them again, so it is noted who took whom.
let read = null;
Object.defineProperty(SymbolNode.prototype, "text", {
  get() {
    read = this;
    return this.letters;
  },
  set(letters) {
    if (read && read !== this && this.letters !== undefined && letters === this.letters + read.letters) {
      this.own ??= this.letters;
      (this.taken ??= []).push(read);
    }
    this.letters = letters;
  },
});
