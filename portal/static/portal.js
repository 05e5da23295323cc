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
