// Copying, revealing and live updates need scripts; everything else works without. What
// callers have sent is set as text only.
"use strict";

// Browsers offer the clipboard only to pages from HTTPS or localhost, and may refuse it.
// Elsewhere this copies a selection.
async function copy(text) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch { /* there is none, or it is forbidden */ }
  const focus = document.activeElement, area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focus?.focus();
  if (!copied) throw new Error("not copied");
}

// Buttons that need a script are hidden without one.
function offerButtons(within) {
  for (const button of within.querySelectorAll("button.copy, [data-reveal]")) button.hidden = false;
}
offerButtons(document);
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  try {
    await copy(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).textContent);
    button.textContent = "Copied";
    button.classList.add("copied");
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => { button.textContent = button.dataset.label; button.classList.remove("copied"); }, 2000);
});

// Secrets can be shown while they are typed.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-reveal]");
  if (!button) return;
  const input = document.getElementById(button.dataset.reveal);
  const area = input.tagName === "TEXTAREA"; // browsers have no password type for several lines
  const shown = area ? input.classList.contains("masked") : input.type === "password";
  if (area) input.classList.toggle("masked"); else input.type = shown ? "text" : "password";
  button.textContent = shown ? "Hide" : "Show";
  button.setAttribute("aria-pressed", String(shown));
});

// Typing replaces a suggested value.
for (const input of document.querySelectorAll("input[data-proposed]")) {
  const select = () => { if (input.value === input.dataset.proposed) input.select(); };
  input.addEventListener("focus", select);
  if (input === document.activeElement) select();
}
