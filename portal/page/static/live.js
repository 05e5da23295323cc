// Live updates. What callers have sent is set as text only.
"use strict";

const classes = { ok: "good", recovered: "good", handshake: "good", error: "bad" };
const words = { error: "failed" };
const root = document.querySelector("a.brand")?.getAttribute("href") ?? "/";
const callPath = (trace) => root + "calls/" + encodeURIComponent(trace);

function shownBytes(n) {
  if (n < 1000) return n + " B";
  return n < 1e6 ? (n / 1000).toFixed(n < 1e4 ? 1 : 0) + " kB" : (n / 1e6).toFixed(1) + " MB";
}

function setBadge(badge, status) {
  badge.textContent = words[status] ?? status;
  badge.className = "badge " + (classes[status] ?? "wait");
}

const maxRows = 200;

// Events that were sent within the house are no calls, and only some lists show them.
const isShown = (call) => !call.sent || !document.querySelector("[data-calls-only]");
const shownRow = (trace) => document.querySelector(`[data-rows] [data-trace="${CSS.escape(trace)}"]`);

function addRow(call, most = maxRows) {
  const body = document.querySelector("[data-rows]");
  if (!body || !isShown(call) || shownRow(call.traceId)) return;
  noteEarly(call);
  const row = document.querySelector("template[data-row-template]").content.cloneNode(true).firstElementChild;
  const set = (name, text) => { row.querySelector(`[data-${name}]`).textContent = text; };
  row.dataset.trace = call.traceId;
  row.runs = call.runs;
  row.querySelector("[data-time]").setAttribute("datetime", call.time);
  const tick = row.querySelector("input");
  if (tick) {
    tick.value = call.traceId;
    tick.setAttribute("aria-label", "Select " + call.traceId);
  }
  set("key", call.eventKey || "unknown");
  set("kind", call.type || "");
  row.querySelector("[data-replay]").hidden = !call.replayOf;
  set("reason", call.code || call.reason || "");
  set("id", call.traceId);
  set("from", call.remoteAddr || "");
  set("size", shownBytes(call.size));
  set("duration", call.duration ? (call.duration < 10 ? call.duration.toFixed(1) : Math.round(call.duration)) + " ms" : "");
  setBadge(row.querySelector("[data-badge]"), call.status);
  row.querySelector("[data-link]").setAttribute("href", callPath(call.traceId));
  body.prepend(row);
  while (body.children.length > most) body.lastElementChild.remove();
  document.querySelector("[data-empty]")?.remove();
  showTimes(row);
}

// A call is tried again, or has failed, if one of its pipelines is or has.
function settle(call, run) {
  call.runs = { ...call.runs, [run.pipeline]: run.next ? "retrying" : run.status };
  if (run.error) call.reason = run.error.detail.replace(/^Step \d+, [^:]* \(line \d+\): /, ""); // as in the lists
  return ["retrying", "error"].find((status) => Object.values(call.runs).includes(status)) ?? run.status;
}

// A call is reported when it is answered, perhaps after one of its runs.
const early = new Map();

function keepEarly(run) {
  early.set(run.traceId, [...(early.get(run.traceId) ?? []), run]);
  if (early.size > maxRows) early.delete(early.keys().next().value);
}

function noteEarly(call) {
  for (const run of early.get(call.traceId) ?? []) {
    if (call.runs || call.status === "processing") call.status = settle(call, run);
  }
  early.delete(call.traceId);
}

function noteRun(run) {
  const row = shownRow(run.traceId);
  if (!row) keepEarly(run);
  const badge = row?.querySelector("[data-status] .badge");
  if (!badge || !row.runs && !["processing", "retrying"].includes(badge.textContent)) return;
  const status = settle(row, run);
  setBadge(badge, status);
  if (status !== "ok" && row.reason) row.querySelector(".reason").textContent = row.reason;
}

// New calls wait above the list until people ask for them.
const newer = new Map();

function offerNewer(count) {
  const place = document.querySelector("[data-newer]");
  place.hidden = count === 0;
  place.querySelector("button").textContent = count === 1 ? "1 new call" : count + " new calls";
}

function keepNewer(call) {
  if (!isShown(call)) return;
  noteEarly(call);
  newer.set(call.traceId, call);
  if (newer.size > maxRows) newer.delete(newer.keys().next().value);
  offerNewer(newer.size);
}

// Only the server knows which calls match a filter: this asks again a while after
// something has happened.
let asking, narrowed = [];
function askForNewer() {
  const pause = 2000;
  asking ??= setTimeout(async () => {
    asking = undefined;
    try {
      narrowed = [...(await fetchPage(location.href)).querySelectorAll("[data-rows] [data-trace]")];
      offerNewer(narrowed.filter((row) => !shownRow(row.dataset.trace)).length);
    } catch { /* the next event tries again */ }
  }, pause);
}

