// Search over the text of all sections. The index is a script, so that it loads from a folder too. Pages that the
// reader's language lacks are found in the index of the source's language.
(() => {
  const dialog = document.querySelector("#search"), input = dialog.querySelector("input");
  const list = dialog.querySelector("ol"), tally = dialog.querySelector(".tally");
  const MOST = 40;
  const counted = JSON.parse(dialog.dataset.count), plural = new Intl.PluralRules(document.documentElement.lang.replaceAll("_", "-"));
  const { index, home, rest, root, lang } = dialog.dataset;
  let sections, loading, also, hits = [], at = -1;

  // Full-width letters, case and composed accents are one to a reader; the length must not change, for the marks' sake.
  const fold = text => {
    const folded = text.normalize("NFKC").toLowerCase();
    return folded.length === text.length ? folded : text.toLowerCase().length === text.length ? text.toLowerCase() : text;
  };

  // Of several packages the first is what readers come for, and prose is written for them wherever it stands. So the
  // code of later packages stands back.
  const LATER = .25;
  const packageOf = parts => parts[0][2].split(".", 1)[0];
  const isProse = parts => parts.every(([anchor, , names]) => !anchor || !names);
  let first;

  const TYPED = /\ufff9([^\ufffb]*)\ufffb/g;
  window.searchIndex = pages => {
    const known = new Set(sections?.map(section => section.file));
    const base = sections ? root : home.replace(/index\.html$/, ""), spoken = sections ? lang : "";
    // The index of the source's language comes last, and has all pages.
    if (pages.length) first = packageOf(pages[0][2]);
    // What is called otherwise in this language; `searchWords`, which comes next in the file, fills it.
    const mine = also = {};
    const found = pages.filter(([file]) => !known.has(file)).flatMap(([file, page, parts]) => {
      const owner = packageOf(parts), prose = isProse(parts);
      return parts.map(([anchor, title, names, text], order) => {
        const [scope] = names.split(" ", 1);
        return {
          url: base + file + (anchor ? "#" + encodeURIComponent(anchor) : ""),
          file, page, title, scope, order, owner, prose, also: mine, lang: spoken,
          // Formulas are searched as they were typed, and nobody wants to read that.
          text: text.replace(TYPED, "…"), body: fold(text.replace(TYPED, "$1")),
          heading: fold(anchor ? title : page), name: fold(names),
          // What the section is about by name: the module, or a definition that begins here.
          defined: !anchor || anchor === scope ? fold(scope) : "",
          pieces: scope.split(".").at(-1).replace(/(?<=[^A-Z_])(?=[A-Z])/g, "_").toLowerCase().split("_"),
        };
      });
    });
    sections = [...sections ?? [], ...found];
  };

  // For what a reader may type in another language, what the pages of the index say.
  window.searchWords = table => Object.assign(also, table);
  // The phrase as it is or in the singular, as far as the table has it.
  const meant = (table, phrase) =>
    [phrase, ...[["ies", "y"], ["es", ""], ["s", ""]].filter(([end]) => phrase.endsWith(end)).map(([end, by]) => phrase.slice(0, -end.length) + by)]
      .filter(form => Object.hasOwn(table, form)).flatMap(form => table[form].map(fold))
      // A word that is in the word sought would find no more.
      .filter(word => !phrase.includes(word));
  const LONGEST = 4;   // of a term, in words
  // Cuts what was typed into terms of the table, the longest first, and single words.
  function terms(words, table) {
    const found = [];
    for (let at = 0; at < words.length;) {
      let many = Math.min(words.length - at, LONGEST), others = [];
      while (many > 1 && !(others = meant(table, words.slice(at, at + many).join(" "))).length) many--;
      if (many === 1) others = meant(table, words[at]);
      found.push({ typed: words.slice(at, at + many), others });
      at += many;
    }
    return found;
  }

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

  // What a section is called comes before what it says, whole words before parts, and short headings before long ones.
  const whole = (text, word) => (" " + text.replace(/[^\p{L}\p{N}_]+/gu, " ") + " ").includes(" " + word + " ");
  const grade = (heading, word) => (whole(heading, word) ? 40 : 20) + 10 * word.length / heading.length;

  function named({ defined, pieces, name, order }, word) {
    const parts = defined.split(".");
    if (defined === word && order) return 90;
    if (("." + defined).endsWith("." + word)) return order ? 60 : 40;
    if (defined && pieces.includes(word)) return 25;
    return parts.includes(word) || whole(name, word) ? 12 : 4;
  }

  function score(section, word) {
    const inHeading = section.heading.includes(word), inName = section.name.includes(word);
    const called = Math.max(inHeading ? grade(section.heading, word) : 0, inName ? named(section, word) : 0);
    return called + Math.min(section.body.split(word, 6).length - 1, 5);
  }

  const OTHER = .8;
  function find(words) {
    const found = [], query = words.join(" "), cut = new Map();
    for (const section of sections) {
      const { heading, order, owner, prose, also } = section;
      if (!cut.has(also)) cut.set(also, terms(words, also));
      const sum = typed => { const each = typed.map(word => score(section, word)); return each.every(Boolean) ? each.reduce((a, b) => a + b) : 0; };
      // What was typed comes before what it is called elsewhere.
      const points = cut.get(also).map(({ typed, others }) => Math.max(sum(typed), ...others.map(word => OTHER * score(section, word))));
      if (!points.every(Boolean)) continue;
      const weight = prose || owner === first ? 1 : LATER;
      const title = heading === query ? 100 : words.length > 1 && heading.includes(query) ? 30 : 0;
      const opening = !order && words.some(word => heading.includes(word)) ? 25 : 0;
      found.push([weight * (points.reduce((a, b) => a + b) + title + opening), section]);
    }
    return found.sort((a, b) => b[0] - a[0]).map(pair => pair[1]);
  }

  // The text round the first word that occurs, with every word marked.
  function snippet(section, words) {
    const { text } = section, body = fold(text), line = document.createElement("p");
    const first = Math.min(...words.map(word => body.indexOf(word)).filter(place => place >= 0));
    let start = Number.isFinite(first) ? Math.max(0, first - 40) : 0, end = Math.min(text.length, start + 160);
    // Between words, where a blank is near: Chinese and Japanese have none.
    const after = text.indexOf(" ", start), before = text.lastIndexOf(" ", end);
    if (start && after >= 0 && after < Math.min(start + 30, first)) start = after + 1;
    if (end < text.length && before > end - 30) end = before;
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
    if (!sections) return;   // the index is still on its way: nothing can be said to be missing
    const words = [...new Set(fold(input.value).split(/\s+/).filter(Boolean))];
    hits = words.length ? find(words) : [];
    list.replaceChildren(...hits.slice(0, MOST).map((section, index) => {
      const lit = [...words, ...terms(words, section.also).flatMap(term => term.others)];
      const item = document.createElement("li"), link = document.createElement("a");
      const title = document.createElement("span"), name = document.createElement("code"), page = document.createElement("span");
      item.id = `found-${index}`;
      item.setAttribute("role", "option");
      link.href = section.url;
      if (section.lang) link.lang = link.hreflang = section.lang;
      link.tabIndex = -1;
      title.className = "title";
      name.className = "name";
      page.className = "page";
      const { scope } = section;
      // Code without a heading, outside any definition, is known by its page.
      const heading = section.title || (scope && section.order ? "" : section.page);
      mark(title, heading, lit);
      mark(name, scope, lit);
      if (section.lang) (heading ? title : name).append(dialog.querySelector("template").content.cloneNode(true));
      page.textContent = section.order && heading !== section.page ? section.page : "";
      link.append(...[title, name, page].filter(part => part.textContent));
      if (section.text) link.append(snippet(section, lit));
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
