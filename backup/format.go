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
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"golang.org/x/crypto/argon2"

	"sluice"
	"sluice/seal"
	"sluice/value"
)

// A Writer writes a backup. Callers use its methods in order: for each stream Stream
// and Write, and in the end End or Fail.
type Writer struct {
	to      io.Writer
	sum     uint32
	summary Summary
	head    [frameHead]byte
}

// NewWriter starts a backup.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	first := fmt.Appendf(nil, "%s%d\n", magic, format)
	w := &Writer{to: to, sum: crc32.Checksum(first, checksums)}
	if _, err := to.Write(first); err != nil {
		return nil, err
	}
	return w, w.describe(headerFrame, h)
}

// Stream starts a stream.
func (w *Writer) Stream(s Stream) error {
	w.summary.add(s)
	return w.describe(streamFrame, s)
}

// Write adds to the contents of the current stream.
func (w *Writer) Write(content []byte) (int, error) { return len(content), w.frame(dataFrame, content) }

// End says that the backup is whole.
func (w *Writer) End() error { return w.describe(endFrame, w.summary) }

// Fail says why the backup ends early.
func (w *Writer) Fail(message string) error { return w.frame(failureFrame, []byte(message)) }

func (w *Writer) describe(frameType byte, content any) error {
	text, err := value.Marshal(content)
	if err != nil {
		return err
	}
	return w.frame(frameType, text)
}

func (w *Writer) frame(frameType byte, content []byte) error {
	w.head[0] = frameType
	binary.BigEndian.PutUint32(w.head[1:], uint32(len(content)))
	w.sum = crc32.Update(crc32.Update(w.sum, checksums, w.head[:]), checksums, content)
	var sum [frameSum]byte
	binary.BigEndian.PutUint32(sum[:], w.sum)
	for _, part := range [][]byte{w.head[:], content, sum[:]} {
		if _, err := w.to.Write(part); err != nil {
			return err
		}
	}
	return nil
}

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
	return sluice.Errorf(sluice.CodeBackupDamaged, format, args...)
}

// A SealedKey is the key that opens the records of a backup, sealed with a passphrase.
// An empty passphrase only hides it from a glance: whoever has the file has the key.
type SealedKey struct {
	Passphrase bool   `json:"passphrase"` // there is one
	Salt       []byte `json:"salt"`
	Sealed     []byte `json:"sealed"`
}

const keyName = "key of a backup" // what the box seals it for

// SealKey seals a key with a passphrase, which may be empty.
func SealKey(key, passphrase string) (*SealedKey, error) {
	k := &SealedKey{Passphrase: passphrase != "", Salt: make([]byte, 16)}
	_, _ = rand.Read(k.Salt) // never fails
	box, err := k.box(passphrase)
	if err != nil {
		return nil, err
	}
	k.Sealed = box.Seal(keyName, []byte(key))
	return k, nil
}

// Open returns the key.
func (k *SealedKey) Open(passphrase string) (string, error) {
	if k.Passphrase && passphrase == "" {
		return "", sluice.Errorf(sluice.CodePassphraseMissing, "The key in this backup is sealed with a passphrase; give it as SLUICE_BACKUP_PASSPHRASE.")
	}
	if !k.Passphrase {
		passphrase = ""
	}
	box, err := k.box(passphrase)
	if err != nil {
		return "", err
	}
	key, err := box.Open(keyName, k.Sealed)
	if err != nil {
		return "", sluice.Errorf(sluice.CodePassphraseWrong, "The key in this backup was sealed with another passphrase.").Because(err)
	}
	return string(key), nil
}

// box is slow on purpose if there is a passphrase: people think up weak ones.
func (k *SealedKey) box(passphrase string) (*seal.Box, error) {
	const threads = 1
	passes, memory := uint32(3), uint32(64<<10) // as RFC 9106 recommends
	if passphrase == "" {
		passes, memory = 1, 8
	}
	return seal.New(argon2.IDKey([]byte(passphrase), k.Salt, passes, memory, threads, seal.KeySize))
}
