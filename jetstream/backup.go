package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server/archive"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/backup"
	"sluice/jetstream/delivery"
	"sluice/jetstream/queue"
	"sluice/jetstream/record"
	"sluice/jetstream/stream"
	"sluice/journal"
)

// backupOrder returns the streams of a backup in the order in which they are taken
// (docs/decisions/0020). The moment of a backup is that of the stream of events.
//
// What tells of events comes before them, so that it tells of no event that is not
// in the backup: its sequence would be used again. What came of events comes
// behind them, so that whatever a pipeline has acknowledged by then waits for
// another attempt, or has its outcome there. Floors come before the pipelines they are of.
func (e *Engine) backupOrder() []string {
	order := []string{record.StateStream, e.floors.StreamName(), e.keys.StreamName()}
	for _, b := range e.buckets() {
		if b.Name() != e.floors.Name() {
			order = append(order, b.StreamName())
		}
	}
	ofEvents, eventless := journal.Streams()
	order = append(order, ofEvents...)
	if e.host.Embedded {
		order = append(order, delivery.RecordStream)
	}
	return append(order, eventStream,
		queue.WaitingStream, queue.OutcomeStream, queue.DeadLetterStream, eventless, quarantineStream, auditStream)
}

// Backup writes all that is stored to a backup, while the engine goes on.
func (e *Engine) Backup(ctx context.Context, to *backup.Writer) error {
	if err := e.host.Connected(); err != nil {
		return err
	}
	if !e.backing.TryLock() {
		return sluice.Errorf(sluice.Conflict, "backup-running", "Another backup is being made; wait until it has ended.")
	}
	defer e.backing.Unlock()
	// A connection of its own: calls must not wait behind it.
	conn, err := e.connection()
	if err != nil {
		return stream.NoAnswer(err)
	}
	defer conn.Close()
	e.journal.Finish()
	if err := e.floors.Write(ctx); err != nil {
		return err
	}
	s := &backupRun{conn: conn, to: to, calls: e.events.writer.Durable}
	for _, name := range e.backupOrder() {
		if err := s.take(ctx, name, name == eventStream); err != nil {
			return fmt.Errorf("backup of %s: %w", name, err)
		}
	}
	return to.End()
}

// connection returns a further connection to the server.
func (e *Engine) connection() (*nats.Conn, error) {
	if e.host.Embedded {
		return connectEmbedded(e.server)
	}
	return connectExternal(e.opts, stream.NewLink(e.opts.Log))
}

const (
	chunkSize   = 256 << 10
	chunkWindow = 4 << 20 // chunks that are on their way

	// chunkTimeout is how long the engine may be silent: it gives up itself
	// when nobody takes what it sends for 5 seconds.
	chunkTimeout = 30 * time.Second

	// A cluster that changes its leaders does not answer, or fails.
	snapshotAttempts = 5
)

// A backupRun takes streams as they are at a moment, each at its own.
type backupRun struct {
	conn *nats.Conn
	to   *backup.Writer

	calls func() uint64 // how many there were
	seen  uint64        // of them, at
	at    time.Time
	busy  bool // there are many
}

// yield lets calls go first: nobody waits for a backup. While more than some come, it
// sends some 25 MB a second; a backup that took all it can get would slow them down, and
// then take their small number for leave to do so.
func (s *backupRun) yield() {
	const look, some, rest = 100 * time.Millisecond, 20, 10 * time.Millisecond
	if took := time.Since(s.at); took > look {
		calls := s.calls()
		s.busy = s.seen > 0 && time.Duration(calls-s.seen)*look > some*took
		s.seen, s.at = calls, time.Now()
	}
	if s.busy {
		time.Sleep(rest)
	}
}

