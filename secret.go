package sluice

import "time"

// A Secret is a value that pipelines use and nobody reads back.
type Secret struct {
	Name    string    `json:"name"`
	Sealed  []byte    `json:"sealed"` // encrypted
	Updated time.Time `json:"updated"`
}
