package pipelines

import (
	"regexp"
	"strings"
)

// tokens matches what has a colour in a line of YAML. It only guesses: what it misreads has another colour.
var tokens = regexp.MustCompile(`(?P<expression>[#$]\{[^}]*\}?)` +
	`|(?:^|\s)(?P<comment>#(?:[^{].*)?)$` +
	`|(?P<text>"(?:\\.|[^"\\])*\\?"?|'[^']*'?)` +
	`|\b(?P<word>\w[\w.-]*)`)

// constant matches a word that is a number, or has a meaning of its own.
var constant = regexp.MustCompile(`^(?:true|false|null|\.*[0-9][0-9.]*)$`)

// fragments splits a line.
func fragments(line string) (all []fragment) {
	done := 0
	for _, at := range tokens.FindAllStringSubmatchIndex(line, -1) {
		for i, name := range tokens.SubexpNames() {
			begin, end := at[2*i], at[2*i+1]
			if name == "" || begin < 0 {
				continue
			}
			all = with(all, "", line[done:begin])
			switch rest, token := line[end:], line[begin:end]; {
			case (name == "text" || name == "word") && (rest == ":" || strings.HasPrefix(rest, ": ")):
				all = with(all, "hl-key", token)
			case name == "word" && constant.MatchString(token):
				all = with(all, "hl-number", token)
			case name == "word":
				all = with(all, "", token)
			case name == "text":
				all = inText(all, token)
			default:
				all = with(all, "hl-"+name, token)
			}
			done = end
		}
	}
	return with(all, "", line[done:])
}

// with adds a text to fragments.
func with(all []fragment, class, text string) []fragment {
	last := len(all) - 1
	switch {
	case text == "":
	case last >= 0 && all[last].Class == class:
		all[last].Text += text
	default:
		all = append(all, fragment{class, text})
	}
	return all
}

var expressions = regexp.MustCompile(`[#$]\{[^}]*\}?`)

// inText adds a quoted text, split at its expressions.
func inText(all []fragment, text string) []fragment {
	done := 0
	for _, found := range expressions.FindAllStringIndex(text, -1) {
		all = with(all, "hl-text", text[done:found[0]])
		all = with(all, "hl-expression", text[found[0]:found[1]])
		done = found[1]
	}
	return with(all, "hl-text", text[done:])
}
