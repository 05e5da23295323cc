// Completions: commands, their parameters and values, event keys, secrets, and what
// expressions can use.

const objects = ["body", "vars", "headers", "request", "user"];

const worded = ({ name, doc }) => [name, doc];
const offer = (from, names, type) => ({
  from,
  validFor: /^[\w.@*#[\]-]*$/,
  options: names.map(([label, info, detail, boost]) => ({ label, info, detail, boost, type })),
});
const offerParameters = (from, command, common) => ({
  from,
  validFor: /^\w*$/,
  options: [...command.params, ...common].map(({ name, doc, required }) => ({ label: name, apply: name + ": ", info: doc, boost: required ? 1 : 0, type: "property" })),
});

// seen returns the values of the event on the page, with their paths. They come first.
const seen = () => [...document.querySelectorAll(".seen dl > div")].map((line) => [line.querySelector("dt").textContent, line.querySelector("dd").textContent, undefined, 2]);

// stepOf returns the command that a line's parameters belong to.
function stepOf(doc, number) {
  const indentOf = (text) => text.search(/\S/);
  let indent = indentOf(doc.line(number).text + "x");
  for (let n = number - 1; n > 0; n--) {
    const text = doc.line(n).text;
    if (!text.trim() || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    const step = text.match(/^\s*-\s+([\w.]+):\s*$/);
    if (step) return step[1];
    if (!text.match(/^\s+[\w.]+:/)) return undefined;
  }
  return undefined;
}

// completions returns what can be typed at the cursor, given the server's words.
export function completions(words) {
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const word = (pattern) => {
      const found = before.match(pattern);
      return found && context.pos - found[1].length;
    };
    let from = word(/secret\(\s*["']([\w.-]*)$/);
    if (from !== null) return offer(from, words.secrets.map((name) => [name]), "constant");
    if (/[#$]\{[^}]*$/.test(before)) {
      from = word(/([\w.[\]]*)$/);
      if (from === context.pos && !context.explicit) return null;
      return offer(from, [...seen(), ...objects.map((name) => [name, undefined, undefined, 1]), ...words.functions.map(worded)], "variable");
    }
    from = word(/(?:eventKey|key):\s*["']?([\w.*#-]*)$/);
    if (from !== null) return offer(from, words.eventKeys.map((name) => [name]), "constant");
    from = word(/username:\s*["']?([\w.@-]*)$/);
    if (from !== null) return offer(from, words.users.map((name) => [name]), "constant");
    from = word(/^\s*-\s+([\w.]*)$/);
    if (from !== null) return offer(from, words.commands.map((c) => [c.name, c.summary, c.allowed ? "" : "not allowed to you"]), "function");
    const inline = before.match(/^\s*-\s+([\w.]+):\s*\{/);
    const name = inline ? inline[1] : stepOf(context.state.doc, line.number);
    const step = words.commands.find((c) => c.name === name);
    const given = before.match(inline ? /[{,]\s*(\w+):\s*([\w-]*)$/ : /^\s+(\w+):\s*([\w-]*)$/);
    const values = given && step?.params.find((p) => p.name === given[1])?.values;
    if (values) return offer(context.pos - given[2].length, values.map((value) => [value]), "constant");
    from = word(inline ? /[{,]\s*(\w*)$/ : /^\s+(\w*)$/);
    if (step && from !== null && (inline || context.explicit || from < context.pos)) return offerParameters(from, step, words.common);
    from = word(/^(\w+)$/);
    return from === null ? null : offer(from, words.sections.map(worded), "keyword");
  };
}
