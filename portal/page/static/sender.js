// The form of a webhook: choosing a sender shows how to set it up, and suggests an event
// key unless one was typed.
"use strict";

{
  const form = document.querySelector("#webhook"), sender = form.querySelector("#field-provider");
  const field = (name) => form.querySelector("#field-" + name);
  const boxOf = (name) => form.querySelector(`[data-provider="${CSS.escape(name)}"]`);
  let proposed = boxOf(sender.value)?.dataset.key;

  function need(input, needed) {
    const label = input.labels[0], mark = label.querySelector(".needed");
    if (needed === (mark !== null)) return;
    if (!needed) mark.remove();
    else label.append(" ", Object.assign(document.createElement("span"), { className: "needed", textContent: "required" }));
    if (needed) input.setAttribute("aria-required", "true");
    else input.removeAttribute("aria-required");
  }

  function show() {
    for (const box of form.querySelectorAll("[data-provider]")) box.hidden = box.dataset.provider !== sender.value;
    const known = boxOf(sender.value), secret = field("signingSecret"), key = field("eventKey");
    secret.closest(".field").hidden = !(known ? "secret" in known.dataset : field("signature").value);
    need(secret, known?.dataset.secret === "public-key" && known.dataset.key !== "");
    field("verifyToken").closest(".field").hidden = !(known && "verify" in known.dataset);
    if (key.value === "" || key.value === proposed) key.value = proposed = known?.dataset.key ?? "";
  }

  for (const plain of form.querySelectorAll("[data-plain]")) plain.hidden = true;
  field("signature").addEventListener("input", show);
  sender.addEventListener("change", show);
  show();
}
