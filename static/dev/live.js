// Added to pages by `serve` only: puts the new page in place of the old one, and shows what went wrong.
(() => {
  const me = document.currentScript, { url, look } = me.dataset, stream = me.src.replace(/live\.js.*$/, "events");
  let overlay = null, mine = me.dataset.build, turn = Promise.resolve();

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

  // A page that has now got examples, or math, asks for scripts and style sheets that it did without.
  const assets = page => [...page.querySelectorAll("head script[src], head link[rel=stylesheet]")].map(each => each.getAttribute("src") ?? each.getAttribute("href"));

  const swap = async () => {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    if (!answer.ok) return location.reload();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = ["main", "#contents", ".foot"].map(s => [document.querySelector(s), fresh.querySelector(s)]);
    if (parts.some(([old, now]) => !old !== !now) || assets(fresh).some(each => !assets(document).includes(each))) return location.reload();
    mine = fresh.querySelector("script[data-build]")?.dataset.build ?? mine;
    const top = scrollY;
    document.title = fresh.title;
    for (const [old, now] of parts) if (old && old.outerHTML !== now.outerHTML) old.replaceChildren(...document.adoptNode(now).childNodes);
    scrollTo({ top, behavior: "instant" });
    document.dispatchEvent(new CustomEvent("page:changed"));
  };

  // The first message after each (re)connection tells what is current: a build may have come in between.
  const act = async ({ build, before, error, changed, diagnostics, look: current }) => {
    if (error) return say("The build failed", [error]);
    if (current !== look) return location.reload();
    if (build !== mine) {
      if (before !== mine || changed.includes(url)) await swap();
      else mine = build;
    }
    const source = document.documentElement.dataset.source;
    say("On this page", diagnostics.filter(d => !source || d.path === source).map(d => d.text));
  };

  // One after the other, so that an older page never replaces a newer one.
  new EventSource(stream).onmessage = event => {
    turn = turn.then(() => act(JSON.parse(event.data))).catch(() => {});
  };
})();
