package backup

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"sluice"
)

// A Reader reads a backup, and checks what it returns. The backup is whole only if
// Next returns io.EOF in the end.
type Reader struct {
	Header Header

	from    *bufio.Reader
	sum     uint32
	offset  int64 // bytes read so far
	stream  string
	summary Summary // of the streams so far
	content []byte  // of the last frame
	left    []byte  // the rest of it, for Read
	next    byte    // type of the frame that Read found after the contents, or 0
}

// NewReader reads the start of a backup.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{from: bufio.NewReaderSize(from, 1<<20)}
	if err := r.checkFormat(); err != nil {
		return nil, err
	}
	frameType, err := r.frame()
	if err != nil {
		return nil, err
	}
	if frameType != headerFrame {
		return nil, r.misplaced(frameType)
	}
	return r, r.decode(&r.Header)
}

// checkFormat reads the first line.
func (r *Reader) checkFormat() error {
	const longest = 40
	line, err := r.from.Peek(longest)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	first, _, ended := strings.Cut(string(line), "\n")
	number, ours := strings.CutPrefix(first, magic)
	found, err := strconv.Atoi(number)
	switch {
	case !ours && strings.HasPrefix(magic, first):
		return r.cutOff()
	case !ours || ended && err != nil:
		return damaged("This is no backup of sluice.")
	case !ended:
		return r.cutOff()
	case found > format:
		return sluice.CodeBackupNewer.Errorf("A newer version wrote this backup: it has format %d, this "+
			"program knows %d. Restore it with that version.", found, format)
	}
	r.offset = int64(len(first)) + 1
	r.sum = crc32.Checksum(line[:r.offset], checksums)
	_, err = r.from.Discard(int(r.offset))
	return err
}

// Next goes on to the next stream, and skips the rest of the one before. At the end of
// a whole backup it returns io.EOF.
func (r *Reader) Next() (Stream, error) {
	frameType, err := r.next, error(nil)
	if r.next = 0; frameType == 0 {
		frameType, err = r.frame()
	}
	for err == nil && frameType == dataFrame && r.stream != "" {
		frameType, err = r.frame()
	}
	r.left = nil
	if err != nil {
		return Stream{}, err
	}
	switch frameType {
	case streamFrame:
		var s Stream
		if err := r.decode(&s); err != nil {
			return Stream{}, err
		}
		r.stream = s.Name
		r.summary.add(s)
		return s, nil
	case endFrame:
		return Stream{}, r.end()
	}
	return Stream{}, r.misplaced(frameType)
}

// Read reads the contents of the current stream.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.next != 0 {
			return 0, io.EOF
		}
		frameType, err := r.frame()
		switch {
		case err != nil:
			return 0, err
		case frameType == dataFrame:
			r.left = r.content
		default:
			r.next = frameType
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// end checks the last frame, and that nothing follows.
func (r *Reader) end() error {
	var said Summary
	if err := r.decode(&said); err != nil {
		return err
	}
	if said != r.summary {
		return damaged("The backup is damaged: it has %d streams with %d messages, and should have %d with %d.",
			r.summary.Streams, r.summary.Messages, said.Streams, said.Messages)
	}
	if _, err := r.from.ReadByte(); err == nil {
		return damaged("The backup is damaged: there is something behind its end, at byte %d.", r.offset)
	}
	return io.EOF
}

// frame reads a frame, and returns its type.
func (r *Reader) frame() (byte, error) {
	var head [frameHead]byte
	if err := r.fill(head[:]); err != nil {
		return 0, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > maxFrame {
		return 0, r.broken()
	}
	r.content = slices.Grow(r.content[:0], int(length)+frameSum)[:length+frameSum]
	if err := r.fill(r.content); err != nil {
		return 0, err
	}
	content, sum := r.content[:length], r.content[length:]
	r.content = content
	r.sum = crc32.Update(crc32.Update(r.sum, checksums, head[:]), checksums, content)
	if r.sum != binary.BigEndian.Uint32(sum) {
		return 0, r.broken()
	}
	r.offset += int64(frameHead+frameSum) + int64(length)
	if head[0] == failureFrame {
		return 0, sluice.CodeBackupFailed.Errorf("The backup ended early: %s", r.content)
	}
	return head[0], nil
}

func (r *Reader) fill(p []byte) error {
	_, err := io.ReadFull(r.from, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.cutOff()
	}
	return err
}

func (r *Reader) decode(into any) error {
	if err := json.Unmarshal(r.content, into); err != nil {
		return r.broken()
	}
	return nil
}

func (r *Reader) cutOff() error {
	return damaged("The backup is cut off behind byte %d%s: its end is missing.", r.offset, r.where())
}

func (r *Reader) broken() error {
	return damaged("The backup is damaged behind byte %d%s: a checksum does not match.", r.offset, r.where())
}

func (r *Reader) misplaced(frameType byte) error {
	return damaged("The backup is damaged behind byte %d%s: there is a part of the kind %q that does not belong there.",
		r.offset, r.where(), frameType)
}

// where names the current stream in errors.
func (r *Reader) where() string {
	if r.stream == "" {
		return ""
	}
	return ", in " + r.stream
}
