// One switch: the shapes at the ends of lines. theme.js has set the root's state before anything was drawn; under
// `serve` the switch itself may be a new one after each change of the page.
(() => {
  const root = document.documentElement;
  const show = () => document.getElementById("shapes")?.setAttribute("aria-pressed", String(root.dataset.shapes !== "off"));
  document.addEventListener("click", event => {
    if (!event.target.closest?.("#shapes")) return;
    const off = root.dataset.shapes !== "off";
    if (off) root.dataset.shapes = "off"; else delete root.dataset.shapes;
    try { if (off) localStorage.setItem("shapes", "off"); else localStorage.removeItem("shapes"); } catch { /* a reader may forbid storage */ }
    show();
  });
  document.addEventListener("page:changed", show);
  show();
})();
