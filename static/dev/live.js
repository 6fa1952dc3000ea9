// Added to pages by `serve` only: puts the new page in place of the old one, and shows what went wrong.
(() => {
  const me = document.currentScript, { url, look } = me.dataset, stream = me.src.replace(/live\.js.*$/, `events?url=${encodeURIComponent(url)}`);
  let overlay = null, mine = me.dataset.build, shown = me.dataset.page, turn = Promise.resolve();

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
  const assets = page => [...page.head.querySelectorAll("script[src], link[rel=stylesheet]")].map(each => each.getAttribute("src") ?? each.getAttribute("href"));

  const parsed = text => new DOMParser().parseFromString(text, "text/html");
  const fetched = async () => {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    return answer.ok ? parsed(await answer.text()) : null;
  };
  const marks = page => page?.querySelector("script[data-build]")?.dataset ?? {};

  // What scripts have made of the page says nothing of what has changed. So two pages are compared as they were served,
  // and only what differs is put in its place: what a reader has opened, selected or scrolled elsewhere stays.
  let served = fetched().catch(() => null);
  const PARTS = "main, #contents, .foot";
  const alike = (one, other) => one.cloneNode(false).isEqualNode(other.cloneNode(false));
  const texts = node => [...node.childNodes].map(each => each.nodeType === 1 ? "" : each.nodeValue);
  const made = nodes => [...nodes].map(each => document.importNode(each, true));
  // Scripts hold on to the parts themselves.
  const put = (live, nodes) => live.matches(PARTS) ? live.replaceChildren(...made(nodes[0].childNodes)) : live.replaceWith(...made(nodes));
  const patch = (live, was, now) => {
    if (was.isEqualNode(now)) return;
    const [here, old, fresh] = [live, was, now].map(each => [...each.children]);
    if (!alike(was, now) || here.length !== old.length) return put(live, [now]);
    let start = 0, end = 0;
    while (start < old.length && start < fresh.length && old[start].isEqualNode(fresh[start])) start++;
    while (end < old.length - start && end < fresh.length - start && old.at(-1 - end).isEqualNode(fresh.at(-1 - end))) end++;
    const [olds, news] = [old, fresh].map(each => each.slice(start, each.length - end));
    const lives = here.slice(start, here.length - end);
    if (olds.length === news.length && texts(was).join("\0") === texts(now).join("\0")) {
      olds.forEach((each, at) => patch(lives[at], each, news[at]));
    } else if (lives.length && news.length && [was, now].every(each => !texts(each).join("").trim())) {
      for (const each of lives.slice(1)) each.remove();
      put(lives[0], news);
    } else {
      put(live, [now]);
    }
  };

  const swap = async (changed, text) => {
    const [old, fresh] = [await served, text ? parsed(text) : await fetched()];
    if (!fresh) return location.reload();
    const parts = PARTS.split(", ").map(s => [document, old, fresh].map(page => page?.querySelector(s))), held = assets(document);
    if (parts.some(([here, , now]) => !here !== !now) || assets(fresh).some(each => !held.includes(each))) return location.reload();
    const known = marks(old).page === shown;
    mine = marks(fresh).build ?? mine;
    shown = marks(fresh).page;
    served = Promise.resolve(fresh);
    const top = scrollY;
    document.title = fresh.title;
    for (const [here, was, now] of parts) {
      if (here && known && was) patch(here, was, now);
      else if (here) put(here, [now]);
    }
    scrollTo({ top, behavior: "instant" });
    document.dispatchEvent(new CustomEvent("page:changed", { detail: changed }));
  };

  // With the news comes the page itself, if it is this one. The first message after each (re)connection tells what is current: a build may have come in between.
  const act = async ({ build: current, before, error, changed, diagnostics, page, look: style }) => {
    if (error) return say("The build failed", [error]);
    if (style !== look) return location.reload();
    if (current !== mine) {
      if (before !== mine || changed.includes(url)) await swap(changed, page);
      else mine = current;
    }
    // What is wrong with its translation stands in the page's catalogue, or in that of the words around it.
    const { source } = document.documentElement.dataset, catalogues = [url.replace(/html$/, "po"), url.split("/")[0] + "/_interface.po"];
    const concerns = ({ path }) => !source || path === source || catalogues.some(each => path.endsWith("/" + each));
    say("On this page", diagnostics.filter(concerns).map(d => d.text));
  };

  // One after the other, so that an older page never replaces a newer one.
  new EventSource(stream).onmessage = event => {
    turn = turn.then(() => act(JSON.parse(event.data))).catch(error => {
      // An author must not look at an old page and be told nothing.
      console.error(error);
      say("This page could not be brought up to date: reload it", [String(error)]);
    });
  };
})();
