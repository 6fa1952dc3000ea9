// Search over the text of all sections. The index is a script, so that it loads from a folder too. Pages that the
// reader's language lacks are found in the index of the source's language.
(() => {
  const dialog = document.querySelector("#search"), input = dialog.querySelector("input");
  const list = dialog.querySelector("ol"), tally = dialog.querySelector(".tally");
  const MOST = 40;
  const counted = JSON.parse(dialog.dataset.count), plural = new Intl.PluralRules(document.documentElement.lang.replaceAll("_", "-"));
  const { index, home, rest, root, lang } = dialog.dataset;
  let sections, loading, hits = [], at = -1;

  // Full-width letters, case and composed accents are one to a reader; the length must not change, for the marks' sake.
  const fold = text => {
    const folded = text.normalize("NFKC").toLowerCase();
    return folded.length === text.length ? folded : text.toLowerCase().length === text.length ? text.toLowerCase() : text;
  };

  window.searchIndex = pages => {
    const known = new Set(sections?.map(section => section.file));
    const base = sections ? root : home.replace(/index\.html$/, ""), spoken = sections ? lang : "";
    const found = pages.filter(([file]) => !known.has(file)).flatMap(([file, page, parts]) => parts.map(([anchor, title, names, text], order) => ({
      url: base + file + (anchor ? "#" + encodeURIComponent(anchor) : ""),
      file, page, title, names, text, order, lang: spoken,
      heading: fold(anchor ? title : page), name: fold(names), body: fold(text),
    })));
    sections = [...sections ?? [], ...found];
  };

  const fetched = source => new Promise((done, lost) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = done;
    script.onerror = lost;
    document.head.append(script);
  });
  async function all() {
    try { await fetched(index); } catch (lost) { loading = undefined; throw lost; }
    if (rest) await fetched(rest).catch(() => {});
  }
  const load = () => loading ??= all();

  // Whole names before beginnings, beginnings before parts; titles before names before text.
  const whole = (text, word) => (" " + text.replace(/[^\p{L}\p{N}_]+/gu, " ") + " ").includes(" " + word + " ");
  function score(section, word) {
    const { heading, name, body } = section;
    const inName = name.includes(word), inHeading = heading.includes(word), count = body.split(word, 6).length - 1;
    if (!inName && !inHeading && !count) return 0;
    let points = Math.min(count, 5);
    if (inHeading) points += whole(heading, word) ? 40 : 20;
    if (inName) {
      const scope = name.split(" ", 1)[0], parts = scope.split(".");
      points += scope === word ? 90 : parts.at(-1) === word ? 60 : parts.includes(word) ? 25 : whole(name, word) ? 12 : 4;
    }
    if (section.order === 0 && inHeading) points += 15;
    return points;
  }

  function find(words) {
    const found = [];
    for (const section of sections) {
      let sum = 0;
      for (const word of words) {
        const points = score(section, word);
        if (!points) { sum = 0; break; }
        sum += points;
      }
      if (sum) found.push([sum, section]);
    }
    return found.sort((a, b) => b[0] - a[0]).map(pair => pair[1]);
  }

  // The text round the first word that occurs, with every word marked.
  function snippet(section, words) {
    const { text, body } = section, line = document.createElement("p");
    const first = Math.min(...words.map(word => body.indexOf(word)).filter(place => place >= 0));
    const start = Number.isFinite(first) ? Math.max(0, first - 40) : 0;
    const end = Math.min(text.length, start + 160);
    mark(line, (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : ""), words);
    return line;
  }
  function mark(element, text, words) {
    const folded = fold(text);
    let from = 0;
    while (from < text.length) {
      const places = words.map(word => [folded.indexOf(word, from), word.length]).filter(place => place[0] >= 0);
      if (!places.length) break;
      const [place, length] = places.reduce((a, b) => (b[0] < a[0] || (b[0] === a[0] && b[1] > a[1]) ? b : a));
      const lit = document.createElement("mark");
      lit.textContent = text.slice(place, place + length);
      element.append(text.slice(from, place), lit);
      from = place + length;
    }
    element.append(text.slice(from));
  }

  function show() {
    const words = [...new Set(fold(input.value).split(/\s+/).filter(Boolean))];
    hits = words.length && sections ? find(words) : [];
    list.replaceChildren(...hits.slice(0, MOST).map((section, index) => {
      const item = document.createElement("li"), link = document.createElement("a");
      const title = document.createElement("span"), name = document.createElement("code"), page = document.createElement("span");
      item.id = `found-${index}`;
      item.setAttribute("role", "option");
      link.href = section.url;
      if (section.lang) link.lang = section.lang;
      link.tabIndex = -1;
      title.className = "title";
      name.className = "name";
      page.className = "page";
      const scope = section.names.split(" ", 1)[0];
      // Code without a heading, outside any definition, is known by its page.
      const heading = section.title || (scope && section.order ? "" : section.page);
      mark(title, heading, words);
      mark(name, scope, words);
      page.textContent = section.order && heading !== section.page ? section.page : "";
      link.append(...[title, name, page].filter(part => part.textContent));
      if (section.text) link.append(snippet(section, words));
      item.append(link);
      return item;
    }));
    tally.textContent = !words.length ? "" : !hits.length ? dialog.dataset.none
      : (counted[plural.select(hits.length)] ?? counted.other).replace("{shown}", Math.min(hits.length, MOST)).replace("{all}", hits.length);
    input.setAttribute("aria-expanded", String(hits.length > 0));
    choose(hits.length ? 0 : -1);
  }

  function choose(index) {
    const items = list.children;
    items[at]?.removeAttribute("aria-selected");
    at = index;
    const item = items[at];
    if (!item) return input.removeAttribute("aria-activedescendant");
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", item.id);
  }

  document.querySelector("#search-open").addEventListener("click", async () => {
    dialog.showModal();
    input.select();
    try { await load(); show(); } catch { tally.textContent = dialog.dataset.lost; }
  });
  input.addEventListener("input", show);
  dialog.addEventListener("keydown", event => {
    const count = list.children.length;
    if (event.isComposing) return;
    if (event.key === "Escape") {   // a search field would only empty itself
      event.preventDefault();
      dialog.close();
    }
    if (!count) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose((at + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
      event.preventDefault();
    } else if (event.key === "Enter" && event.target === input) {
      event.preventDefault();
      list.children[at]?.querySelector("a").click();
    }
  });
  dialog.addEventListener("click", event => {
    if (event.target === dialog || event.target.closest("a")) dialog.close();
  });
})();
