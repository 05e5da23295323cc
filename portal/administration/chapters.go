package administration

import (
	"maps"
	"slices"
	"strings"
)

// A chapter is the commands with one prefix, in the list of commands and in the API
// reference.
type chapter struct{ Name, Title string }

// flowChapter holds the commands without a prefix.
const flowChapter = "flow"

// chapters are those with a title, the most needed first.
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
	{"general", "Results, live events and health"},
}

func chapterOf(command string) string {
	name, _, dotted := strings.Cut(command, ".")
	if !dotted {
		return flowChapter
	}
	return name
}

// inOrder returns the chapters with the names of the keys, those with a title first.
func inOrder[T any](of map[string]T) (found []chapter) {
	for _, c := range chapters {
		if _, ok := of[c.Name]; ok {
			found = append(found, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.ContainsFunc(chapters, func(c chapter) bool { return c.Name == name }) {
			found = append(found, chapter{name, name})
		}
	}
	return found
}
