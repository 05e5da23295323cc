package sluice

import (
	"strconv"
	"strings"
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
	Created  time.Time         `json:"created"`  // of the pipeline; a later one of that name has its own history
	Versions []PipelineVersion `json:"versions"` // oldest first
}

// A VersionView is a version of a pipeline as pipeline.versions shows it.
type VersionView struct {
	Version int       `json:"version"`
	Owner   string    `json:"owner"` // who stored it
	Time    time.Time `json:"time"`
	Current bool      `json:"current"`
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
