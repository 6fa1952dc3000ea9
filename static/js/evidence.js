// One switch: the shapes at the ends of lines. theme.js has set the root's state before anything was drawn.
(() => {
  const root = document.documentElement, button = document.getElementById("shapes");
  if (!button) return;
  const show = () => button.setAttribute("aria-pressed", String(root.dataset.shapes !== "off"));
  button.addEventListener("click", () => {
    const off = root.dataset.shapes !== "off";
    if (off) root.dataset.shapes = "off"; else delete root.dataset.shapes;
    try { if (off) localStorage.setItem("shapes", "off"); else localStorage.removeItem("shapes"); } catch {}
    show();
  });
  show();
})();
