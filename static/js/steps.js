// One recorded call, statement by statement. The record is a script, loaded when a reader first asks for it.
(() => {
  const root = document.documentElement, panel = document.querySelector("#steps");
  if (!panel) return;
  const words = panel.dataset;
  const one = selector => panel.querySelector(selector);
  const slider = one("input"), back = one(".back"), on = one(".on"), values = one(".values"), status = one("[role=status]");
  let data, loading, walk, at = 0, opener = null, lit = [], saying;

  const make = (tag, name, ...inside) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...inside);
    return element;
  };
  const filled = (text, parts) => text.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);

  // ---- the record ----
  window.stepThrough = found => { data = found; };
  const load = () => loading ??= new Promise((done, lost) => {
    const script = make("script");
    script.src = words.file;
    script.onload = done;
    script.onerror = () => { loading = undefined; script.remove(); lost(); };
    document.head.append(script);
  });

  // ---- values ----
  const minus = text => text.replaceAll("-", "−");
  const shape = value => `[${value.shape.map((size, axis) => value.axes?.[axis] || size).join(", ")}]`;
  const sizes = value => value.axes ? value.shape.join(" × ") : "";
  const kind = value => [value.type, value.dtype, value.device].filter(Boolean).join(" ");

  // A member of a sequence or mapping, or any value in a few words.
  function brief(value) {
    if (value.shape) return `${shape(value)} ${kind(value)}`;
    if (value.size !== undefined && !value.items) return `${value.type} (${value.size})`;
    if (!value.items) return value.text ? minus(value.text) : value.type ?? "None";
    const items = value.items.map((item, index) => (value.names?.[index] ? value.names[index] + ": " : "") + brief(data.values[item]));
    if (value.size > items.length) items.push("…");
    return value.type === "tuple" ? `(${items.join(", ")})` : value.kind === "mapping" ? `{${items.join(", ")}}` : `[${items.join(", ")}]`;
  }

  // The tint says how large a number is beside the largest, its hue on which side of zero; the sign is written as well.
  function heat(element, number, most) {
    const share = Math.abs(Number(number)) / most;
    if (share > 0 && Number.isFinite(share)) {
      element.style.setProperty("--heat", `${Math.round(share * 100)}%`);
      element.classList.add("hot");
      if (Number(number) < 0) element.classList.add("below");
    }
    element.textContent = minus(number);
    return element;
  }

  function matrix(numbers, columns, most, caption) {
    const table = make("table", "grid"), head = make("tr", "", make("td"));
    if (caption) table.append(make("caption", "", caption));
    for (let column = 0; column < columns; column++) {
      const cell = make("th", "", String(column));
      cell.scope = "col";
      head.append(cell);
    }
    const body = make("tbody");
    for (let row = 0; row * columns < numbers.length; row++) {
      const name = make("th", "", String(row));
      name.scope = "row";
      body.append(make("tr", "", name, ...numbers.slice(row * columns, (row + 1) * columns).map(number => heat(make("td"), number, most))));
    }
    table.append(make("thead", "", head), body);
    return table;
  }

  // One axis is a row that wraps, two are a table, more are a table for each place on the leading ones. Axes of one
  // place take no part.
  function numbers(value) {
    const found = value.data.split(" "), most = Math.max(...found.map(number => Math.abs(Number(number))).filter(Number.isFinite), 0) || 1;
    const wide = value.shape.map((size, axis) => axis).filter(axis => value.shape[axis] > 1);
    if (!wide.length) return make("p", "alone", minus(found[0]));
    if (wide.length === 1) return make("ol", "row", ...found.map(number => heat(make("li"), number, most)));
    const [down, across] = wide.slice(-2), size = value.shape[down] * value.shape[across], slices = make("div", "slices");
    for (let start = 0; start < found.length; start += size) {
      const place = value.shape.map(() => 0);
      let rest = start / size;
      for (const axis of wide.slice(0, -2).reverse()) {
        place[axis] = rest % value.shape[axis];
        rest = Math.floor(rest / value.shape[axis]);
      }
      place[down] = place[across] = ":";
      slices.append(matrix(found.slice(start, start + size), value.shape[across], most, value.shape.length > 2 ? `[${place.join(", ")}]` : ""));
    }
    return slices;
  }

  // The four figures, and a line from the least to the greatest, thick one deviation to each side of the mean.
  function statistics(value) {
    const found = value.stats.split(" "), list = make("dl", "stats");
    ["least", "greatest", "mean", "deviation"].forEach((name, index) => list.append(make("div", "", make("dt", "", words[name]), make("dd", "", minus(found[index])))));
    const [least, greatest, mean, deviation] = found.map(Number), span = greatest - least;
    const all = make("div", "measured", list);
    if (span > 0 && Number.isFinite(span + mean + deviation)) {
      const place = number => `${Math.min(100, Math.max(0, (number - least) / span * 100)).toFixed(1)}%`;
      const line = make("div", "range", make("i", "usual"), make("i", "mean"));
      line.style.setProperty("--from", place(mean - deviation));
      line.style.setProperty("--to", place(mean + deviation));
      line.style.setProperty("--mean", place(mean));
      line.setAttribute("aria-hidden", "true");
      all.append(line);
    }
    return all;
  }

  function shown(name, value, result) {
    const head = make("p", "given", make(result ? "span" : "code", result ? "result" : "var", name)), block = make("div", "value", head);
    if (!value.shape) {
      head.append(" ", make("code", "brief", brief(value)));
      return block;
    }
    head.append(" ", make("code", "shape", shape(value)));
    if (sizes(value)) head.append(" ", make("span", "lengths", sizes(value)));
    if (kind(value)) head.append(" ", make("span", "kind", kind(value)));
    if (value.data) {
      const held = make("div", "held", numbers(value));
      held.setAttribute("role", "group");
      held.setAttribute("aria-label", filled(words.numbers, { name }));
      block.append(held);
    } else if (value.stats) block.append(statistics(value));
    else if (value.names) block.append(make("p", "columns", value.names.join(", ")));
    return block;
  }

  const spoken = (name, value) => `${name}: ${brief(value)}${value.stats ? `, ${words.mean} ${minus(value.stats.split(" ")[2])}` : ""}`;

  // ---- the page ----
  const lines = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => document.getElementById(`L${first + index}`)).filter(Boolean);
  // A statement on one line: no space within brackets, whose lines were broken there.
  const source = found => found.map(line => line.querySelector(".src").textContent.trim()).filter(Boolean)
    .reduce((all, text) => all + (!all || /[([{]$/.test(all) || /^[)\]}]/.test(text) ? "" : " ") + text, "");

  function light(first, last) {
    for (const line of lit) { line.classList.remove("at"); line.removeAttribute("aria-current"); }
    lit = first ? lines(first, last) : [];
    for (const line of lit) line.classList.add("at");
    if (!lit.length) return;
    lit[0].setAttribute("aria-current", "step");
    const top = document.querySelector(".bar").getBoundingClientRect().bottom, end = panel.getBoundingClientRect().top;
    if (lit[0].getBoundingClientRect().top >= top && lit.at(-1).getBoundingClientRect().bottom <= end) return;
    // Where it would stand if nothing stuck: scrolled there, nothing has to.
    root.classList.add("unstuck");
    const { top: place } = lit[0].getBoundingClientRect();
    root.classList.remove("unstuck");
    scrollBy({ top: place - top - (end - top) / 3, behavior: "instant" });
  }

  function show(step) {
    const { steps } = walk, all = steps.length;
    at = Math.min(Math.max(step, 0), all);
    const [first, last, round, written] = at ? steps[at - 1] : [...walk.lines, "", walk.arguments ?? []];
    const nth = filled(words.step, { n: at, all }), lap = round === "end" ? words.end : round ? filled(words.round, { n: round }) : "";
    const where = at ? [nth, lap].filter(Boolean).join(" · ") : `${nth} · ${words.begin}`;
    const entries = written.map(([name, index]) => [name, data.values[index], false]);
    if (at === all && walk.result !== undefined) entries.push([words.result, data.values[walk.result], true]);
    slider.max = all;
    slider.value = at;
    slider.setAttribute("aria-valuetext", where);
    back.setAttribute("aria-disabled", String(at === 0));
    on.setAttribute("aria-disabled", String(at === all));
    one(".fn").replaceChildren(...walk.name.split(/(?<=[._])/).flatMap(part => [part, make("wbr")]));
    one(".nth").textContent = where;
    const code = at || !walk.call ? source(lines(first, last)) : `>>> ${walk.call}`;
    const number = one(".num");
    number.hidden = !at && Boolean(walk.call);
    number.textContent = first;
    number.href = `#L${first}`;
    one(".stmt code").textContent = code;
    const empty = make("p", "empty", at ? words.nothing : words.none);
    values.replaceChildren(...(entries.length ? entries.map(entry => shown(...entry)) : [empty]));
    one(".more").textContent = at === all && walk.cut ? words.cut : "";
    one(".reading").scrollTop = 0;
    dock();
    light(first, last);
    clearTimeout(saying);
    const sentence = [code, ...(entries.length ? entries.map(([name, value]) => spoken(name, value)) : [empty.textContent])].join("; ");
    saying = setTimeout(() => { status.textContent = sentence; }, 120);
  }

  // What the panel covers, the page gets below its end. What scrolls sideways in it can be reached by keyboard.
  function dock() {
    root.style.setProperty("--dock", `${panel.offsetHeight}px`);
    for (const held of values.querySelectorAll(".held")) {
      if (held.scrollWidth > held.clientWidth + 1) held.tabIndex = 0; else held.removeAttribute("tabindex");
    }
  }
  new ResizeObserver(() => panel.hidden || dock()).observe(panel);

  function message(text) {
    walk = null;
    light();
    panel.classList.add("mute");
    one(".fn").textContent = one(".nth").textContent = one(".more").textContent = "";
    values.replaceChildren(make("p", "empty", text));
    status.textContent = text;
  }

  async function open(button) {
    opener?.setAttribute("aria-expanded", "false");
    opener = button;
    button.setAttribute("aria-expanded", "true");
    panel.hidden = false;
    root.classList.add("stepping");
    const lost = await load().then(() => false, () => true);
    if (opener !== button) return;   // closed meanwhile, or another was asked for
    walk = data?.walks?.find(each => each.function === Number(button.dataset.walk));
    if (!walk) {
      message(lost ? words.lost : words.left);
      return one(".shut").focus();
    }
    panel.classList.remove("mute");
    show(0);
    slider.focus({ preventScroll: true });
  }

  function close() {
    const from = opener;
    opener = walk = null;
    panel.hidden = true;
    clearTimeout(saying);
    status.textContent = "";
    root.classList.remove("stepping");
    root.style.removeProperty("--dock");
    light();
    from?.setAttribute("aria-expanded", "false");
    from?.focus({ preventScroll: true });
  }

  document.addEventListener("click", event => {
    const button = event.target.closest("[data-walk]");
    if (button) button === opener ? close() : open(button);
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  back.addEventListener("click", () => walk && show(at - 1));
  on.addEventListener("click", () => walk && show(at + 1));
  one(".shut").addEventListener("click", close);
  document.addEventListener("keydown", event => {
    if (panel.hidden || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Escape") {
      if (!document.querySelector("dialog[open], :popover-open")) close();
      return;
    }
    // The slider knows the keys itself; whatever scrolls sideways needs them.
    const { target } = event, free = target === document.body || target.id === "top" || target === opener || panel.contains(target);
    if (!walk || !free || target === slider || target.closest(".held")) return;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1 }[event.key] ?? (panel.contains(target) ? { Home: 0, End: walk.steps.length }[event.key] : undefined);
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  // `serve` tells which files are others now. A walk that is still what it was stays open, where it was.
  document.addEventListener("page:changed", ({ detail }) => {
    const path = new URL(words.file, location).pathname;
    const button = walk && [...document.querySelectorAll("[data-walk]")].find(each => Number(each.dataset.walk) === walk.function);
    if (button && !detail?.some(url => path.endsWith(`/${url}`))) {
      opener = button;
      button.setAttribute("aria-expanded", "true");
      return show(at);
    }
    opener = null;
    close();
    data = loading = undefined;
  });
})();
