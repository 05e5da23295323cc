package backup

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

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

// NewWriter starts a backup.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	first := fmt.Appendf(nil, "%s%d\n", magic, format)
	w := &Writer{to: to, sum: crc32.Checksum(first, checksums)}
	if _, err := to.Write(first); err != nil {
		return nil, err
	}
	return w, w.describe(headerFrame, h)
}
