package sluice

import "time"

// A Secret is a value that pipelines use and nobody reads back.
type Secret struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Updated time.Time `json:"updated"`
	Used    time.Time `json:"used,omitzero"` // last, to the minute
}
