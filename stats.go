package sluice

import "time"

// ServerStats is what a server is doing, as server.stats tells it.
type ServerStats struct {
	Ready       bool            `json:"ready"`
	Problem     string          `json:"problem,omitempty"` // why it is not ready
	Warnings    []string        `json:"warnings,omitempty"`
	Engine      string          `json:"engine"`
	FreeDisk    int64           `json:"freeDisk"` // bytes; -1 with an external engine
	Events      int64           `json:"events"`
	EventBytes  int64           `json:"eventBytes"`
	DeadLetters int64           `json:"deadLetters"`
	Results     int64           `json:"results"`
	Webhooks    int             `json:"webhooks"`
	Pipelines   []PipelineStats `json:"pipelines"` // that listen
	Minutes     []MinuteFigures `json:"minutes"`
}

// PipelineStats are what a pipeline has not finished, or failed on.
type PipelineStats struct {
	Pipeline    string     `json:"pipeline"`
	Waiting     int64      `json:"waiting"`
	Oldest      *time.Time `json:"oldest,omitempty"` // of those that wait
	DeadLetters int64      `json:"deadLetters"`
}

// MinuteFigures are a minute as it is shown. Times are in milliseconds.
type MinuteFigures struct {
	Time      time.Time `json:"time"`
	Accepted  int       `json:"accepted"`
	Refused   int       `json:"refused"`
	Failed    int       `json:"failed"`
	Runs      int       `json:"runs"`
	RunErrors int       `json:"runErrors"`
	P50       float64   `json:"p50"`
	P99       float64   `json:"p99"`
}

// Figures gives a minute as it is shown.
func (m *Minute) Figures() MinuteFigures {
	return MinuteFigures{
		Time: m.Start, Accepted: m.Accepted, Refused: m.Refused, Failed: m.Failed, Runs: m.Runs, RunErrors: m.RunErrors,
		P50: milliseconds(m.Quantile(0.5)), P99: milliseconds(m.Quantile(0.99)),
	}
}
