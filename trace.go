package sluice

import (
	"encoding/json"
	"time"
)

// A CallView is a call as trace.get shows it; in full, with its payload and result.
type CallView struct {
	Call

	Payload         json.RawMessage     `json:"payload,omitempty"` // of bytes: a Binary
	PayloadEncoding Encoding            `json:"payloadEncoding,omitempty"`
	ContentType     string              `json:"contentType,omitempty"`
	Method          string              `json:"method,omitempty"`
	Query           map[string][]string `json:"query,omitempty"`
	Headers         map[string]string   `json:"headers,omitempty"`
	Admitted        bool                `json:"admitted,omitempty"`
	Result          *Result             `json:"result,omitempty"` // as long as it is kept
}

// Files are the payload of an event whose call has uploaded some.
type Files struct {
	Files []struct {
		Filename    string   `json:"filename"`
		ContentType string   `json:"contentType"`
		Origin      string   `json:"origin"`
		Encoding    Encoding `json:"encoding"`
	} `json:"files"`
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
	Searched *time.Time `json:"searched,omitempty"`

	Facets *Facets `json:"facets,omitempty"`
}

// Facets are how the newest calls of a search divide.
type Facets struct {
	Calls     int        `json:"calls"`           // that were counted
	More      bool       `json:"more"`            // there are older ones, which were not
	Since     *time.Time `json:"since,omitempty"` // time of the oldest call that was counted
	Webhooks  []Facet    `json:"webhooks"`
	Types     []Facet    `json:"types"`
	Pipelines []Facet    `json:"pipelines"`
	Statuses  []Facet    `json:"statuses"`
	Codes     []Facet    `json:"codes"`
}

// A Facet is a value that a search can be narrowed to.
type Facet struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}
