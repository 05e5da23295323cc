package sluice

import (
	"regexp"
	"strings"
	"time"
)

var validPipelineName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,127}$`)

// PipelineNameRule says in words what the name of a pipeline is.
const PipelineNameRule = "1 to 128 lower-case letters, digits, dots, _ and -, beginning with a letter or digit"

// ValidPipelineName reports whether a text can be the name of a pipeline.
func ValidPipelineName(name string) bool { return validPipelineName.MatchString(name) }

// A Pipeline is a stored pipeline.
type Pipeline struct {
	Name    string    `json:"name"`
	Source  string    `json:"source"`
	Owner   string    `json:"owner"`             // the user who stored it last
	OwnerID string    `json:"ownerId,omitempty"` // that user's account, see User; empty if it was stored before accounts had ids
	Roles   []string  `json:"roles,omitempty"`   // the owner's then; they count if an external provider has the users
	Folder  bool      `json:"folder,omitempty"`  // it comes from the operator's folder
	Version int       `json:"version,omitempty"` // counts its sources and owners from 1; 0 if it was stored before they were counted
	Binding *Binding  `json:"binding,omitempty"` // to the events that start it; nil if none do
	Paused  bool      `json:"paused,omitempty"`  // events wait for it
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Pipelines is the store of pipelines, by name.
type Pipelines interface {
	Records[Pipeline]

	// Changed returns a channel that is closed at the next change, whichever
	// node makes it.
	Changed() <-chan struct{}
}

// A PipelineView is a stored pipeline as its commands show it.
type PipelineView struct {
	Name        string    `json:"name" doc:"Its name."`
	Description string    `json:"description,omitempty" doc:"What its source says about it."`
	Source      string    `json:"source,omitempty" doc:"Its source, in YAML or JSON; lists leave it out."`
	Owner       string    `json:"owner" doc:"Who stored it last, with whose rights it may switch users."`
	Listens     string    `json:"listens,omitempty" doc:"Pattern of the message keys that start it."`
	Paused      bool      `json:"paused,omitempty" doc:"Events wait until it is resumed."`
	Concurrency int       `json:"concurrency,omitempty" doc:"How many runs it has at the same time at most."`
	Rate        string    `json:"rate,omitempty" doc:"How often it begins a run at most, such as 10/s."`
	Folder      bool      `json:"folder" doc:"It is from the folder of the operator."`
	Version     int       `json:"version" doc:"Number of the current source."`
	ETag        string    `json:"etag" doc:"Tells this source from others, for If-Match."`
	Created     time.Time `json:"created" doc:"When it was first stored."`
	Updated     time.Time `json:"updated" doc:"When it was last stored."`
	Warnings    []Finding `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}

// Document returns the source alone, for requests that want no JSON.
func (v PipelineView) Document() (mediaType, text string) { return "application/yaml", v.Source }

// EntityTag names this version of the pipeline.
func (v PipelineView) EntityTag() string { return v.ETag }

// ListensTo returns what starts the pipeline, as its author wrote it.
func (v PipelineView) ListensTo() string { return strings.TrimPrefix(v.Listens, EventPrefix) }

// A Binding ties a pipeline to the events that start it.
type Binding struct {
	ID          string `json:"id"`
	Pattern     string `json:"pattern"`     // of message keys, see KeyMatches
	Concurrency int    `json:"concurrency"` // runs at the same time; 1 keeps the order of events
	Start       uint64 `json:"start"`       // position of the first event for the pipeline

	Rate float64 `json:"rate,omitempty"` // runs that begin in a second, on each node; 0 means any number
}
