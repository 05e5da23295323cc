// Highlights a source: as much YAML as pipelines need, and expressions.
import { StreamLanguage } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const parser = {
  name: "pipeline",
  startState: () => ({ quote: "", depth: 0 }),
  token(stream, state) {
    if (state.depth > 0) return expression(stream, state);
    if (stream.match(/[#$]\{/)) {
      state.depth = 1;
      return "expression";
    }
    if (state.quote) return quoted(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.peek() === "#" && (stream.sol() || /\s/.test(stream.string[stream.pos - 1] ?? " "))) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/["']/)) {
      state.quote = stream.current();
      return "string";
    }
    if (stream.match(/[\w.@-]+(?=\s*:(\s|$))/)) return "key";
    if (stream.match(/-(?=\s|$)/) || stream.match(/[{}[\],:|>]/)) return "mark";
    if (stream.match(/(true|false|null|-?\d+(\.\d+)?(ms|s|m|h|d)?)(?=[\s,}\]]|$)/)) return "value";
    if (!stream.match(/[^\s"'#${}[\],:]+/)) stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'], before: ")]}:;>\"'" } },
  tokenTable: { key: tags.propertyName, expression: tags.special(tags.string), value: tags.number, mark: tags.punctuation },
};

// expression reads up to the end of an expression, past braces inside it.
function expression(stream, state) {
  while (!stream.eol()) {
    const next = stream.next();
    if (next === "{") state.depth++;
    if (next === "}" && --state.depth === 0) break;
  }
  return "expression";
}

// quoted reads up to the end of a quoted text, or to an expression inside it.
function quoted(stream, state) {
  while (!stream.eol()) {
    if (stream.match(/[#$]\{/, false)) return "string";
    const next = stream.next();
    if (next === "\\" && state.quote === '"') stream.next();
    else if (next === state.quote) {
      state.quote = "";
      break;
    }
  }
  return "string";
}

export const pipelineLanguage = StreamLanguage.define(parser);
