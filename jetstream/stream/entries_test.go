package stream

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// spoilt is a stream in which no message is an entry, or in which reading fails.
type spoilt struct {
	jetstream.Stream

	err error
}

func (s *spoilt) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return &jetstream.RawStreamMsg{Subject: "s", Data: []byte("{")}, s.err
}

func (s *spoilt) CachedInfo() *jetstream.StreamInfo { return new(jetstream.StreamInfo) }

// TestWhatIsLeftOutIsLogged: each message once, up to a bound. An error of the engine is not
// an error of a message.
func TestWhatIsLeftOutIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := new(spoilt)
	entries := NewEntries(&Host{Log: slog.New(slog.NewTextHandler(&log, nil))}, s, func(at *time.Time) time.Time { return *at })
	for range 3 {
		for sequence := range uint64(2 * maxLeftOut) {
			if entry, err := entries.Read(t.Context(), sequence); entry != nil || err != nil {
				t.Fatalf("read is %v (%v)", entry, err)
			}
		}
	}
	if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != maxLeftOut+1 {
		t.Errorf("the log has %d lines", lines)
	}
	s.err = errors.New("no leader")
	if _, err := entries.Read(t.Context(), 1); sluice.AsError(err).Kind != sluice.Unavailable {
		t.Errorf("the engine fails, and the error is %v", err)
	}
}