// Missing rows go where the server's list has them.
function addNarrowed() {
  let below = null;
  for (const row of narrowed.reverse()) {
    const shown = shownRow(row.dataset.trace);
    if (!shown) document.querySelector("[data-rows]").insertBefore(row, below);
    below = shown ?? row;
  }
  if (narrowed.length) document.querySelector("[data-empty]")?.remove();
  narrowed = [];
  showTimes(document);
}

function showNewer() {
  for (const call of newer.values()) addRow(call);
  newer.clear();
  addNarrowed();
  const place = document.querySelector("[data-newer]");
  if (place.contains(document.activeElement)) document.querySelector("[data-rows] a")?.focus();
  place.hidden = true;
}

document.querySelector("[data-show-newer]")?.addEventListener("click", showNewer);

async function fetchPage(url) {
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Parts of a page are fetched again a moment after something has happened. A part in
// use is left alone, unless it shows a state.
let refreshing, refreshed = 0;
function refresh(moment) {
  const pause = 1000; // even if hundreds of calls arrive
  refreshing ??= setTimeout(async () => {
    refreshing = undefined;
    refreshed = Date.now();
    try {
      const fresh = await fetchPage(document.querySelector("[data-page]")?.dataset.page ?? location.href);
      for (const part of document.querySelectorAll("[data-figures]")) {
        const other = fresh.querySelector(`[data-figures="${part.dataset.figures}"]`);
        const told = part.getAttribute("role") === "status";
        const typed = [...part.querySelectorAll("input")].some((input) => input.value !== input.defaultValue);
        if (!other || typed || !told && part.matches(":hover, :focus-within")) continue;
        const used = part !== document.activeElement && part.contains(document.activeElement);
        const on = part.classList.contains("on");
        part.className = other.className;
        part.classList.toggle("on", on);
        part.replaceChildren(...other.childNodes);
        for (const zone of part.querySelectorAll("[data-zone]")) zone.remove();
        offerButtons(part);
        if (used) (part.querySelector("a") ?? part).focus();
      }
      for (const part of document.querySelectorAll("[data-state]")) {
        part.className = fresh.querySelector(`[data-state="${part.dataset.state}"]`)?.className ?? part.className;
      }
      showTimes(document);
    } catch { /* the next event tries again */ }
  }, Math.max(moment, refreshed + pause - Date.now()));
}

// The effects of a run, such as the end of an alert, come a moment after it.
function refreshTwice() {
  refresh(500);
  setTimeout(() => refresh(0), 2000);
}

// The browser notifies people of failures if they want that, while a page is open.
const notify = document.querySelector("[data-notify]");
const notifies = () => localStorage.getItem("notify") === "yes" && Notification.permission === "granted";
if (notify && "Notification" in window && isSecureContext) {
  const label = () => { notify.textContent = notifies() ? "Stop notifying me" : "Notify me of failures"; };
  notify.hidden = false;
  notify.addEventListener("click", async () => {
    const wanted = !notifies() && await Notification.requestPermission() === "granted";
    localStorage.setItem("notify", wanted ? "yes" : "no");
    label();
  });
  label();
}
let told = 0;
function tellOfFailure(run) {
  if (run.status !== "error" || !notify || !("Notification" in window) || !notifies() || Date.now() - told < 60000) return;
  told = Date.now(); // once a minute: an outage causes many failures
  const note = new Notification("A run of " + (run.pipeline || "a pipeline") + " failed", { body: run.error?.detail ?? "", tag: "sluice" });
  note.addEventListener("click", () => { window.focus(); location.href = callPath(run.traceId); });
}

const actions = {
  rows: {
    call: (call) => { addRow(call, 8); refresh(2000); },
    run: (run) => { noteRun(run); tellOfFailure(run); refresh(2000); },
  },
  wait: {
    call: keepNewer,
    run: (run) => {
      const call = newer.get(run.traceId);
      if (call) call.status = settle(call, run);
      else noteRun(run);
    },
  },
  narrowed: { call: askForNewer, run: (run) => { noteRun(run); askForNewer(); } },
  runs: { run: (run, element) => { if (run.pipeline === (element.dataset.pipeline ?? run.pipeline)) refresh(2000); } },
  settling: { open: refreshTwice, run: refreshTwice },
  reload: { run: () => location.reload() },
  refresh: { call: () => refresh(50), run: () => refresh(500) },
};

for (const element of document.querySelectorAll("[data-live]")) {
  const source = new EventSource(element.dataset.live);
  const text = element.querySelector("[data-live-text]");
  const say = (on) => {
    element.classList.toggle("on", on);
    if (text) text.textContent = on ? "Live" : "Not live; trying again…";
  };
  source.addEventListener("open", () => { say(true); actions[element.dataset.calls].open?.(); });
  source.addEventListener("error", () => say(false));
  const action = actions[element.dataset.calls];
  for (const type of ["call", "run"]) {
    source.addEventListener(type, (event) => action[type]?.(JSON.parse(event.data), element));
  }
  addEventListener("pagehide", () => source.close());
}
