package sluice

// A LintResult lists the mistakes in the source of a pipeline, as pipeline.lint
// shows them.
type LintResult struct {
	Valid    bool      `json:"valid"`
	Listens  string    `json:"listens,omitempty"` // pattern of message keys
	Problems []Finding `json:"problems"`
}

// A Finding is one mistake in a source.
type Finding struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Snippet   string `json:"snippet,omitempty"`
	Step      string `json:"step,omitempty"`
	Code      string `json:"code"`
	Parameter string `json:"parameter,omitempty"`
	Message   string `json:"message"`
}
