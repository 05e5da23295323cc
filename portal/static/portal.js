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
      await copy(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).textContent);
      button.textContent = "Copied";
      button.classList.add("copied");
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = button.dataset.label; button.classList.remove("copied"); }, 2000);
  });
}
