package journal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// fits reports whether an event with its runs has the code and the text of the
// query.
func (w *eventWalk) fits(ctx context.Context, c *sluice.Call, sequence uint64) (bool, error) {
	if !w.hasCode(c) {
		return false, nil
	}
	if w.mentions(c) {
		return true, nil
	}
	if !w.q.InPayload {
		return false, nil
	}
	data, err := w.event(ctx, sequence)
	return err == nil && payloadHas(data, w.text), err
}

// hasCode reports whether a call was refused, or one of its runs failed, as the
// query wants.
func (s *search) hasCode(c *sluice.Call) bool {
	if s.q.Code == "" || c.Code == s.q.Code {
		return true
	}
	for _, run := range c.Runs {
		if run.Error != nil && run.Error.Code == s.q.Code {
			return true
		}
	}
	return false
}

// mentions reports whether what is known of a call has the text of the query in
// it.
func (s *search) mentions(c *sluice.Call) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), s.text) }
	if has(c.EventKey) || has(c.Key) || has(c.TraceID) || has(c.ReplayOf) || has(c.RemoteAddr) || has(c.Code) || s.q.InCorrelation && has(c.CorrelationID) {
		return true
	}
	for _, run := range c.Runs {
		if has(run.Pipeline) || run.Error != nil && (has(run.Error.Code) || has(run.Error.Detail)) {
			return true
		}
	}
	return false
}

// Events that a search looks into are read ahead, by several readers at once.
const ahead, readers = 512, 16

// event returns an event as it is stored, nil if it is gone.
func (w *eventWalk) event(ctx context.Context, sequence uint64) ([]byte, error) {
	if data, ok := w.read[sequence]; ok {
		return data, nil
	}
	w.read = make(map[uint64][]byte, ahead)
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	work := make(chan uint64)
	for range readers {
		all.Go(func() {
			for at := range work {
				msg, err := w.events.GetMsg(ctx, at)
				mu.Lock()
				switch {
				case err == nil:
					w.read[at] = msg.Data
					w.allow.read(len(msg.Data))
				case !errors.Is(err, jetstream.ErrMsgNotFound):
					failed = stream.NoAnswer(err)
				}
				mu.Unlock()
			}
		})
	}
	for at := sequence; at+ahead > sequence && at >= max(1, w.first, w.number*indexed); at-- {
		if at == sequence || w.may(&w.marks[at%indexed]) && !w.allow.spent() {
			work <- at
		}
	}
	close(work)
	all.Wait()
	return w.read[sequence], failed
}

// payloadHas reports whether a stored event has a text in its payload: in the
// text or the JSON that was sent, or in the bytes and files of it.
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
				content, _ = base64.StdEncoding.DecodeString(f.Origin) // what could be read of it
			}
			if has([]byte(f.Filename)) || has(content) {
				return true
			}
		}
		return false
	}
	return has(e.Payload)
}
