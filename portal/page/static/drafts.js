// The browser keeps drafts, and asks before it leaves a page with one.
"use strict";

for (const saved of document.querySelectorAll("[data-draft-done]")) {
  localStorage.removeItem(saved.dataset.draftDone);
  localStorage.removeItem("pipeline:"); // it may have been a new one
}

for (const area of document.querySelectorAll("textarea[data-draft]")) {
  for (const part of document.querySelectorAll("[data-plain]")) part.hidden = true;
  document.querySelector("[data-editor-help]").hidden = false;
  const key = area.dataset.draft;
  const stored = "unsaved" in area.dataset ? undefined : area.value;
  const read = () => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };
  const draft = read();
  let leaving = false;
  const changed = () => area.value !== stored;

  const bar = document.querySelector("[data-draft-bar]");
  if (draft && draft.source !== area.value && stored !== undefined) {
    const time = bar.querySelector("[data-draft-time]");
    time.dateTime = draft.at;
    time.textContent = new Date(draft.at).toLocaleString();
    bar.hidden = false;
  }
  bar.querySelector("[data-draft-restore]").addEventListener("click", () => {
    area.value = draft.source;
    area.editor?.set(draft.source);
    bar.hidden = true;
    area.editor?.focus();
  });
  bar.querySelector("[data-draft-discard]").addEventListener("click", () => {
    localStorage.removeItem(key);
    bar.hidden = true;
  });

  const keep = () => {
    if (changed()) localStorage.setItem(key, JSON.stringify({ source: area.value, at: new Date().toISOString() }));
    else localStorage.removeItem(key);
  };
  if (stored === undefined) keep();
  area.addEventListener("input", keep);
  area.form.addEventListener("submit", () => { leaving = true; });
  addEventListener("beforeunload", (event) => {
    if (changed() && !leaving) event.preventDefault();
  });
}
