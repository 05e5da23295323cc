package sluice

import (
	"encoding/json"
	"time"
)

// A CallView is a call as trace.get shows it; in full, with its payload and result.
type CallView struct {
	Call

	Payload         json.RawMessage     `json:"payload,omitempty" doc:"The payload; of bytes, their size and kind."`
	PayloadEncoding Encoding            `json:"payloadEncoding,omitempty" doc:"How it is carried."`
	ContentType     string              `json:"contentType,omitempty" doc:"Of the call."`
	Method          string              `json:"method,omitempty" doc:"Of the call."`
	Query           map[string][]string `json:"query,omitempty" doc:"Of the call, without tokens."`
	Headers         map[string]string   `json:"headers,omitempty" doc:"Of the call, without secrets."`
	Admitted        bool                `json:"admitted,omitempty" doc:"It was let out of the quarantine."`
	Result          *Result             `json:"result,omitempty" doc:"What its caller polls for, as long as it is kept."`
}

// Files are the payload of an event whose call has uploaded some.
type Files struct {
	Files []struct {
		Filename    string   `json:"filename"`
		ContentType string   `json:"contentType"`
		Origin      string   `json:"origin"`
		Encoding    Encoding `json:"encoding"`
	} `json:"files"`
	Fields json.RawMessage `json:"fields,omitempty"` // of the form
}

// A Binary stands for bytes, which are shown only if they are few.
type Binary struct {
	Filename string `json:"filename,omitempty"`
	Size     int    `json:"size"`
	Type     string `json:"type"`
	Origin   string `json:"origin,omitempty"`
}

// A TraceAnswer is what trace.get has found.
type TraceAnswer struct {
	List[CallView]

	// Searched is how far back a search for a text has looked, if it is not
	// done: next goes on from there.
	Searched *time.Time `json:"searched,omitempty" doc:"How far back a search for a text has looked; next goes on from there."`

	Facets *Facets `json:"facets,omitempty" doc:"How the newest calls divide."`
}

// Facets are how the newest calls of a search divide.
type Facets struct {
	Calls     int        `json:"calls" doc:"How many were counted."`
	More      bool       `json:"more" doc:"There are older ones, which were not."`
	Since     *time.Time `json:"since,omitempty" doc:"Time of the oldest that was counted."`
	Webhooks  []Facet    `json:"webhooks" doc:"By event key."`
	Types     []Facet    `json:"types" doc:"By type."`
	Pipelines []Facet    `json:"pipelines" doc:"By pipeline."`
	Statuses  []Facet    `json:"statuses" doc:"By status."`
	Codes     []Facet    `json:"codes" doc:"By code of the error."`
}

// A Facet is a value that a search can be narrowed to.
type Facet struct {
	Value string `json:"value" doc:"What to narrow the search to."`
	Count int    `json:"count" doc:"How many calls have it."`
}
