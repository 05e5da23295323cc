// What the editor offers: commands, their parameters, event keys, secrets, and
// what expressions can use.

const objects = ["body", "vars", "headers", "request", "user"];

const worded = ({ name, doc }) => [name, doc];
const offer = (from, names, type) => ({
  from,
  validFor: /^[\w.@*#-]*$/,
  options: names.map(([label, info, detail]) => ({ label, info, detail, type })),
});

// stepOf returns the command whose parameters a line is among.
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

// completions returns what can stand where the cursor is, given the words that
// the server knows.
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
      from = word(/([\w.]*)$/);
      if (from === context.pos && !context.explicit) return null;
      return offer(from, [...objects.map((name) => [name]), ...words.functions.map((name) => [name])], "variable");
    }
    from = word(/(?:eventKey|key):\s*["']?([\w.*#-]*)$/);
    if (from !== null) return offer(from, words.eventKeys.map((name) => [name]), "constant");
    from = word(/username:\s*["']?([\w.@-]*)$/);
    if (from !== null) return offer(from, words.users.map((name) => [name]), "constant");
    from = word(/^\s*-\s+([\w.]*)$/);
    if (from !== null) return offer(from, words.commands.map((c) => [c.name, c.summary, c.allowed ? "" : "not allowed to you"]), "function");
    const command = words.commands.find((c) => before.match(/^\s*-\s+([\w.]+):\s*\{/)?.[1] === c.name);
    from = word(/[{,]\s*(\w*)$/);
    if (command && from !== null) return offer(from, [...command.params.map(worded), ...words.common.map(worded)], "property");
    from = word(/^\s+(\w*)$/);
    if (from !== null && (context.explicit || from < context.pos)) {
      const step = words.commands.find((c) => c.name === stepOf(context.state.doc, line.number));
      if (step) return offer(from, [...step.params.map(worded), ...words.common.map(worded)], "property");
    }
    from = word(/^(\w+)$/);
    return from === null ? null : offer(from, words.sections.map(worded), "keyword");
  };
}
