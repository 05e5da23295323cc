// Lists and times: the reader's time zone, the keyboard, and selected rows.
"use strict";

const two = (n) => String(n).padStart(2, "0");
const clockOf = (at) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
const dayOf = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const shortDayOf = (at) => at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: at.getFullYear() === new Date().getFullYear() ? undefined : "numeric" });
const utcOf = (at) => at.toISOString().slice(0, 19).replace("T", " ") + " UTC";

// agoOf words an age as the server does (package wording).
function agoOf(at) {
  const passed = (Date.now() - at) / 1000, seconds = Math.floor(Math.abs(passed));
  if (seconds < 1) return "now";
  const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const [length, unit] = units.find(([length]) => seconds >= length);
  const text = Math.floor(seconds / length) + unit;
  return passed < 0 ? "in " + text : text + " ago";
}

// showTimes writes times in the reader's zone, with UTC on hover.
function showTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = `${dayOf(at)} ${clockOf(at)} here, ${utcOf(at)}`;
    if ("clock" in time.dataset) {
      const today = dayOf(at) === dayOf(new Date());
      time.textContent = (today ? "" : shortDayOf(at) + " ") + clockOf(at);
    } else if ("moment" in time.dataset) {
      time.textContent = `${dayOf(at)} ${clockOf(at)}`;
    } else if (Date.now() - at < 86400000) {
      time.textContent = agoOf(at);
    }
  }
  for (const mark of within.querySelectorAll("[data-mark]")) {
    const at = new Date(mark.dataset.mark), ofDay = mark.textContent.includes(":");
    mark.textContent = ofDay ? clockOf(at).slice(0, 5) : shortDayOf(at);
  }
}

showTimes(document);
for (const zone of document.querySelectorAll("[data-zone]")) zone.remove();
setInterval(() => showTimes(document), 10000);

// A plot shows the values under the pointer at once, below itself.
document.addEventListener("pointerover", (event) => {
  const spot = event.target.closest?.(".spot");
  for (const place of document.querySelectorAll("[data-shown]")) {
    if (!spot || !place.closest("figure").contains(spot)) { place.textContent = ""; continue; }
    const from = new Date(spot.dataset.from), to = new Date(spot.dataset.to);
    const day = dayOf(from) === dayOf(new Date()) ? "" : shortDayOf(from) + " ";
    spot.values ??= spot.textContent.split(" UTC: ")[1];
    spot.replaceChildren(); // or the browser shows it again
    place.textContent = `${day}${clockOf(from).slice(0, 5)} to ${clockOf(to).slice(0, 5)}: ${spot.values}`;
  }
});

// Time fields take the reader's zone, and send UTC.
for (const field of document.querySelectorAll("input[data-utc]")) {
  if (field.value) {
    const at = new Date(field.value + "Z");
    field.value = `${dayOf(at)}T${clockOf(at)}`;
  }
  field.form.addEventListener("formdata", (event) => {
    if (!field.value) return;
    event.formData.set(field.name, new Date(field.value).toISOString().slice(0, 19));
  });
}
// Empty fields are left out of the address.
for (const form of document.querySelectorAll("form[role=search]")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });
}

// The browser remembers the density of rows, and which details are open.
const density = document.querySelector("[data-density]");
function setDensity(comfortable) {
  document.documentElement.classList.toggle("comfortable", comfortable);
  if (density) density.textContent = comfortable ? "Dense rows" : "Comfortable rows";
}
setDensity(localStorage.getItem("rows") === "comfortable");
if (density) {
  density.hidden = false;
  density.addEventListener("click", () => {
    const comfortable = !document.documentElement.classList.contains("comfortable");
    localStorage.setItem("rows", comfortable ? "comfortable" : "dense");
    setDensity(comfortable);
  });
}
for (const details of document.querySelectorAll("details[data-keep]")) {
  details.open = localStorage.getItem("open." + details.dataset.keep) === "yes";
  details.addEventListener("toggle", () => localStorage.setItem("open." + details.dataset.keep, details.open ? "yes" : "no"));
}

// Selected rows.
for (const form of document.querySelectorAll(".bulk-form")) {
  const all = form.querySelector("[data-tick-all]");
  const boxes = () => [...form.querySelectorAll("tbody input[type=checkbox]")];
  const count = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    const said = form.querySelector("[data-selected]");
    if (said) said.textContent = ticked + " selected";
    if (all) {
      all.checked = ticked > 0 && ticked === boxes().length;
      all.indeterminate = ticked > 0 && !all.checked;
    }
  };
  if (all) {
    all.hidden = false;
    all.addEventListener("change", () => { for (const box of boxes()) box.checked = all.checked; count(); });
  }
  form.addEventListener("change", count);
  addEventListener("pageshow", count);
}

// Dragging over a plot zooms to that time; a click leads to its calls.
let dragged;
const chosen = () => [...dragged.closest("svg").querySelectorAll(".spot.chosen")];
document.addEventListener("pointerdown", (event) => {
  dragged = event.button === 0 ? event.target.closest?.(".spot") : undefined;
  if (dragged) event.preventDefault(); // or the link is dragged
});
document.addEventListener("pointermove", (event) => {
  const over = dragged && event.target.closest?.(".spot");
  if (!over || over.closest("svg") !== dragged.closest("svg")) return;
  const spots = [...over.closest("svg").querySelectorAll(".spot")], ends = [spots.indexOf(dragged), spots.indexOf(over)];
  spots.forEach((spot, i) => spot.classList.toggle("chosen", over !== dragged && i >= Math.min(...ends) && i <= Math.max(...ends)));
});
document.addEventListener("pointerup", () => {
  const spots = dragged ? chosen() : [];
  dragged = undefined;
  if (spots.length < 2) return;
  const url = new URL(location.href);
  url.search = new URLSearchParams({ from: spots[0].dataset.from, to: spots.at(-1).dataset.to });
  if (document.querySelector("#chart")) url.hash = "chart";
  location.href = url;
});

