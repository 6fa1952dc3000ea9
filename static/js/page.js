(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const target = link => document.getElementById(decodeURIComponent(link.hash.slice(1)));

  // ---- theme: auto, light, dark, in this order ----
  const themes = ["auto", "light", "dark"];
  const button = one("#theme");
  const word = one("[data-auto]", button);
  const showTheme = () => { word.textContent = word.dataset[root.dataset.theme ?? "auto"]; };
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % themes.length];
    document.dispatchEvent(new CustomEvent("theme", { detail: next }));
  });
  new MutationObserver(showTheme).observe(root, { attributeFilter: ["data-theme"] });
  showTheme();

  // ---- search: the keys press its button, whoever answers it ----
  const search = one("#search-open");
  document.addEventListener("keydown", event => {
    const k = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (!(k || (slash && !writing)) || one("dialog[open]")) return;
    event.preventDefault();
    search.click();
  });

  // ---- where am I: the last entry of the contents above the upper third ----
  const menu = one("#contents");
  const at = one(".at");
  let entries, outline, current, wide;   // what `take` finds in the page
  const label = link => {
    const name = one(".name", link);
    return name ? decodeURIComponent(link.hash.slice(1)) : link.textContent;
  };
  const marks = entry => entry ? [entry[0], ...all(`a[href="${CSS.escape(entry[0].getAttribute("href"))}"]`, outline ?? menu)] : [];
  function where() {
    const line = Math.max(160, innerHeight / 4);
    let low = 0, high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (entries[middle][1].getBoundingClientRect().top < line) low = middle + 1; else high = middle;
    }
    const entry = entries[low - 1];
    if (entry === current) return;
    for (const link of marks(current)) link.removeAttribute("aria-current");
    for (const link of marks(entry)) link.setAttribute("aria-current", "true");
    const mark = outline && one("[aria-current]", outline);
    if (mark) outline.scrollTop = mark.offsetTop - outline.clientHeight / 2;
    at.textContent = entry ? label(entry[0]) : at.dataset.home;
    current = entry;
  }
  let waiting = false;
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; where(); });
    waiting = true;
  }, { passive: true });
  menu.addEventListener("toggle", () => one("[aria-current=true]", menu)?.scrollIntoView({ block: "nearest" }));
  menu.addEventListener("click", event => event.target.closest("a") && menu.hidePopover());

  // ---- whatever scrolls sideways can be reached by keyboard; an equation gives up its indentation first ----
  function reach() {
    const tight = wide.filter(element => element.matches(".eq:not(.snug)") && element.scrollWidth > element.clientWidth + 1);
    for (const equation of tight) equation.classList.add("snug");
    const scrolls = wide.map(element => element.scrollWidth > element.clientWidth + 1);
    wide.forEach((element, index) => {
      if (scrolls[index]) element.tabIndex = 0; else element.removeAttribute("tabindex");
    });
  }

  // ---- the shorter side sticks; one that is higher than the window sticks by its end ----
  const heights = new ResizeObserver(records => {
    for (const { target, borderBoxSize } of records) target.style.setProperty("--height", `${Math.ceil(borderBoxSize[0].blockSize)}px`);
  });
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(reach, 100); });

  // ---- pictures open large ----
  const { enlarge, close } = document.body.dataset;
  let dialog, figure;
  function frame() {
    dialog = document.createElement("dialog");
    dialog.className = "large";
    const shut = document.createElement("button");
    shut.type = "button";
    shut.setAttribute("aria-label", close);
    shut.textContent = "×";
    figure = document.createElement("img");
    dialog.append(figure, shut);
    document.body.append(dialog);
    dialog.addEventListener("click", event => event.target !== figure && dialog.close());
  }
  function pictures() {
    for (const image of all(".note img").filter(image => !image.closest("a, .enlarge"))) {
      if (!dialog) frame();
      const opener = document.createElement("button");
      opener.type = "button";
      opener.className = "enlarge";
      opener.title = enlarge;
      if (!image.alt) opener.setAttribute("aria-label", enlarge);
      image.replaceWith(opener);
      opener.append(image);
      opener.addEventListener("click", () => {
        figure.src = image.currentSrc || image.src;
        figure.alt = image.alt;
        dialog.setAttribute("aria-label", image.alt || enlarge);
        dialog.showModal();
      });
    }
  }

  // ---- once, and again when `serve` has put a new page in the place of the old ----
  function take() {
    entries = all(".toc a[href^='#']", menu).map(link => [link, target(link)]).filter(entry => entry[1]);
    outline = one(".outline");
    wide = all(".eq, pre, .note table");
    heights.disconnect();
    all(".pair > *").forEach(element => heights.observe(element));
    current = undefined;
    pictures();
    where();
    document.fonts.ready.then(reach);
  }
  take();
  document.addEventListener("page:changed", take);
})();
