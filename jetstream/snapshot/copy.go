// Package snapshot moves whole streams between an engine and a backup: copy.go
// writes them while the engine runs, restore.go makes them on an engine that
// has none.
//
// Package jetstream decides which streams there are and in which order they are
// copied; package backup defines the file.
package snapshot

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
	"sluice/jetstream/stream"
	"sluice/stretch"
	"sluice/value"
	"sluice/wait"
)

// A Copier writes streams to a backup, each as it is at one moment.
type Copier struct {
	conn *nats.Conn
	to   *backup.Writer

	calls func() uint64 // how many calls there were
	seen  uint64        // what calls returned last
	at    time.Time     // when that was
	busy  bool          // many calls came since
}

// NewCopier returns a copier with a connection of its own. While many calls come, as
// calls counts them, it lets them go first.
func NewCopier(conn *nats.Conn, to *backup.Writer, calls func() uint64) *Copier {
	return &Copier{conn: conn, to: to, calls: calls}
}

// yield lets calls go first: nobody waits for a backup. While many calls come, it slows
// the backup to some 25 MB a second. A backup at full speed would slow the calls down,
// and then find that few come.
func (s *Copier) yield() {
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

// Copy writes a stream, that of events with its consumers.
func (s *Copier) Copy(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		begun, err := s.try(ctx, name)
		if err == nil || begun || attempt == snapshotAttempts || ctx.Err() != nil {
			return err
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// try writes a stream. If it fails before begun, it can be tried again.
func (s *Copier) try(ctx context.Context, name string) (begun bool, err error) {
	chunks := make(chan *nats.Msg, 2*chunkWindow/chunkSize)
	inbox := s.conn.NewInbox()
	sub, err := s.conn.ChanSubscribe(inbox, chunks)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection ends soon
	about, err := ask[backup.Stream](ctx, s.conn, "$JS.API.STREAM.SNAPSHOT."+name, map[string]any{
		"deliver_subject": inbox, "no_consumers": name != stream.Events, "chunk_size": chunkSize,
		"window_size": chunkWindow,
	})
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(about.State, &about); err != nil { // it counts the messages and their bytes
		return false, err
	}
	about.Name = name
	return s.receive(ctx, about, chunks)
}

// receive writes the chunks of a stream. The first is held until another follows: an
// attempt that fails early leaves nothing in the backup.
func (s *Copier) receive(ctx context.Context, about backup.Stream, chunks <-chan *nats.Msg) (begun bool, err error) {
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

// write writes a chunk of a stream, and before the first chunk the description of the
// stream. It reports whether the backup has anything of the stream.
func (s *Copier) write(about backup.Stream, chunk []byte, begun bool) (bool, error) {
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
// other: their consumers may be ahead of their messages. The archive is compressed, but
// its first bytes repeat nothing before them, so they are there unchanged.
func checkArchive(first []byte) error {
	const within = 64
	if !bytes.Contains(first[:min(within, len(first))], []byte(archive.MagicBytes)) {
		return sluice.CodeEngineTooOld.Errorf("The engine is too old to be backed up while it runs; it must " +
			"be as new as the one that sluice has built in.")
	}
	return nil
}

const (
	chunkSize   = 256 << 10
	chunkWindow = 4 << 20 // bytes sent and not acknowledged yet

	// chunkTimeout is how long the engine may be silent. It gives up after 5
	// seconds itself, if nobody takes what it sends.
	chunkTimeout = 30 * time.Second

	// snapshotAttempts: a cluster that changes its leaders fails, or does not reply.
	snapshotAttempts = 5
)

// An extent is the part of a stream's state that a restore compares.
type extent struct {
	LastSeq uint64 `json:"last_seq"`
}

// ask sends a request to the engine's API that its client has no function for.
func ask[T any](ctx context.Context, conn *nats.Conn, subject string, request any) (reply T, err error) {
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(stream.AskTimeout))
	defer cancel()
	content, err := value.Marshal(request)
	if err != nil {
		return reply, err
	}
	return answer[T](conn.RequestWithContext(ctx, subject, content))
}

// answer reads a reply of the engine's API, which may be an error.
func answer[T any](msg *nats.Msg, err error) (reply T, _ error) {
	if err != nil {
		return reply, stream.NoAnswer(err)
	}
	var failed struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(msg.Data, &failed); err != nil {
		return reply, err
	}
	if failed.Error != nil {
		return reply, failed.Error
	}
	return reply, json.Unmarshal(msg.Data, &reply)
}
