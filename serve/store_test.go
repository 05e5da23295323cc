package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
)

// A stored event is a message in the store, read as a consumer would read it.
type stored struct {
	EventKey        string              `json:"eventKey"`
	Namespace       string              `json:"namespace"`
	TraceID         string              `json:"traceId"`
	ReceivedAt      time.Time           `json:"receivedAt"`
	Payload         json.RawMessage     `json:"payload"`
	PayloadType     string              `json:"payloadType"`
	PayloadEncoding string              `json:"payloadEncoding"`
	ContentType     string              `json:"contentType"`
	Method          string              `json:"method"`
	Path            string              `json:"path"`
	Query           map[string][]string `json:"query"`
	Headers         map[string]string   `json:"headers"`
	RemoteAddr      string              `json:"remoteAddr"`

	subject string
	data    []byte
}

// object returns the event's JSON with its numbers as they are written.
func (e stored) object(t *testing.T) map[string]any {
	t.Helper()
	return decode(t, e.data).(map[string]any)
}

// events stops the server and gives all events of its store by their trace ids, except those
// about alerts: a restart raises one, and so does a disk that is busy for seconds.
func (s *service) events() map[string]stored {
	s.t.Helper()
	events := make(map[string]stored)
	for _, event := range s.messages()["EVENTS"] {
		if err := json.Unmarshal(event.data, &event); err != nil {
			s.t.Fatal(err)
		}
		if strings.HasPrefix(event.EventKey, sluice.AlertPrefix) {
			continue
		}
		if _, twice := events[event.TraceID]; twice {
			s.t.Fatalf("two events have the trace id %s", event.TraceID)
		}
		events[event.TraceID] = event
	}
	return events
}

// messages stops the server and reads its store with an engine of the test's
// own: what is there has survived the process, and it is all there is.
func (s *service) messages() map[string][]stored {
	s.t.Helper()
	s.stop()
	engine, err := server.NewServer(&server.Options{
		DontListen: true,
		NoSigs:     true,
		NoLog:      true,
		JetStream:  true,
		StoreDir:   filepath.Join(s.config.Data, "engine"),
		MaxPayload: 8 << 20,

		JetStreamMaxMemory: 1 << 30,
		JetStreamMaxStore:  1 << 50,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	engine.Start()
	defer func() {
		engine.Shutdown()
		engine.WaitForShutdown()
	}()
	if !engine.ReadyForConnections(patience) {
		s.t.Fatal("the store can't be opened")
	}
	conn, err := nats.Connect("", nats.InProcessServer(engine))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience)) // a busy machine is slow
	if err != nil {
		s.t.Fatal(err)
	}
	messages := make(map[string][]stored)
	streams := js.ListStreams(s.t.Context())
	for info := range streams.Info() {
		name := info.Config.Name
		if messages[name], err = readStream(s.t.Context(), js, name); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := streams.Err(); err != nil {
		s.t.Fatal(err)
	}
	return messages
}

// readStream returns all messages of a stream.
func readStream(ctx context.Context, js jetstream.JetStream, name string) (messages []stored, err error) {
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	state := stream.CachedInfo().State
	for sequence := state.FirstSeq; state.Msgs > 0 && sequence <= state.LastSeq; sequence++ {
		msg, err := stream.GetMsg(ctx, sequence)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages = append(messages, stored{subject: msg.Subject, data: msg.Data})
	}
	return messages, nil
}

// wantExactly checks that the events of these trace ids are stored and no others.
func wantExactly(t *testing.T, events map[string]stored, traceIDs []string) {
	t.Helper()
	var got []string
	for id := range events {
		got = append(got, id)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(traceIDs))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored events differ from accepted calls (-accepted +stored):\n%s", diff)
	}
}
