package portal

import (
	"regexp"
	"strings"
	"unicode"

	"sluice"
	"sluice/wording"
)

// A sourceLine is a line of a pipeline's source.
type sourceLine struct {
	Number    int
	Fragments []fragment
	Remarks   []string // what is wrong with the line
}

// A fragment is a part of a line that looks the same.
type fragment struct{ Class, Text string }

// highlight returns the lines of a YAML source with their mistakes.
func highlight(source string, findings []sluice.Finding) []sourceLine {
	var lines []sourceLine
	for text := range strings.SplitSeq(strings.TrimSuffix(source, "\n"), "\n") {
		lines = append(lines, sourceLine{Number: len(lines) + 1, Fragments: fragments(text)})
	}
	for _, f := range findings {
		if f.Line >= 1 && f.Line <= len(lines) {
			lines[f.Line-1].Remarks = append(lines[f.Line-1].Remarks, f.Message)
		}
	}
	return lines
}

// around returns the lines with mistakes, and a few around each.
func around(lines []sourceLine) (near []sourceLine) {
	const some, most = 4, 200
	for i, line := range lines {
		for _, other := range lines[max(0, i-some):min(len(lines), i+some+1)] {
			if other.Remarks != nil && len(near) < most {
				near = append(near, line)
				break
			}
		}
	}
	return near
}

// beginning returns as many lines as a page shows.
func beginning(lines []sourceLine) []sourceLine {
	const most = 30 << 10
	size := 0
	for i, line := range lines {
		for _, p := range line.Fragments {
			size += len(p.Class) + len(p.Text) + 30
		}
		if size > most {
			return append(lines[:i:i], sourceLine{Fragments: []fragment{{"hl-comment", "… Edit shows the rest."}}})
		}
	}
	return lines
}

// fragments splits a line. It only guesses YAML: what it misreads has another colour.
func fragments(line string) (all []fragment) {
	rest, before := line, ' '
	for rest != "" {
		class, length := next(rest, before)
		if class == "hl-text" {
			all = append(all, inText(rest[:length])...)
		} else if last := len(all) - 1; last >= 0 && all[last].Class == class {
			all[last].Text += rest[:length]
		} else {
			all = append(all, fragment{class, rest[:length]})
		}
		before = rune(rest[length-1])
		rest = rest[length:]
	}
	return all
}

var expressions = regexp.MustCompile(`[#$]\{[^}]*\}?`)

// inText splits a quoted text at its expressions.
func inText(text string) (all []fragment) {
	done := 0
	for _, found := range expressions.FindAllStringIndex(text, -1) {
		if found[0] > done {
			all = append(all, fragment{"hl-text", text[done:found[0]]})
		}
		all = append(all, fragment{"hl-expression", text[found[0]:found[1]]})
		done = found[1]
	}
	if done < len(text) {
		all = append(all, fragment{"hl-text", text[done:]})
	}
	return all
}

// next returns the class and length of the first fragment of rest. before is the
// character before it.
func next(rest string, before rune) (class string, length int) {
	switch first := rest[0]; {
	case strings.HasPrefix(rest, "#{"), strings.HasPrefix(rest, "${"):
		return "hl-expression", upTo(rest, '}')
	case first == '#' && unicode.IsSpace(before):
		return "hl-comment", len(rest)
	case first == '"' || first == '\'':
		return quoted(rest)
	case isWord(rune(first)) && !isWord(before):
		return word(rest)
	}
	return "", 1
}

// upTo returns the length up to and including a character, or the whole length.
func upTo(text string, end byte) int {
	if i := strings.IndexByte(text, end); i >= 0 {
		return i + 1
	}
	return len(text)
}

// quoted returns the fragment of a quoted text or key.
func quoted(rest string) (class string, length int) {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && rest[0] == '"':
			i++
		case rest[i] == rest[0]:
			return ifKey(rest, i+1, "hl-text"), i + 1
		}
	}
	return "hl-text", len(rest)
}

// word returns the fragment of a key, a number, a constant or another word.
func word(rest string) (class string, length int) {
	for length < len(rest) && (isWord(rune(rest[length])) || rest[length] == '.' || rest[length] == '-') {
		length++
	}
	switch text := rest[:length]; {
	case text == "true", text == "false", text == "null", isNumber(text):
		class = "hl-number"
	}
	return ifKey(rest, length, class), length
}

// ifKey returns the class of keys if a colon follows, otherwise the given class.
func ifKey(rest string, length int, class string) string {
	if rest[length:] == ":" || strings.HasPrefix(rest[length:], ": ") {
		return "hl-key"
	}
	return class
}

func isNumber(text string) bool {
	return strings.Trim(text, "0123456789.") == "" && strings.ContainsAny(text, "0123456789")
}

func isWord(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// A tried says how past calls would end with a draft.
type tried struct {
	*sluice.TryResult

	Tally []tallied
	Calls []triedCall // the first that differ or still fail
	More  []triedCall // the next ones
	Left  int         // how many more there are
}

// A tallied says that a call, or how many calls, would end in some way.
type tallied struct{ Class, Text string }

// A triedCall is a call that a draft was tried on.
type triedCall struct {
	sluice.TryItem
	tallied

	Open bool // its details are open
}

func triedOf(result *sluice.TryResult) *tried {
	t := &tried{TryResult: result, Left: max(0, result.Tried()-result.Same+result.StillFails-len(result.Items))}
	for _, way := range []struct {
		count int
		class string
		text  string
	}{
		{result.Mended, "good", "failed before and would now succeed"},
		{result.New, "good", "would succeed; no pipeline has run on them yet"},
		{result.StillFails, "bad", "failed before and would fail again"},
		{result.Same - result.StillFails, "good", "would succeed as before"},
		{result.Differs - result.Mended - result.New, "wait", "would end in another way"},
		{result.Fails, "bad", "would fail"},
		{result.Unknown, "", "can’t be compared, because it is not known what other systems would have answered"},
	} {
		if way.count > 0 {
			t.Tally = append(t.Tally, tallied{way.class, wording.Count(way.count) + " " + way.text})
		}
	}
	const few, most = 3, 5
	for i, item := range result.Items {
		c := triedCall{item, verdictOn(item), i == 0 || len(result.Items) <= few}
		if i < most {
			t.Calls = append(t.Calls, c)
		} else {
			t.More = append(t.More, c)
		}
	}
	return t
}

// verdictOn says how one call would end.
func verdictOn(item sluice.TryItem) tallied {
	switch {
	case item.Verdict == sluice.TryFails:
		return tallied{"bad", "would fail"}
	case item.Verdict == sluice.TrySame && item.Failed():
		return tallied{"bad", "would fail again"}
	case item.Verdict == sluice.TrySame:
		return tallied{"good", "would succeed as before"}
	case item.Verdict == sluice.TryUnknown:
		return tallied{"", "can’t be compared"}
	case item.Was == nil && item.WouldBe != nil && item.WouldBe.Value != nil:
		return tallied{"good", wouldResult(item)}
	case item.Was == nil:
		return tallied{"good", "would succeed"}
	case item.Failed():
		return tallied{"good", "would now succeed"}
	case item.WouldBe != nil && item.WouldBe.Value != nil && string(item.WouldBe.Value) != string(item.Was.Value):
		return tallied{"wait", wouldResult(item)}
	}
	return tallied{"wait", "would end in another way"}
}

func wouldResult(item sluice.TryItem) string {
	const most = 80
	return "would result in " + clipped(string(item.WouldBe.Value), most)
}
