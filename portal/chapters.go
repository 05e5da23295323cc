package portal

import (
	"slices"
	"strings"
)

// A chapter is the commands whose names begin alike, as the list of commands and the
// reference of the API call them.
type chapter struct{ Name, Title string }

// generalChapter is what belongs to no command, and flowChapter the commands whose
// names have no dot.
const (
	generalChapter = "general"
	flowChapter    = "flow"
)

// chapters are those that have a title, in the order in which people need them.
var chapters = []chapter{
	{"webhook", "Webhooks"},
	{"provider", "Known senders"},
	{"pipeline", "Pipelines"},
	{"trace", "Calls"},
	{"deadletter", "Dead letters"},
	{"quarantine", "Quarantine"},
	{"event", "Events"},
	{"message", "Messages"},
	{flowChapter, "Steps that direct a pipeline"},
	{"http", "Requests to other systems"},
	{"convert", "Conversions"},
	{"crypto", "Hashes and signatures"},
	{"secret", "Secrets"},
	{"iam", "Users, roles and clients"},
	{"audit", "Audit log"},
	{"server", "Server"},
	{generalChapter, "Results, live events and health"},
}

// chapterOf returns the name of the chapter of a command.
func chapterOf(command string) string {
	name, _, dotted := strings.Cut(command, ".")
	if !dotted {
		return flowChapter
	}
	return name
}

// inOrder returns the chapters of these names, the known ones first.
func inOrder(names map[string]bool) (found []chapter) {
	for _, c := range chapters {
		if names[c.Name] {
			found = append(found, c)
		}
	}
	var others []chapter
	for name := range names {
		if !slices.ContainsFunc(chapters, func(c chapter) bool { return c.Name == name }) {
			others = append(others, chapter{name, name})
		}
	}
	slices.SortFunc(others, func(a, b chapter) int { return strings.Compare(a.Name, b.Name) })
	return append(found, others...)
}
