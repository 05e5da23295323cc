package sluice

import "strings"

// A LintResult lists the mistakes in the source of a pipeline, as pipeline.lint
// shows them.
type LintResult struct {
	Valid         bool      `json:"valid" doc:"There are no problems."`
	Listens       string    `json:"listens,omitempty" doc:"Pattern of the message keys that start it."`
	Sends         []string  `json:"sends,omitempty" doc:"Keys of the events that it sends, as far as the source names them, and of its schedule."`
	RightsChecked bool      `json:"rightsChecked" doc:"Rights were checked as well."`
	Problems      []Finding `json:"problems" doc:"What keeps it from being stored."`
	Warnings      []Finding `json:"warnings,omitempty" doc:"What should be looked at."`
}

// A Finding is one thing that is wrong in a source, or with who stores it.
type Finding struct {
	Line       int    `json:"line" doc:"Where in the source it is."`
	Column     int    `json:"column" doc:"Where in the line it is."`
	Snippet    string `json:"snippet,omitempty" doc:"That part of the source."`
	Step       string `json:"step,omitempty" doc:"The step that it is about."`
	Command    string `json:"command,omitempty" doc:"The command that may not be run."`
	Permission string `json:"permission,omitempty" doc:"The permission that is missing."`
	Code       string `json:"code" doc:"A stable word for it."`
	Parameter  string `json:"parameter,omitempty" doc:"The parameter at fault."`
	Message    string `json:"message" doc:"What is wrong."`
	Hint       string `json:"hint,omitempty" doc:"What to do; for missing rights, the line to add."`
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
