// What needs a script: copying, and what happens live. Everything else works
// without. Whatever callers have sent is only ever set as text.
"use strict";

// Browsers have a clipboard for pages that came by HTTPS or from the machine
// itself; elsewhere what is selected is copied.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("not copied");
}

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await copy(button.dataset.copy);
      button.textContent = "Copied";
      button.classList.add("copied");
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = "Copy"; button.classList.remove("copied"); }, 2000);
  });
}

// The numbers beside a source follow what is typed.
for (const editor of document.querySelectorAll(".editor")) {
  const [gutter, area] = [editor.querySelector("pre"), editor.querySelector("textarea")];
  document.querySelector("#source-help").hidden = false;
  area.addEventListener("input", () => {
    const lines = area.value.split("\n").length;
    while (gutter.children.length > lines) gutter.lastChild.remove();
    while (gutter.children.length < lines) {
      const number = document.createElement("b");
      number.textContent = String(gutter.children.length + 1);
      gutter.append(number);
    }
    area.rows = lines + 1;
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey || area.dataset.leave) return;
    event.preventDefault();
    area.setRangeText("  ", area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  });
  // Escape lets the next Tab leave the field, for those who use the keyboard.
  area.addEventListener("keyup", (event) => { if (event.key === "Escape") area.dataset.leave = "yes"; });
  area.addEventListener("blur", () => { delete area.dataset.leave; });
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const lines = area.value.split("\n").slice(0, Number(link.dataset.line));
      const end = lines.join("\n").length;
      area.focus();
      area.setSelectionRange(end - lines[lines.length - 1].length, end);
      gutter.children[Number(link.dataset.line) - 1]?.scrollIntoView({ block: "center" });
    });
  }
}

const classes = { ok: "good", error: "bad", rejected: "bad", processing: "wait" };
const root = document.querySelector("a.brand")?.getAttribute("href") ?? "/";
const callPath = (trace) => root + "calls/" + encodeURIComponent(trace);

function shownBytes(n) {
  if (n < 1000) return n + " B";
  return n < 1e6 ? (n / 1000).toFixed(n < 1e4 ? 1 : 0) + " kB" : (n / 1e6).toFixed(1) + " MB";
}

function setBadge(badge, status) {
  badge.textContent = status;
  badge.className = "badge " + (classes[status] ?? "wait");
}

function addRow(call) {
  const body = document.querySelector("[data-rows]");
  if (!body || body.querySelector(`[data-trace="${CSS.escape(call.traceId)}"]`)) return;
  const row = document.querySelector("template[data-row]").content.cloneNode(true).firstElementChild;
  const set = (name, text) => { row.querySelector(`[data-${name}]`).textContent = text; };
  row.dataset.trace = call.traceId;
  row.querySelector("[data-time]").setAttribute("datetime", call.time);
  set("key", call.eventKey || "unknown");
  set("code", call.code || "");
  set("id", call.traceId);
  set("size", shownBytes(call.size));
  set("duration", call.duration ? (call.duration < 10 ? call.duration.toFixed(1) : Math.round(call.duration)) + " ms" : "");
  setBadge(row.querySelector("[data-badge]"), call.status);
  row.querySelector("[data-link]").setAttribute("href", callPath(call.traceId));
  body.prepend(row);
  while (body.children.length > 25) body.lastElementChild.remove();
  document.querySelector("[data-empty]")?.remove();
  tellTimes();
}

// Times in a live list stay true while people look at it.
function tellTimes() {
  for (const time of document.querySelectorAll("[data-rows] time")) {
    const seconds = Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (seconds < 5) time.textContent = "just now";
    else if (seconds < 60) time.textContent = seconds + " s ago";
    else if (seconds < 3600) time.textContent = Math.floor(seconds / 60) + " min ago";
  }
}
if (document.querySelector("[data-rows]")) setInterval(tellTimes, 5000);

// A call has failed if a pipeline has, whatever others make of it.
function noteRun(run) {
  const row = document.querySelector(`[data-rows] [data-trace="${CSS.escape(run.traceId)}"]`);
  const badge = row?.querySelector(".badge");
  if (!badge || !row.runs && badge.textContent !== "processing") return;
  row.runs = { ...row.runs, [run.pipeline]: run.status };
  setBadge(badge, Object.values(row.runs).includes("error") ? "error" : run.status);
}

const actions = {
  rows: {
    call: addRow,
    run: noteRun,
  },
  reload: { run: () => location.reload() },
  arrived: {
    call: (call, element) => {
      const place = element.querySelector("[data-arrived]");
      const link = document.createElement("a");
      link.href = callPath(call.traceId);
      link.textContent = "Look at it";
      place.replaceChildren(call.status === "rejected" ? "A call arrived and was refused. " : "The call arrived. ", link);
      element.classList.add("arrived");
      for (const step of document.querySelectorAll("[data-step]")) step.classList.add("done");
    },
  },
};

for (const element of document.querySelectorAll("[data-live]")) {
  const source = new EventSource(element.dataset.live);
  const text = element.querySelector("[data-live-text]");
  const say = (on) => {
    element.classList.toggle("on", on);
    if (text) text.textContent = on ? "Live" : "Not live; trying again…";
  };
  source.addEventListener("open", () => say(true));
  source.addEventListener("error", () => say(false));
  const action = actions[element.dataset.calls];
  for (const type of ["call", "run"]) {
    source.addEventListener(type, (event) => action[type]?.(JSON.parse(event.data), element));
  }
  addEventListener("pagehide", () => source.close());
}
