// Symbols: pointing lights all places of one, pressing holds them. Pressing anything that the page has twice, an
// expression or an identifier, shows its other places. Only colours change, so no line can move.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const box = document.querySelector(".lit");
  if (!box) return;
  const named = box.querySelector(".named"), extent = box.querySelector(".extent");
  const count = box.querySelector(".count");
  const LIGHT = 80, END = 160;            // a pause, so that a pointer on its way lights nothing
  // What is lit: the attribute of its marks and their value, or "w" and a word of the code.
  let lit = null, held = false, places = [], at = -1, wait, pressed;

  const same = (a, b) => a?.[0] === b?.[0] && a?.[1] === b?.[1];
  const marks = ([kind, value]) => all(`main :is(.note, pre) [data-${kind}="${value}"]`);
  const entry = ([kind, value]) => kind === "s" && document.querySelector(`.legend [data-s="${value}"]`);
  const element = place => place instanceof Range ? place.startContainer.parentElement : place;
  const highlight = (name, ranges) => CSS.highlights?.set(name, new Highlight(...ranges));

  // ---- identifiers: no marks stand in the page for them, they are painted over it ----
  const PART = "[\\p{L}\\p{N}_]";
  const SILENT = ".src :is(.g, .c, .k, .m), .ps, .out, .katex, .lit";
  function words(word) {
    const whole = new RegExp(`(?<!${PART})${word}(?!${PART})`, "gu"), found = [];
    for (const code of all("main :is(.src, .note code)")) {
      const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      for (let text; (text = texts.nextNode());) {
        if (!text.data.includes(word) || text.parentElement.closest(SILENT)) continue;
        for (const { index } of text.data.matchAll(whole)) {
          const range = new Range();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          found.push(range);
        }
      }
    }
    return found;
  }
  function wordAt({ clientX: x, clientY: y }) {
    const caret = document.caretPositionFromPoint?.(x, y), old = caret ? null : document.caretRangeFromPoint?.(x, y);
    const text = caret?.offsetNode ?? old?.startContainer, offset = caret?.offset ?? old?.startOffset;
    if (text?.nodeType !== Node.TEXT_NODE || !CSS.highlights) return null;
    const parent = text.parentElement;
    if (!parent.closest("main :is(.src, .note code)") || parent.closest(SILENT)) return null;
    const word = [...text.data.matchAll(new RegExp(`[\\p{L}_]${PART}*`, "gu"))].find(({ index, 0: found }) => index <= offset && offset <= index + found.length);
    if (!word || (word[0] === "self")) return null;
    const range = new Range();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    const inside = [...range.getClientRects()].some(r => r.left <= x && x <= r.right && r.top <= y && y <= r.bottom);
    return inside ? ["w", word[0]] : null;
  }

  // ---- lighting ----
  function light(what) {
    clearTimeout(wait);
    if (same(what, lit) && what) return;
    for (const one of all(".alight, .nearest, .bears")) one.classList.remove("alight", "nearest", "bears");
    CSS.highlights?.delete("places");
    CSS.highlights?.delete("place");
    lit = what;
    at = -1;
    root.classList.toggle("lighting", !!what);
    box.hidden = !what;
    box.classList.toggle("stays", !!what && held);
    if (!what) return;
    const found = what[0] === "w" ? words(what[1]) : marks(what);
    if (what[0] === "w") highlight("places", found);
    else for (const one of found) one.classList.add("alight");
    for (const one of found) element(one).closest(".line")?.classList.add("bears");
    // A mark that goes on from its neighbour is no place of its own.
    places = found.filter(one => one instanceof Range || !one.hasAttribute("data-c"));
    name(what, found);
    tell();
  }
  function name(what, found) {
    const legend = entry(what);
    if (legend) legend.classList.add("alight");
    box.removeAttribute("data-s");
    if (what[0] === "s") box.dataset.s = what[1];
    extent.textContent = legend ? legend.querySelector(".extent")?.textContent ?? "" : "";
    if (legend) named.replaceChildren(...all(":scope > .symbol, :scope > .holders", legend).map(part => part.cloneNode(true)));
    else if (what[0] === "w") named.textContent = what[1];
    else {
      // The first of the places is enough to show it: its mark, and those that go on from it.
      const math = document.createElement("span"), run = found.slice(0, (found.findIndex((one, index) => index && !one.hasAttribute("data-c")) + 1 || found.length + 1) - 1);
      math.className = "katex";
      math.setAttribute("aria-hidden", "true");
      math.append(...run.map(one => one.cloneNode(true)));
      named.replaceChildren(math);
    }
    for (const one of all(".alight", named)) one.classList.remove("alight");
  }
  // Not by scrollIntoView: that also shifts a formula inside of its own box, by what little it overflows.
  function show(place) {
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
    const wide = element(place).closest(".eq, pre, table"), box = place.getBoundingClientRect();
    if (wide) {
      const frame = wide.getBoundingClientRect();
      if (box.left < frame.left || box.right > frame.right) wide.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
    }
    scrollBy({ top: (box.top + box.bottom - innerHeight) / 2, behavior });
  }
  const tell = () => { count.textContent = at < 0 ? places.length : `${at + 1}/${places.length}`; };
  function hold(what) {
    held = !!what;
    if (same(what, lit)) box.classList.toggle("stays", held);
    light(what);
    for (const button of all(".legend .entry")) button.setAttribute("aria-pressed", same(what, ["s", button.dataset.s]));
  }
  function turn(step) {
    if (!places.length) return;
    if (at < 0) {
      const first = places.findIndex(place => place.getBoundingClientRect().top > innerHeight / 3);
      at = (first < 0 ? places.length : first) - (step > 0 ? 1 : 0);
    }
    at = (at + step + places.length) % places.length;
    const place = places[at];
    for (const one of all(".nearest")) one.classList.remove("nearest");
    if (place instanceof Range) highlight("place", [place]); else place.classList.add("nearest");
    show(place);
    tell();
  }

  // ---- pointing, pressing, keys ----
  const symbol = target => {
    const found = target.closest?.("main [data-s], .legend [data-s]") ?? (target.matches?.("main a") ? target.querySelector("[data-s]") : null);
    return found && !found.closest(".toc") ? ["s", found.dataset.s] : null;
  };
  document.addEventListener("pointerover", event => {
    if (event.pointerType === "touch" || held) return;
    const what = symbol(event.target);
    clearTimeout(wait);
    if (!same(what, lit)) wait = setTimeout(() => light(what), what ? LIGHT : END);
  });
  document.addEventListener("focusin", event => {
    const what = symbol(event.target);
    if (what && !held) light(what);
  });
  document.addEventListener("focusout", event => {
    if (lit && !held && symbol(event.target)) wait = setTimeout(() => light(null), END);
  });
  document.addEventListener("pointerdown", event => { pressed = event; });
  const BUSY = "a[href], button:not(.entry), summary, input, select, textarea, label, dialog, [popover]";
  document.addEventListener("click", event => {
    const step = event.target.closest(".lit [data-turn]")?.dataset.turn;
    if (step) return +step ? turn(+step) : hold(null);
    if (event.target.closest(".lit") || event.target.closest(BUSY) || event.defaultPrevented) return undefined;
    // Whoever drags selects.
    if (event.detail && (!getSelection().isCollapsed || Math.hypot(event.clientX - pressed?.clientX, event.clientY - pressed?.clientY) > 4)) return undefined;
    return hold(chosen(event));
  });
  function chosen(event) {
    // The symbol or the innermost expression first; pressed again, the next one around it.
    const around = [], inner = symbol(event.target) && "[data-s]";
    for (let mark = event.target.closest(`main ${inner || "[data-e]"}`); mark; mark = mark.parentElement.closest("main [data-e]")) {
      around.push("s" in mark.dataset ? ["s", mark.dataset.s] : ["e", mark.dataset.e]);
    }
    if (around.length) return around[held ? around.findIndex(one => same(one, lit)) + 1 : 0] ?? null;
    const word = wordAt(event);
    return word && !(held && same(word, lit)) && words(word[1]).length > 1 ? word : null;
  }
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && lit) hold(null);
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !held || !event.target.closest(".entry, .lit")) return;
    event.preventDefault();
    turn(step);
  });

  // ---- once, and again when `serve` has put a new page in the place of the old ----
  function take() {
    hold(null);
    for (const plain of all(".legend span.entry")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = plain.className;
      button.dataset.s = plain.dataset.s;
      button.setAttribute("aria-pressed", "false");
      button.append(...plain.childNodes);
      plain.replaceWith(button);
    }
  }
  take();
  document.addEventListener("page:changed", take);
})();
