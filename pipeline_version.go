package sluice

import (
	"strconv"
	"time"
)

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

// EntityTag tells a version of a pipeline from all others that its name has had or
// will have.
func EntityTag(version int, stored time.Time) string {
	return strconv.Itoa(version) + "-" + strconv.FormatInt(stored.UnixMicro(), 36)
}
