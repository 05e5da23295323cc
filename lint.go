package sluice

import "strings"

// A LintResult lists the mistakes in the source of a pipeline, as pipeline.lint
// shows them.
type LintResult struct {
	Valid         bool      `json:"valid"`
	Listens       string    `json:"listens,omitempty"` // pattern of message keys
	Sends         []string  `json:"sends,omitempty"`   // keys of events, as far as the source names them
	RightsChecked bool      `json:"rightsChecked"`     // not so without a server
	Problems      []Finding `json:"problems"`
	Warnings      []Finding `json:"warnings,omitempty"`
}

// A Finding is one thing that is wrong in a source, or with who stores it.
type Finding struct {
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Snippet    string `json:"snippet,omitempty"`
	Step       string `json:"step,omitempty"`
	Command    string `json:"command,omitempty"`
	Permission string `json:"permission,omitempty"` // that is lacking
	Code       string `json:"code"`
	Parameter  string `json:"parameter,omitempty"`
	Message    string `json:"message"`
	Hint       string `json:"hint,omitempty"` // what to do; for a lack of rights the line to add
}

// Advice returns what to do about the finding, in a sentence.
func (f Finding) Advice() string {
	switch {
	case strings.HasPrefix(f.Hint, "sluice "):
		return "Try: " + f.Hint
	case !strings.HasPrefix(f.Hint, "- "):
		return f.Hint
	case f.Command == "iam.run.as":
		return "Write in its place: " + f.Hint
	}
	return "Add before it: " + f.Hint
}
