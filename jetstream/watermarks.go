package jetstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/durable"
	"sluice/jetstream/damage"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
	"sluice/value"
)

const (
	watermarksFile = "marks" // in the embedded engine's folder
	watermarkEvery = time.Second
)

// watermarks say how much there was on stable storage. The engine forgets what it can't
// read; by the watermarks a start notices that something is gone.
type watermarks struct {
	First   uint64                   `json:"first"` // of the events: none before it is needed any more
	Last    uint64                   `json:"last"`
	Key     string                   `json:"key"` // hash of the key of the correlation ids
	Buckets map[string]record.Extent `json:"buckets"`
	Streams map[string]uint64        `json:"streams,omitempty"` // the last message of each stream with a writer
	Sealed  json.RawMessage          `json:"sealed,omitempty"`  // the current generation of the buckets
	Forgets bool                     `json:"forgets,omitempty"` // events were removed from the middle of the stream

	unknown bool // there was no file, or it could not be read
}

// noWatermarks is the warning of a store that has streams, and no watermarks.
const noWatermarks = "the file engine/marks, which says how much is stored, was missing or could not be read: what " +
	"the disk has lost can't be told; compare with a backup"

// statistics are the buckets that may shrink: a lost count leaves a gap in charts, a lost
// alert is raised again, and an event that was forgotten seems lost: none causes a wrong answer.
// Any other bucket could cause one: to a sender, an unknown token is final.
var statistics = []string{
	stream.Minutes, stream.Hours, stream.PipelineStates, stream.Alerts, stream.Closed, stream.Missed, stream.Forgotten,
}

// readWatermarks returns the watermarks of a folder, empty ones if they can't be read.
func readWatermarks(dir string) (m watermarks, err error) {
	text, err := os.ReadFile(filepath.Join(dir, watermarksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return watermarks{unknown: true}, nil
	}
	if err != nil {
		return m, err
	}
	if json.Unmarshal(text, &m) != nil {
		return watermarks{unknown: true}, nil //nolint:nilerr // the file itself is damaged, and says nothing
	}
	return m, nil
}

// lostBeside reports whether the watermarks are missing in a store with these streams.
func (m watermarks) lostBeside(streams []string) bool { return m.unknown && len(streams) > 0 }

// last returns the last message of a stream that was on stable storage.
func (m watermarks) last(name string) (sequence uint64, known bool) {
	if name == stream.Events {
		return m.Last, !m.unknown
	}
	if bucket, ok := m.Buckets[strings.TrimPrefix(name, stream.BucketPrefix)]; ok {
		return bucket.Revision, true
	}
	sequence, known = m.Streams[name]
	return sequence, known
}

// unfinished reports whether a loss is a write that was not on stable storage yet, so nobody
// was told that it is. Of a stream without a watermark that is only what was written last.
func (m watermarks) unfinished(l damage.Loss) bool {
	if last, known := m.last(l.Stream); known {
		return max(l.First, 1) > last
	}
	return l.First > 0 && l.Last == 0
}

// count returns how many messages a loss is, as far as that can be told.
func (m watermarks) count(l damage.Loss) int64 {
	last, _ := m.last(l.Stream)
	if l.Last > 0 {
		last = l.Last
	}
	return max(1, int64(last)-int64(max(l.First, 1))+1)
}

// AcceptDamage makes the next start of an engine that is not running accept its buckets as
// they are. The other watermarks are still needed: by them a start reports lost events, and
// does not skip the new ones that get their sequences. If the record of the current
// generation is lost, the watermarks hold the only copy.
func AcceptDamage(dir string) error {
	m, err := readWatermarks(dir)
	if err != nil {
		return err
	}
	m.Buckets, m.Key = nil, ""
	return m.store(dir)
}

// spoil notes which buckets have lost something that was on stable storage, and reports
// whether any has. It must be noted because the engine goes on with what it can read, so the
// next start would not notice.
func (m watermarks) spoil(losses []damage.Loss) (spoiled bool) {
	for _, l := range losses {
		bucket := strings.TrimPrefix(l.Stream, stream.BucketPrefix)
		if was, known := m.Buckets[bucket]; known && 0 < l.First && l.First <= was.Revision {
			was.Spoiled, spoiled = true, true
			m.Buckets[bucket] = was
		}
	}
	return spoiled
}

// store puts the watermarks on stable storage.
func (m watermarks) store(dir string) error {
	text, err := value.Marshal(m)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, watermarksFile), text)
}

// shrunk says what is missing of a bucket, "" if nothing is.
func (m watermarks) shrunk(name string, has record.Extent) string {
	was, known := m.Buckets[has.Bucket]
	// Changes since the watermark may have removed records.
	least := was.Records - int(max(has.Revision, was.Revision)-was.Revision)
	switch {
	case !known, has.Revision >= was.Revision && has.Records >= least && !was.Spoiled:
		return ""
	case was.Records <= has.Records:
		return fmt.Sprintf("changes of the %s are lost", name)
	default:
		return fmt.Sprintf("of the %s %d of %d are left", name, has.Records, was.Records)
	}
}

func lostRecords(which string) string {
	return "the disk has lost records: " + which +
		"; restore the data folder from a backup, or accept the loss with sluice check --accept while the server is " +
		"stopped"
}

// missing returns which messages below the watermarks can't be read.
func (m watermarks) missing(streams map[string]damage.Extent) (findings []string) {
	events := streams[stream.Events]
	if m.Last > 0 && m.Last >= m.First && events.Last < m.Last && !m.Forgets {
		findings = append(findings,
			fmt.Sprintf("%s: events %d to %d are missing at the end", stream.Events, max(m.First, events.Last+1),
				m.Last))
	}
	if m.First > 0 && events.First > m.First && !m.Forgets {
		findings = append(findings,
			fmt.Sprintf("%s: events %d to %d are missing at the start", stream.Events, m.First, events.First-1))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Buckets)) {
		if last := streams[stream.BucketPrefix+name].Last; last < m.Buckets[name].Revision {
			findings = append(findings, fmt.Sprintf("%s: changes %d to %d are missing; there were %d records",
				stream.BucketPrefix+name, last+1, m.Buckets[name].Revision, m.Buckets[name].Records))
		}
	}
	return findings
}
