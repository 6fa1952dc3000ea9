// A language switch that keeps the place, another language offered once, and the way to the catalogue's line.
(() => {
  const menu = document.querySelector("#languages");
  const links = [...menu.querySelectorAll("a")];
  const current = links.find(link => link.hasAttribute("aria-current"));

  // ---- the same place: the section that the upper third of the window is in, and how far into it ----
  const line = () => innerHeight / 3;
  function place() {
    if (!scrollY) return null;
    let best = null, within = null;
    for (const element of document.querySelectorAll("main, .pair[id], .part[id], .first[id], pre[id]")) {
      const box = element.getBoundingClientRect();
      if (box.top > line()) break;
      best = element;
      if (box.bottom > line()) within = element;
    }
    const element = within ?? best;
    if (!element?.id) return null;
    const { top, height } = element.getBoundingClientRect();
    return { id: element.id, part: height ? (line() - top) / height : 0 };
  }
  function aim(link) {
    const here = place();
    link.hash = here?.id ?? "";
    return here;
  }
  menu.addEventListener("toggle", () => links.forEach(aim));   // for those that open it in a new tab
  function follow(link) {
    remember(link.hreflang);
    const here = aim(link);
    if (!here) return;
    try { sessionStorage.setItem("place", JSON.stringify({ ...here, path: link.pathname })); } catch { /* the section's start will do */ }
  }
  for (const link of links) link.addEventListener("click", () => follow(link));
  try {
    const kept = JSON.parse(sessionStorage.getItem("place"));
    sessionStorage.removeItem("place");
    const element = kept?.path === location.pathname && document.getElementById(kept.id);
    const go = () => {
      const { top, height } = element.getBoundingClientRect();
      scrollBy({ top: top + kept.part * height - line(), behavior: "instant" });
    };
    if (element) addEventListener("load", () => document.fonts.ready.then(() => requestAnimationFrame(go)));
  } catch { /* no storage, no place */ }

  // ---- the language that the browser prefers, until the reader has chosen one ----
  function remember(language) {
    try { localStorage.setItem("language", language); } catch { /* then nothing is offered either */ }
    document.querySelector(".offer")?.remove();
  }
  const full = tag => { try { return new Intl.Locale(tag).maximize(); } catch { return null; } };
  function preferred() {
    for (const tag of navigator.languages.map(full)) {
      const fit = tag ? links.filter(link => {
        const own = full(link.hreflang);
        return own && own.language === tag.language && own.script === tag.script;
      }) : [];
      if (fit.length) return fit.includes(current) ? null : fit.find(link => full(link.hreflang).region === tag.region) ?? fit[0];
    }
    return null;
  }
  // The page for no page may stand for an address of another language than its own.
  function addressed() {
    if (menu.dataset.page !== "404.html") return null;
    const folder = link => link.pathname.replace(/404\.html$/, "");
    const fit = links.filter(link => location.pathname.startsWith(folder(link)));
    const best = fit.sort((a, b) => folder(b).length - folder(a).length)[0];
    return best === current ? null : best;
  }
  function offer(link, words) {
    const note = document.createElement("aside"), way = document.createElement("a"), shut = document.createElement("button");
    note.className = "offer";
    note.lang = link.hreflang;
    note.dir = words.dir;
    note.setAttribute("aria-label", link.textContent);
    way.href = link.href;
    way.hreflang = link.hreflang;
    way.textContent = words.text;
    way.addEventListener("click", () => {
      follow(link);
      way.href = link.href;
    });
    shut.type = "button";
    shut.setAttribute("aria-label", words.close);
    shut.textContent = "×";
    shut.addEventListener("click", () => remember(current.hreflang));
    note.append(way, shut);
    document.querySelector(".skip").after(note);
  }
  const asked = (() => { try { return localStorage.getItem("language"); } catch { return "unknown"; } })();
  const better = asked ? asked !== current?.hreflang && asked !== "unknown" && addressed() : addressed() ?? preferred();
  if (better) {
    window.languageOffers = table => {
      const words = table[better.hreflang];
      if (words?.text && !words.without.includes(menu.dataset.page)) offer(better, words);
    };
    const script = document.createElement("script");
    script.src = menu.dataset.offers;
    document.head.append(script);
  }

  // ---- a compound of Japanese loanwords is one phrase to the browser; in a heading or a title it may break between its words ----
  function loosen() {
    const words = new Intl.Segmenter("ja", { granularity: "word" });
    for (const heading of document.querySelectorAll("main :is(h1, h2, h3), .title")) {
      const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), long = [];
      while (texts.nextNode()) if (/[ァ-ヺー]{9}/.test(texts.currentNode.data)) long.push(texts.currentNode);
      for (const text of long) text.replaceWith(...[...words.segment(text.data)].flatMap(({ segment, index }) =>
        index && /^[ァ-ヺー]{3}/.test(segment) && /[ァ-ヺー]/.test(text.data[index - 1]) ? [document.createElement("wbr"), segment] : [segment]));
      heading.normalize();
    }
  }
  if (document.documentElement.lang === "ja" && Intl.Segmenter) loosen();

  // ---- a pencil beside the block at hand leads to its line in the catalogue ----
  const mend = document.querySelector(".foot .mend");
  if (mend) {
    const lines = mend.dataset.line;
    const pencil = mend.cloneNode(true);
    pencil.className = "mender";
    pencil.title = mend.textContent;
    pencil.querySelector("span").className = "hidden";
    const beside = block => {
      const note = block?.closest(".note");
      if (!note || document.activeElement === pencil) return;
      pencil.href = lines.replace("{line}", block.dataset.line);
      pencil.style.insetBlockStart = `${block.getBoundingClientRect().top - note.getBoundingClientRect().top}px`;
      const anchor = note.querySelector(":scope > .perma");
      if (pencil.parentElement !== note) if (anchor) anchor.after(pencil); else note.prepend(pencil);
    };
    document.addEventListener("pointerover", event => beside(event.target.closest?.(".note [data-line]")));
    document.addEventListener("focusin", event => {
      if (event.target.matches(".perma")) beside(event.target.parentElement.querySelector("[data-line]"));
    });
  }
})();
