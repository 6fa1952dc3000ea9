// From elements to text, with marks in it.
//
// Without marks it is to the letter what KaTeX's own `toMarkup` makes, in a third of the time: there each class, style and
// letter is searched for what must be escaped, and most of them have been seen before. Loaded after `elements.js`.

const ENTITIES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", '"': "&quot;", "'": "&#x27;"};
const plain = (text) => String(text).replace(/[&><"']/g, (sign) => ENTITIES[sign]);
const escaped = kept(plain);
const property = kept((name) => name.replace(/([A-Z])/g, "-$1").toLowerCase() + ":");

const classNames = (classes) => {
  let names = classes[0] || "";
  for (let at = 1; at < classes.length; at++) if (classes[at]) names += names ? " " + classes[at] : classes[at];
  return names;
};
// The beginning of the tag of an element with these classes.
const opened = kept((names) => '<span class="' + plain(names) + '"');

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
  const {classes} = this;
  let html = (classes.length ? opened(classNames(classes)) : "<span") + styleOf(this, 0);
  if (this.hasAttributes) html += attributesOf(this);
  return html + ">" + siblings(this.children) + "</span>";
};

const letters = (node, text, italic) => {
  const {classes} = node, style = styleOf(node, italic);
  if (!classes.length && !style) return escaped(text);
  return (classes.length ? opened(classNames(classes)) : "<span") + style + ">" + escaped(text) + "</span>";
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

// Of the elements of a formula, the MathML; and the text in it that carries the TeX along.
const math = (formula) => formula.children[0].children[0];
const annotation = (formula) => math(formula).children[0].children[1].children[0];

const nothing = katex.__renderToDomTree("", {});
const MathNode = math(nothing).constructor, TextNode = annotation(nothing).constructor;

MathNode.prototype.toMarkup = function () {
  let html = "<" + this.type + attributesOf(this);
  if (this.classes.length) html += ' class ="' + escaped(classNames(this.classes)) + '"';
  return html + ">" + unmarked(this.children) + "</" + this.type + ">";
};

TextNode.prototype.toMarkup = function () {
  return this.text.length < 20 ? escaped(this.text) : plain(this.text);
};

// ---- marks
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
    const space = next?.classes?.[0] === "mspace" && !next.hasNode;
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
