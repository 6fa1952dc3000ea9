// Runs before the first paint. "Auto" is the absence of the attribute.
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  function apply(theme) {
    const forced = theme === "light" || theme === "dark";
    if (forced) root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
      const own = meta.dataset.theme;
      meta.media = forced ? (own === theme ? "all" : "not all") : `(prefers-color-scheme: ${own})`;
    }
  }

  function stored(key = "theme") {
    try { return localStorage.getItem(key); } catch { return null; }
  }

  apply(stored());
  if (stored("shapes") === "off") root.dataset.shapes = "off";
  addEventListener("storage", event => event.key === "theme" && apply(event.newValue));
  addEventListener("pageshow", event => event.persisted && apply(stored()));
  document.addEventListener("theme", event => {
    apply(event.detail);
    try { localStorage.setItem("theme", event.detail); } catch { /* a reader may forbid storage */ }
  });
})();
