package jetstream

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/damage"
	"sluice/jetstream/delivery"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
)

// A spooler is a spool with its embedded engine.
type spooler struct {
	*spool.Spool

	folder *durable.Folder
	host   *stream.Host
	server *server.Server
	damage []string // what the disk has lost or spoiled
	cancel context.CancelFunc
}

// openSpool opens the spool in a folder, beside an external engine.
func openSpool(ctx context.Context, opts Options) (_ *spooler, err error) {
	folder, err := durable.OpenFolder(opts.SpoolDir)
	if err != nil {
		return nil, err
	}
	h := stream.NewEmbedded(opts.Log, folder.Store())
	h.Syncs = opts.syncs
	if opts.ObserveBatch != nil {
		h.Observe = func(string) func(int, time.Duration) { return opts.ObserveBatch("SPOOL") }
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &spooler{folder: folder, host: h, cancel: cancel}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.inspect(); err != nil {
		return nil, err
	}
	if s.server, h.Conn, err = startEmbedded(Options{Dir: h.Dir, Sync: opts.Sync, Log: opts.Log}); err != nil {
		return nil, err
	}
	if err := h.Connect(h.Conn, h.Conn); err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, stream.SetUpTimeout)
	defer done()
	if s.Spool, err = spool.Open(ctx, running, h, opts.SpoolMaxBytes, maxMessage); err != nil {
		return nil, err
	}
	h.WatchDisk(running, opts.MinFreeDisk)
	h.SetReady()
	return s, nil
}

// inspect checks the files before the engine opens them, because the engine cuts off what it
// can't read.
func (s *spooler) inspect() error {
	if err := os.MkdirAll(s.host.Dir, 0o700); err != nil {
		return err
	}
	if err := durable.Probe(s.host.Dir); err != nil {
		return err
	}
	aside := filepath.Join(s.host.Dir, "damaged", time.Now().UTC().Format("20060102T150405"))
	losses, err := damage.Of(s.host.Dir).Contain(aside, func(string) bool { return true }, func(int64, int64) {})
	for _, l := range losses {
		s.host.Log.Error("A file of the spool is damaged. What it was like is kept in the folder damaged.", "file", l.File, "problem", l.Problem, "first", l.First, "last", l.Last)
		s.damage = append(s.damage, "of the spool: "+l.Public())
	}
	return err
}

// close stops the spool. Its calls stay there for the next start.
func (s *spooler) close() {
	if s.Spool != nil {
		if n := s.Count(); n > 0 {
			s.host.Log.Warn("Calls wait in the spool; they are handed over when this node starts again on the same data folder.", "calls", n)
		}
	}
	s.cancel()
	if s.server != nil {
		s.host.Wait()
		s.host.Conn.Close()
		stopEmbedded(s.server)
	}
	s.folder.Close()
}

// startSpool opens the spool if one is configured. If it fails, the node serves without, and
// warns the operator.
func (e *Engine) startSpool(ctx context.Context) {
	if e.opts.URL == "" || e.opts.SpoolDir == "" {
		return
	}
	var err error
	if e.spool, err = openSpool(ctx, e.opts); err != nil {
		e.spool = nil
		e.host.Log.Error("There is no spool: calls are refused while the engine is away.", "error", err)
		e.spoolProblem = "there is no spool, so calls are refused while the engine is away; the log has the cause"
		return
	}
	e.fallback = &spool.Fallback{
		Spool: e.spool.Spool, Events: e.once, Results: e.Stored, Host: e.host, Address: e.Stored.address, Encode: encode,
	}
	e.Events, e.Results = e.fallback, e.fallback
}

// handOver hands over the calls in the spool, until ctx ends.
func (e *Engine) handOver(ctx context.Context, markers *delivery.Markers) {
	ids := e.Stored.ids
	e.spool.HandOver(ctx, spool.Destination{
		Host: e.host, Events: e.Stored.stream, Markers: markers, IDs: ids, Withdrawn: withdrawnSubject,
		Stored: func(sequence uint64, subject string, event *sluice.Event) {
			e.Stored.stored(sequence, subject, event)
			e.Journal.Call(sluice.Call{
				TraceID: event.TraceID, CorrelationID: ids.ID(sequence, event.TraceID), EventKey: event.EventKey, Time: sluice.MadeAt(event.TraceID, event.ReceivedAt),
				Status: sluice.StatusBefore(event.Listeners), StatusCode: http.StatusOK, Size: len(event.Payload), RemoteAddr: event.RemoteAddr, Listeners: event.Listeners,
			})
		},
	})
}

// spoolWarnings returns what an operator should know about the spool.
func (e *Engine) spoolWarnings() (warnings []string) {
	if e.spoolProblem != "" {
		warnings = append(warnings, e.spoolProblem)
	}
	if e.spool == nil {
		return warnings
	}
	warnings = append(warnings, e.spool.damage...)
	if n := e.spool.Count(); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d calls wait in the spool of this node until the engine takes them", n))
	}
	if err := e.host.Ready(); err != nil {
		warnings = append(warnings, "the engine is away; calls go to the spool, and commands and pipelines have to wait")
	}
	if err := e.spool.Ready(); err != nil {
		warnings = append(warnings, "the spool takes no calls: "+sluice.AsError(err).Message)
	}
	return warnings
}

// Spooled returns how many calls wait in the spool.
func (e *Engine) Spooled() int64 {
	if e.spool == nil {
		return 0
	}
	return e.spool.Count()
}
