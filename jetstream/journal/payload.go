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
	"sluice/jetstream/stream"
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

// errLater says that there is no memory left to look into an event: the next page goes
// on with it.
var errLater = errors.New("the next page goes on here")

// into reports whether an event has the text of the query in its payload. Of those before
// it in its chunk, the ones that may match are looked into as well, as far as time and
// memory allow, several at once: the journal knows how large they are.
func (l *lookedInto) into(
	ctx context.Context, s *search, c *chunk, sequence uint64, may func(sequence uint64) bool,
) (bool, error) {
	if has, ok := l.has[sequence]; ok {
		return has, nil
	}
	hold := s.memory.Hold()
	err := hold.Grow(ctx, copies*c.size(sequence))
	if err != nil && l.has != nil {
		return false, errLater
	}
	if err != nil {
		return false, err
	}
	*l = lookedInto{first: sequence, has: make(map[uint64]bool, chunkEvents)}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(readers)
	look := func(at uint64, hold limit.Hold) {
		l.first = at
		group.Go(func() error {
			defer hold.Release()
			has, err := s.inPayload(ctx, at)
			mu.Lock()
			defer mu.Unlock()
			l.has[at] = has
			return err
		})
	}
	look(sequence, hold)
	for at := sequence - 1; at >= max(1, sequence/chunkEvents*chunkEvents); at-- {
		if !may(at) {
			continue
		}
		hold := s.memory.Hold()
		if s.allow.spent() || hold.Try(copies*c.size(at)) != nil {
			break
		}
		look(at, hold)
	}
	err = group.Wait()
	return l.has[sequence], err
}

// inPayload reports whether an event, unless it is gone, has the text in its payload.
func (s *search) inPayload(ctx context.Context, sequence uint64) (bool, error) {
	msg, err := stream.Found(s.events.GetMsg(ctx, sequence))
	if msg == nil || err != nil {
		return false, err
	}
	s.allow.read(len(msg.Data))
	return payloadHas(msg.Data, s.text), nil
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
