// What the page does beyond links and forms: keys, a count of characters left, live news.
// Everything works without it.
"use strict";

const typing = (target) => target.matches("input, textarea, select, [contenteditable]");

function choose(step) {
  const entries = [...document.querySelectorAll("main [data-entry]")];
  if (!entries.length) return;
  const at = entries.findIndex((each) => each.classList.contains("chosen"));
  const next = Math.max(0, Math.min(entries.length - 1, at < 0 ? 0 : at + step));
  entries.forEach((each, place) => each.classList.toggle("chosen", place === next));
  const link = entries[next].querySelector("a, summary, button");
  (link || entries[next]).focus({ preventScroll: true });
  entries[next].scrollIntoView({ block: "nearest" });
}

// The list of the page "Go to" over any other page: words narrow it, arrows move in it.
const palette = document.getElementById("palette");
let asked = 0;
let shown = Promise.resolve();

async function narrowPalette(turn) {
  const words = new URLSearchParams({ q: palette.querySelector("input").value });
  const answer = await fetch(`${document.body.dataset.base}/go?${words}`, { headers: { "memfs-refresh": "yes" } }).catch(() => null);
  if (!answer?.ok || turn !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  palette.querySelector("[data-results]").replaceWith(page.querySelector("main [data-results]"));
}

function openPalette() {
  const input = document.querySelector("main [data-palette] input") || palette.querySelector("input");
  if (palette.contains(input) && !palette.open) {
    input.value = "";
    palette.showModal();
    shown = narrowPalette(++asked);
  }
  input.focus();
}

palette.addEventListener("input", () => { shown = narrowPalette(++asked); });
palette.addEventListener("submit", async (event) => {
  if (event.target.method !== "get") return;
  event.preventDefault();
  await shown; // what Enter opens is what these words name
  palette.querySelector(".palette a, .palette button")?.click();
});

function moveInPalette(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const list = event.target.closest("[data-palette]");
  if (!step || !list) return;
  const stops = [list.querySelector("input"), ...list.querySelectorAll(".palette a, .palette button")];
  const next = stops[stops.indexOf(event.target) + step];
  event.preventDefault();
  next?.focus();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  moveInPalette(event);
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const keys = document.getElementById("keys");
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find").focus();
  } else if (event.key === "j") choose(1);
  else if (event.key === "k") choose(-1);
  else if (event.key === "e") document.querySelector("[data-edit]")?.click();
  else if (event.key === "?") keys.open ? keys.close() : keys.showModal();
});

function countLeft() {
  const text = document.querySelector("textarea[data-limit]");
  const left = document.getElementById("left");
  if (!text || !left) return;
  const tell = () => {
    const room = Number(text.dataset.limit) - [...text.value.trimEnd()].length;
    left.textContent = room >= 0 ? `${room.toLocaleString("en")} characters left`
      : `${(-room).toLocaleString("en")} characters over the limit`;
  };
  text.addEventListener("input", tell);
  tell();
}

// A change on the disk shows itself, unless somebody is writing into a form of the page.
function follow() {
  const { base, section } = document.body.dataset;
  if (!section || !window.EventSource) return;
  const news = new EventSource(`${base}/events`);
  let changed = new URLSearchParams(location.search).has("selected"); // what comes is not selected, too
  document.addEventListener("input", (event) => { changed ||= event.target.closest("main") !== null; });
  news.addEventListener("change", async (event) => {
    if (changed || !event.data.split(" ").includes(section)) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html", "memfs-refresh": "yes" } });
    if (!answer.ok || changed) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = new Set([...document.querySelectorAll("main details[open] > summary")].map((each) => each.textContent));
    const main = page.getElementById("main");
    main.querySelector(".notes").replaceWith(document.querySelector("#main .notes"));
    for (const each of main.querySelectorAll("details > summary")) {
      if (open.has(each.textContent)) each.parentElement.open = true;
    }
    document.getElementById("main").replaceChildren(...main.childNodes);
    document.querySelector(".sections ul").replaceWith(page.querySelector(".sections ul"));
    countLeft();
  });
  addEventListener("pagehide", () => news.close());
}

countLeft();
follow();
