// What needs a script: copying, and what happens live. Everything else works
// without. Whatever callers have sent is only ever set as text.
"use strict";

// Browsers have a clipboard for pages that came by HTTPS or from the machine
// itself, if they are allowed to; elsewhere what is selected is copied.
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

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await copy(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).textContent);
      button.textContent = "Copied";
      button.classList.add("copied");
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = button.dataset.label; button.classList.remove("copied"); }, 2000);
  });
}