// A search narrows a list of switches.
for (const narrow of document.querySelectorAll("[data-narrow]")) {
  narrow.hidden = false;
  narrow.addEventListener("input", () => {
    const wanted = narrow.value.trim().toLowerCase();
    for (const area of document.getElementById(narrow.dataset.narrow).querySelectorAll("details")) {
      const all = [...area.querySelectorAll("label")];
      for (const one of all) one.hidden = !one.textContent.toLowerCase().includes(wanted);
      area.hidden = all.every((one) => one.hidden);
      area.open = wanted ? !area.hidden : all.some((one) => one.querySelector("input").checked);
    }
  });
}

// What is found shows under the box while people type; Enter finds calls, too.
const find = document.querySelector("#find");
let asked = 0;
find?.addEventListener("input", async () => {
  const turn = ++asked, text = find.value.trim(), list = document.querySelector("#finds");
  list.replaceChildren();
  if (text.length < 2) return;
  await new Promise((go) => setTimeout(go, 150));
  if (turn !== asked) return;
  const answer = await fetch(`${find.form.action}?live=1&q=${encodeURIComponent(text)}`).catch(() => null);
  if (turn !== asked || !answer?.ok) return;
  const found = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#found");
  list.replaceChildren(...(found?.children ?? []));
});
find?.form.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp" && event.key !== "Escape") return;
  const stops = [find, ...find.form.querySelectorAll("#finds a")], at = stops.indexOf(document.activeElement);
  if (event.key === "Escape") document.querySelector("#finds").replaceChildren();
  else stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length].focus();
  event.preventDefault();
});

// Ctrl+K goes to the search for anything, also from a field.
document.addEventListener("keydown", (event) => {
  if (!find || event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  find.focus();
  find.select();
});

// Keys: j and k move through a list, and from call to call; x ticks, / searches, n shows new calls, g and a
// letter go to a page, ? shows all of them.
const rowsOf = () => [...document.querySelectorAll("tr[data-row]")];

function moveTo(step) {
  const rows = rowsOf();
  if (rows.length === 0) return document.querySelector(step > 0 ? ".head a[rel=prev]" : ".head a[rel=next]")?.click();
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
  next?.querySelector("a")?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

let going = 0; // when g was pressed
const places = { o: "", c: "calls", w: "webhooks", p: "pipelines", d: "deadletters", q: "quarantine" };
const goTo = (key) => document.querySelector(`nav a[href="${document.querySelector("a.brand").getAttribute("href") + places[key]}"]`)?.click();

const keys = {
  j: () => moveTo(1),
  k: () => moveTo(-1),
  x: () => {
    const box = document.activeElement.closest("tr[data-row]")?.querySelector("input[type=checkbox]");
    if (box) { box.checked = !box.checked; box.dispatchEvent(new Event("change", { bubbles: true })); }
  },
  n: () => { if (typeof showNewer === "function" && document.querySelector("[data-newer]:not([hidden])")) showNewer(); },
  "?": () => document.querySelector("#shortcuts")?.showModal(),
  e: () => {
    const area = document.querySelector("textarea[data-check]");
    if (area) area.editor?.focus();
    else document.querySelector(".head a[href$='/edit']")?.click();
  },
  g: () => { going = Date.now(); },
  "/": () => { const field = document.querySelector("[data-search]") ?? document.querySelector("main input[type=search]") ?? document.querySelector("#find"); field?.focus(); field?.select(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath()[0].closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]")) return;
  const act = Date.now() - going < 2000 && event.key in places ? () => goTo(event.key) : keys[event.key];
  if (event.key !== "g") going = 0;
  if (!act) return;
  event.preventDefault();
  act();
});
const shortcuts = document.querySelector("[data-shortcuts]");
if (shortcuts) { shortcuts.hidden = false; shortcuts.addEventListener("click", keys["?"]); }
for (const hint of document.querySelectorAll("[data-keys]")) hint.hidden = rowsOf().length === 0;

// What a person works on stays theirs while they look at it.
const held = document.querySelector("form[data-held]");
if (held) setInterval(async () => {
  const body = new URLSearchParams({ lease: held.elements.lease.value, do: "extend" });
  const answer = await fetch(held.action, { method: "POST", body }).catch(() => null);
  const until = document.querySelector(".lead time");
  if (answer?.ok && until) { until.dateTime = (await answer.json()).expires; showTimes(document); }
}, 300000);

// Work in several steps continues by itself, and the page shows the progress.
document.querySelector("form[data-go-on]")?.requestSubmit();

// An unfinished search continues by itself, and the page shows how far back it is.
async function searchOn() {
  const rows = document.querySelector("[data-rows]"), end = document.querySelector("[data-end]");
  const maxSteps = 100, enough = 50;
  for (let step = 0; step < maxSteps && rows.children.length < enough; step++) {
    const next = end.querySelector("[data-searched] a[rel=next]");
    if (!next) return;
    const response = await fetch(next.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.querySelectorAll("[data-rows] > tr");
    rows.append(...found);
    end.replaceChildren(...page.querySelector("[data-end]").childNodes);
    if (rows.children.length > 0) end.querySelector("[data-empty]")?.remove();
    showTimes(document);
  }
}
if (document.querySelector("[data-searched]")) searchOn().catch(() => {}); // the link is still there
