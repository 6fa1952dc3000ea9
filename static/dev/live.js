// Added to pages by `serve` only: puts the new page in place of the old one, and shows what went wrong.
(() => {
  const me = document.currentScript, url = decodeURI(me.dataset.url), stream = me.src.replace(/live\.js.*$/, "events");
  let overlay = null, lost = false;

  const say = (title, lines) => {
    overlay?.remove();
    overlay = null;
    if (!lines.length) return;
    overlay = document.createElement("aside");
    overlay.className = "live-overlay";
    overlay.setAttribute("role", "alert");
    overlay.style.cssText = "position:fixed;inset:auto 0 0 0;z-index:99;max-height:50vh;overflow:auto;padding:1rem 1.5rem;" +
      "background:#241012;color:#ffe3df;font:14px/1.5 ui-monospace,monospace;border-top:3px solid #ff6b5e;white-space:pre-wrap";
    const head = document.createElement("strong"), body = document.createElement("div");
    head.textContent = title;
    body.textContent = lines.join("\n");
    overlay.append(head, body);
    document.body.append(overlay);
  };

  const swap = async () => {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    if (!answer.ok) return location.reload();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = ["main", "#contents", ".foot"].map(s => [document.querySelector(s), fresh.querySelector(s)]);
    if (parts.some(([old, now]) => !old !== !now)) return location.reload();
    const top = scrollY;
    document.title = fresh.title;
    for (const [old, now] of parts) if (old && old.outerHTML !== now.outerHTML) old.replaceChildren(...document.adoptNode(now).childNodes);
    scrollTo({ top, behavior: "instant" });
    document.dispatchEvent(new CustomEvent("page:changed"));
  };

  const events = new EventSource(stream);
  events.onopen = () => { if (lost) { lost = false; swap(); } };
  events.onerror = () => { lost = true; };
  events.onmessage = async event => {
    const { error, changed, diagnostics } = JSON.parse(event.data);
    if (error) return say("The build failed", [error]);
    if (changed.some(u => /^static\/(css|js|vendor)/.test(u))) return location.reload();
    if (changed.includes(url)) await swap();
    const source = document.documentElement.dataset.source;
    say("On this page", diagnostics.filter(d => !source || d.path === source).map(d => d.text));
  };
})();
