package sluice

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
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
	OwnerID string    `json:"ownerId,omitempty"` // that user's account, see User
	Roles   []string  `json:"roles,omitempty"`   // the owner's then; they count if an external provider has the users
	Folder  bool      `json:"folder,omitempty"`  // it comes from the operator's folder
	Version int       `json:"version,omitempty"` // counts its sources and owners from 1; 0 if it was stored before they were counted
	Binding *Binding  `json:"binding,omitempty"` // to the events that start it; nil if none do
	Paused  bool      `json:"paused,omitempty"`  // events wait for it
	Quiet   bool      `json:"quiet,omitempty"`   // a restore has paused it: until it is resumed, alerts tell nobody
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
	Schedule    string    `json:"schedule,omitempty" doc:"The times at which it runs, as its source has them."`
	Next        time.Time `json:"next,omitzero" doc:"The next of these times."`
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

// SchedulePrefix and the name of a pipeline make the key of the events that start it at its times.
const SchedulePrefix = "sluice.schedule."

// A Ticking is how far a pipeline is in its schedule. It is stored before the event of a time is
// sent, so that all nodes send the same one, and after a crash the next process does.
type Ticking struct {
	Schedule string    `json:"schedule"` // its text; another one begins anew
	Created  time.Time `json:"created"`  // of the pipeline
	At       time.Time `json:"at"`       // the latest time that an event was decided for
	Missed   int       `json:"missed"`   // times before it that no event was decided for
	Sent     bool      `json:"sent"`     // the event is stored, or there is none
}

// A Binding ties a pipeline to the events that start it.
type Binding struct {
	ID          string `json:"id"`
	Pattern     string `json:"pattern"`     // of message keys, see KeyMatches
	Concurrency int    `json:"concurrency"` // runs at the same time; 1 keeps the order of events
	Start       uint64 `json:"start"`       // position of the first event for the pipeline

	Types []string `json:"types,omitempty"` // of events that it takes, see HasType
	Where bool     `json:"where,omitempty"` // it may pass over events
	Rate  float64  `json:"rate,omitempty"`  // runs that begin in a second, on each node; 0 means any number

	Placed bool `json:"placed,omitempty"` // events may wait for others before they run, see Place
}

// Deliveries is how many events of the pipeline are handed out at the same time: only one if order
// counts, and more if it may pass over them, which takes no slot.
func (b *Binding) Deliveries() int {
	switch {
	case b.Concurrency == 1:
		return 1
	case b.Where:
		return 32 * b.Concurrency
	}
	return 8 * b.Concurrency
}

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
	Version int       `json:"version" doc:"Its number."`
	Owner   string    `json:"owner" doc:"Who stored it."`
	Time    time.Time `json:"time" doc:"When it was stored."`
	Current bool      `json:"current" doc:"It is the one that runs."`
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

// A Word is a name that sources of pipelines use, with what it means.
type Word struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

//go:embed source_words.json
var wordTable []byte

// SourceWords has the sections that a source may have, the most common first, and the parameters that
// every step has besides those of its command.
var SourceWords = sync.OnceValue(func() (words struct{ Sections, Parameters []Word }) {
	return table[struct{ Sections, Parameters []Word }](wordTable)
})