// take writes a stream, with its consumers if they are wanted.
func (s *backupRun) take(ctx context.Context, name string, consumers bool) error {
	for attempt := 1; ; attempt++ {
		begun, err := s.try(ctx, name, consumers)
		if err == nil || begun || attempt == snapshotAttempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// try writes a stream. If it fails before it has begun to, it can be tried again.
func (s *backupRun) try(ctx context.Context, name string, consumers bool) (begun bool, err error) {
	chunks := make(chan *nats.Msg, 2*chunkWindow/chunkSize)
	inbox := s.conn.NewInbox()
	sub, err := s.conn.ChanSubscribe(inbox, chunks)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection ends soon
	var answer struct {
		apiAnswer

		Config json.RawMessage `json:"config"`
		State  json.RawMessage `json:"state"`
	}
	err = ask(ctx, s.conn, "$JS.API.STREAM.SNAPSHOT."+name, map[string]any{
		"deliver_subject": inbox, "no_consumers": !consumers, "chunk_size": chunkSize, "window_size": chunkWindow,
	}, &answer)
	if err != nil {
		return false, err
	}
	var state struct {
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
	}
	if err := json.Unmarshal(answer.State, &state); err != nil {
		return false, err
	}
	about := backup.Stream{Name: name, Config: answer.Config, State: answer.State, Messages: state.Messages, Bytes: state.Bytes}
	return s.copy(ctx, about, chunks)
}

// copy writes the chunks of a stream. The first is held until another follows: an
// attempt that fails early leaves nothing in the backup.
func (s *backupRun) copy(ctx context.Context, about backup.Stream, chunks <-chan *nats.Msg) (begun bool, err error) {
	var held *nats.Msg
	for {
		var msg *nats.Msg
		select {
		case <-ctx.Done():
			return begun, ctx.Err()
		case <-time.After(chunkTimeout):
			return begun, stream.NoAnswer(errors.New("the engine does not go on with a snapshot"))
		case msg = <-chunks:
		}
		if status := msg.Header.Get("Status"); status != "" && status != "204" {
			return begun, stream.NoAnswer(fmt.Errorf("snapshot: status %s %s", status, msg.Header.Get("Description")))
		}
		if held != nil {
			if begun, err = s.write(about, held.Data, begun); err != nil {
				return begun, err
			}
		}
		if len(msg.Data) == 0 {
			return begun, nil
		}
		if msg.Reply != "" {
			if err := msg.Respond(nil); err != nil {
				return begun, err
			}
		}
		held = msg
	}
}

// write writes a chunk of a stream, and before the first one what is known of the
// stream. It reports whether the backup has something of the stream.
func (s *backupRun) write(about backup.Stream, chunk []byte, begun bool) (bool, error) {
	if !begun {
		if err := checkArchive(chunk); err != nil {
			return false, err
		}
		if err := s.to.Stream(about); err != nil {
			return true, err
		}
	}
	_, err := s.to.Write(chunk)
	s.yield()
	return true, err
}

// checkArchive refuses the snapshots of engines that copy their files one after the
// other: their consumers may be ahead of their messages. The first bytes of what is
// compressed can't be a repetition of others, so they are there as they are.
func checkArchive(first []byte) error {
	const within = 64
	if !bytes.Contains(first[:min(within, len(first))], []byte(archive.MagicBytes)) {
		return sluice.Errorf(sluice.Unavailable, "engine-too-old", "The engine is too old to be backed up while it runs; it must be as new as the one that sluice has built in.")
	}
	return nil
}

// An apiAnswer is what all answers of the engine's API have in common.
type apiAnswer struct {
	Error *jetstream.APIError `json:"error"`
}

func (a *apiAnswer) failure() error {
	if a.Error == nil {
		return nil
	}
	return a.Error
}

// ask sends a request to the engine's API, for which its client has no function.
func ask(ctx context.Context, conn *nats.Conn, subject string, request any, answer interface{ failure() error }) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	content, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply, err := conn.RequestWithContext(ctx, subject, content)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		return err
	}
	return answer.failure()
}
