package jetstream

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sluice/durable"
	"sluice/jetstream/damage"
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
	if s.Spool, err = spool.Open(ctx, running, h, opts.SpoolMaxBytes, stream.MaxMessage); err != nil {
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
		if (watermarks{}).unfinished(l) {
			s.host.Log.Warn("An unfinished write to the spool was cut off. Nobody was told that it is stored.", "file", l.File, "problem", l.Problem)
			continue
		}
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
