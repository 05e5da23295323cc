package sluice

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
