package sluice

import (
	"strconv"
	"strings"
	"time"
)

// A Word is a name that sources of pipelines use, with what it means.
type Word struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// SourceSections returns the sections that a source may have, the most common
// first.
func SourceSections() []Word {
	return []Word{
		{"description", "What the pipeline is for."},
		{"pipeline", "The steps."},
		{"vars", "Variables that a run starts with."},
		{"headers", "Headers that a run starts with."},
		{"body", "The body that a run starts with, unless it gets one."},
		{"concurrency", "How many runs at once; 1 keeps the order of events."},
		{"retry", "How a failed run is tried again: times, backoff, maxBackoff, within."},
		{"rate", "How often a run begins, such as 10/s."},
		{"timeout", "How long a run may take."},
		{"tests", "What goes in, and what must come out."},
	}
}

// StepParameters returns the parameters that every step has besides those of its
// command.
func StepParameters() []Word {
	return []Word{
		{"id", "A name for the step."},
		{"if", "The step is left out unless this is true."},
		{"input", "What the step works on, in place of the body."},
		{"output", "Where the output goes: body (default), vars.<name> or headers.<name>."},
		{"onError", "throw (default), ignore, or retry: {times, wait}."},
	}
}

// A LintResult lists the mistakes in the source of a pipeline, as pipeline.lint
// shows them.
type LintResult struct {
	Valid         bool      `json:"valid"`
	Listens       string    `json:"listens,omitempty"` // pattern of message keys
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

// A PipelineVersion is a source that a pipeline had, and who stored it when.
type PipelineVersion struct {
	Version int       `json:"version"`
	Owner   string    `json:"owner"`
	Time    time.Time `json:"time"`
	Packed  []byte    `json:"packed"` // the source, compressed
}

// A PipelineHistory holds the versions of a pipeline before the one it has now.
type PipelineHistory struct {
	Created  time.Time         `json:"created"`  // of the pipeline; a later one of the same name has a history of its own
	Versions []PipelineVersion `json:"versions"` // oldest first
}

// EntityTag names one version of a pipeline or a webhook. No other version under the
// same name ever has it.
func EntityTag(version int, stored time.Time) string {
	return strconv.Itoa(version) + "-" + strconv.FormatInt(stored.UnixMicro(), 36)
}

// TagMatches reports whether one of the tags, separated by commas, is a version's own,
// or *.
func TagMatches(tags, own string) bool {
	for tag := range strings.SplitSeq(tags, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.Trim(tag, `"`) == own {
			return true
		}
	}
	return false
}
