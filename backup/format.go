// Package backup reads and writes backup files.
//
// A file starts with a line that names the format. Frames follow, each with its type,
// its length, its content, and a checksum (CRC-32C) of the whole file so far: a
// changed byte and a missing or misplaced frame are found where they are. The last
// frame says that nothing is missing.
//
// What streams are, and their order, is package jetstream's business.
package backup

import (
	"encoding/json"
	"hash/crc32"
	"time"

	"sluice"
)

// format is the version of the files that this program writes and reads.
const format = 1

// magic starts every file; the format and a line end follow.
const magic = "sluice backup, format "

// Types of frames.
const (
	headerFrame  = 'H'
	streamFrame  = 'S' // starts a stream
	dataFrame    = 'D' // some of the stream's contents
	endFrame     = 'E'
	failureFrame = 'F' // why the backup ends early
)

const (
	frameHead = 5        // type and length
	frameSum  = 4        // checksum
	maxFrame  = 16 << 20 // content: a damaged length must not take all memory
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// A Header describes the server that a backup is of.
type Header struct {
	Created   time.Time  `json:"created"`
	Version   string     `json:"version"`    // of the server
	Data      int        `json:"dataFormat"` // format of the server's data
	Engine    string     `json:"engine"`
	Namespace string     `json:"namespace"`
	Key       *SealedKey `json:"key,omitempty"` // nil if the operator has the key
}

// A Stream is a stream of the engine at one moment.
type Stream struct {
	Name     string          `json:"name"`
	Config   json.RawMessage `json:"config"` // as the engine describes it
	State    json.RawMessage `json:"state"`  // likewise
	Messages uint64          `json:"messages"`
	Bytes    uint64          `json:"bytes"` // of its messages as they are stored
}

// A Summary counts what a backup has.
type Summary struct {
	Streams  int    `json:"streams"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"` // of messages as they are stored
}

func (s *Summary) add(of Stream) {
	s.Streams++
	s.Messages += of.Messages
	s.Bytes += of.Bytes
}

// damaged is the error for a file that can't be restored.
func damaged(format string, args ...any) error {
	return sluice.CodeBackupDamaged.Errorf(format, args...)
}
