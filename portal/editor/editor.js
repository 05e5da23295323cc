// The editor of pipelines. It replaces the textarea that pages have without scripts, but
// keeps the textarea up to date, so that forms send what was typed.
//
// It lives in a shadow root, where its styles are style sheets. The policy of the pages
// allows those, but not styles written in a page.
import { EditorState, RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore, insertNewlineKeepIndent } from "@codemirror/commands";
import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { lintGutter, linter, lintKeymap } from "@codemirror/lint";
import { tags } from "@lezer/highlight";
import { completions } from "./completion.js";
import { pipelineLanguage } from "./language.js";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--key)" },
  { tag: tags.string, color: "var(--text)" },
  { tag: tags.special(tags.string), color: "var(--expression)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.punctuation, color: "var(--soft)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--sheet)", fontSize: ".8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", maxHeight: "70vh", overflow: "auto" },
  ".cm-content, .cm-gutter": { minHeight: "22rem" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".6rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "4ch" }, // wide enough for 99 lines, so that the text does not move
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--sheet)", color: "var(--ink)", border: "1px solid var(--strong-line)", borderRadius: "8px", maxWidth: "32rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "14rem", borderRadius: "8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".2rem .6rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo": { padding: ".4rem .6rem", maxWidth: "22rem" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--bad)" },
  // CodeMirror's own markers are images in styles, which the policy forbids.
  ".cm-lint-marker": { width: ".6em", height: ".6em", margin: ".45em auto 0", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "normal", backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--wait)" },
  ".cm-lintRange": { backgroundImage: "none" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { textDecoration: "underline wavy var(--wait)" },
  ".cm-diagnostic": { padding: ".35rem .6rem", fontFamily: "var(--sans)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--wait)" },
});

const post = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: new URLSearchParams(body) });

// diagnosticsOf returns what the server has found, at its positions.
function diagnosticsOf(doc, found) {
  const place = (finding, severity) => {
    const line = doc.line(Math.min(Math.max(finding.line, 1), doc.lines));
    const from = Math.min(line.from + Math.max(finding.column - 1, 0), line.to);
    const word = doc.sliceString(from, line.to).match(/^[^\s:,{}[\]]+/)?.[0].length ?? 0;
    const message = finding.message + (finding.hint && !finding.message.includes(finding.hint) ? "\n" + finding.hint : "");
    return { from, to: Math.min(line.to, from + word), severity, message };
  };
  return [...found.problems.map((f) => place(f, "error")), ...(found.warnings ?? []).map((f) => place(f, "warning"))]
    .sort((a, b) => a.from - b.from);
}

// say shows beside the editor how many mistakes there are, with a button for each.
function say(found, to) {
  const warnings = found.warnings ?? [];
  const several = (n, one, many) => (n === 1 ? "1 " + one : n + " " + many);
  const state = found.problems.length ? "bad" : warnings.length ? "wait" : "good";
  const status = document.querySelector("[data-lint]");
  status.className = "lint " + state;
  status.textContent = found.problems.length ? several(found.problems.length, "mistake", "mistakes") : warnings.length ? several(warnings.length, "warning", "warnings") : "No mistakes";
  const lead = (button, f) => {
    button.textContent = `Line ${f.line}: ${f.message}` + (f.hint && !f.message.includes(f.hint) ? " " + f.hint : "");
    button.onclick = () => to(f.line, f.column);
    return button;
  };
  const all = [...found.problems.map((f) => [f, "bad"]), ...warnings.map((f) => [f, "wait"])].slice(0, 10);
  const first = document.querySelector("[data-finding]"), list = document.querySelector("[data-findings]");
  first.hidden = list.hidden = all.length === 0;
  if (all.length) lead(first, all[0][0]);
  first.className = "finding " + state;
  list.replaceChildren(...all.map(([f, kind]) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.className = "finding " + kind;
    item.append(lead(button, f));
    return item;
  }));
}

// newline keeps the indentation, and indents further after a key without a value.
function newline(view) {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const opened = line.text.slice(0, head - line.from).match(/^(\s*(?:- +)?)[\w.]+:\s*$/);
  if (!opened) return insertNewlineKeepIndent(view);
  view.dispatch(view.state.replaceSelection("\n" + " ".repeat(opened[1].length + 2)), { scrollIntoView: true });
  return true;
}

