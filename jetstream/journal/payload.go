package journal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"sluice"
	"sluice/limit"
)

// readers is how many events a search reads at the same time.
const readers = 16

// copies is how many times the bytes of an event are in memory while a search
// looks into it: on their way through the engine, as they are stored, and decoded.
const copies = 6

// lookedInto says which of some successive events have the text in their payload.
type lookedInto struct {
	first uint64
	has   map[uint64]bool
}

// A reading is an event to look into, and the memory for that.
type reading struct {
	sequence uint64
	hold     limit.Hold
}

// errLater says that there is no memory left to look into an event: the next page goes
// on with it.
var errLater = errors.New("the next page goes on here")

// inPayload reports whether an event has the text of the query in its payload.
// Those before it in its chunk are looked into as well, as far as time and memory
// allow, several at once: the journal knows how large they are.
func (w *eventWalk) inPayload(ctx context.Context, sequence uint64) (bool, error) {
	if has, ok := w.looked.has[sequence]; ok {
		return has, nil
	}
	hold := w.memory.Hold()
	err := hold.Grow(ctx, copies*w.chunk.size(sequence))
	if err != nil && w.looked.has != nil {
		return false, errLater
	}
	if err != nil {
		return false, err
	}
	w.looked = lookedInto{first: sequence, has: make(map[uint64]bool, chunkEvents)}
	var mu sync.Mutex
	var group errgroup.Group
	work := make(chan reading)
	for range readers {
		group.Go(func() (failed error) {
			for r := range work {
				has, err := w.look(ctx, r.sequence)
				r.hold.Release()
				mu.Lock()
				w.looked.has[r.sequence] = has
				mu.Unlock()
				failed = errors.Join(failed, err)
			}
			return failed
		})
	}
	work <- reading{sequence, hold}
	w.lookAhead(sequence, work)
	close(work)
	err = group.Wait()
	return w.looked.has[sequence], err
}

// lookAhead hands out the events before one, in its chunk.
func (w *eventWalk) lookAhead(sequence uint64, work chan<- reading) {
	for at := sequence - 1; at >= max(1, w.first, sequence/chunkEvents*chunkEvents); at-- {
		m := &w.entries[at%indexed]
		if !w.may(m) || !w.mayHaveStatus(at, m) {
			continue
		}
		hold := w.memory.Hold()
		if w.allow.spent() || hold.Try(copies*w.chunk.size(at)) != nil {
			return
		}
		work <- reading{at, hold}
		w.looked.first = at
	}
}

// look reports whether an event, unless it is gone, has the text in its payload.
func (w *eventWalk) look(ctx context.Context, sequence uint64) (bool, error) {
	msg, err := storedEvent(ctx, w.events, sequence)
	if msg == nil || err != nil {
		return false, err
	}
	w.allow.read(len(msg.Data))
	return payloadHas(msg.Data, w.text), nil
}

// payloadHas reports whether a stored event has a text in its payload: in the text,
// JSON or bytes that were sent, or in its files.
func payloadHas(data []byte, text string) bool {
	var e struct {
		Payload  json.RawMessage `json:"payload"`
		Encoding sluice.Encoding `json:"payloadEncoding"`
	}
	if json.Unmarshal(data, &e) != nil {
		return false
	}
	has := func(content []byte) bool { return bytes.Contains(bytes.ToLower(content), []byte(text)) }
	var payload struct {
		Origin string `json:"origin"`
		Files  []struct {
			Filename string          `json:"filename"`
			Origin   string          `json:"origin"`
			Encoding sluice.Encoding `json:"encoding"`
		} `json:"files"`
	}
	switch e.Encoding {
	case sluice.EncodingText:
		var sent string
		return json.Unmarshal(e.Payload, &sent) == nil && has([]byte(sent))
	case sluice.EncodingBase64, sluice.EncodingFiles:
		if json.Unmarshal(e.Payload, &payload) != nil {
			return false
		}
		if content, err := base64.StdEncoding.DecodeString(payload.Origin); err == nil && has(content) {
			return true
		}
		for _, f := range payload.Files {
			content := []byte(f.Origin)
			if f.Encoding != sluice.EncodingText {
				content, _ = base64.StdEncoding.DecodeString(f.Origin) // up to what can't be decoded
			}
			if has([]byte(f.Filename)) || has(content) {
				return true
			}
		}
		return false
	}
	return has(e.Payload)
}