// A line that is wrapped goes on at its own indentation, which has a meaning in YAML.
const deepest = 40;
const hanging = (line) => Decoration.line({ class: "cm-in-" + Math.min(line.text.match(/^ *(- )*/)[0].length, deepest) });
const wrapped = ViewPlugin.define((view) => ({ lines: linesOf(view), update(u) { if (u.docChanged || u.viewportChanged) this.lines = linesOf(u.view); } }), { decorations: (plugin) => plugin.lines });
const indentation = EditorView.theme(Object.fromEntries(Array.from({ length: deepest + 1 }, (_, n) => [`.cm-in-${n}`, { paddingLeft: `calc(${n}ch + 6px)`, textIndent: `-${n}ch` }])));

function linesOf(view) {
  const lines = new RangeSetBuilder();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      lines.add(line.from, line.from, hanging(line));
      at = line.to + 1;
    }
  }
  return lines.finish();
}

function start(area) {
  const host = document.createElement("div");
  host.className = "code";
  const root = host.attachShadow({ mode: "open" });
  area.closest(".editor").before(host);
  area.closest(".editor").hidden = true;
  let words = { sections: [], common: [], commands: [], eventKeys: [], secrets: [], users: [], functions: [] };
  fetch(area.dataset.words).then((r) => r.json()).then((known) => { words = known; }).catch(() => {});
  const check = async (view) => {
    const doc = view.state.doc;
    const response = await post(area.dataset.check, { source: doc.toString() });
    if (!response.ok) return [];
    const found = await response.json();
    say(found, to);
    return diagnosticsOf(doc, found);
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), EditorView.lineWrapping, wrapped, indentation, bracketMatching(), closeBrackets(), lintGutter(),
        indentUnit.of("  "), EditorState.tabSize.of(2), pipelineLanguage, syntaxHighlighting(colours), look,
        autocompletion({ override: [(context) => completions(words)(context)], icons: false }),
        linter(check, { delay: 400 }),
        EditorView.contentAttributes.of({ "aria-label": "Source of the pipeline, in YAML", "aria-describedby": "source-help" }),
        keymap.of([
          { key: "Enter", run: newline },
          { key: "Tab", run: indentMore, shift: indentLess },
          ...lintKeymap, ...historyKeymap, ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          area.value = update.state.doc.toString();
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  const to = (number, column) => {
    const line = view.state.doc.line(Math.min(Math.max(Number(number) || 1, 1), view.state.doc.lines));
    const at = Math.min(line.from + Math.max(Number(column) || 1, 1) - 1, line.to);
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    view.focus();
  };
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => { event.preventDefault(); to(link.dataset.line, link.dataset.column); });
  }
  const shortcuts = { s: "save", Enter: "try" };
  document.addEventListener("keydown", (event) => {
    const button = (event.ctrlKey || event.metaKey) && area.form.querySelector(`button[value="${shortcuts[event.key]}"]`);
    if (!button) return;
    event.preventDefault();
    event.stopPropagation(); // the editor would insert a line
    button.click();
  }, true);
  // People who come back to a draft find the cursor where they left it.
  const cursor = "cursor:" + area.dataset.draft;
  const kept = Number(sessionStorage.getItem(cursor));
  if (kept) view.dispatch({ selection: { anchor: Math.min(kept, view.state.doc.length) } });
  area.form.addEventListener("submit", () => sessionStorage.setItem(cursor, view.state.selection.main.head));
  // People can type at once, unless there is a message to read first.
  const query = new URLSearchParams(location.search);
  if (query.get("line")) to(query.get("line"), query.get("column"));
  else if ("focus" in area.dataset && !matchMedia("(pointer: coarse)").matches) { // a keyboard on the screen would hide the page
    if (area.dataset.focus === "end") view.dispatch({ selection: { anchor: view.state.doc.length } });
    view.focus();
  }
  area.editor = {
    set(text) { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }); },
    focus() { view.focus(); },
    end() {
      view.dispatch({ selection: { anchor: view.state.doc.length } });
      view.focus();
    },
  };
}

for (const area of document.querySelectorAll("textarea[data-check]")) start(area);
