package jetstream

import (
	"context"
	"time"

	"sluice/durable"
	"sluice/jetstream/damage"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/seal"
	"sluice/wait"
)

// spoolRetry is the pause between two tries to open a spool that has failed.
const spoolRetry = time.Second

// A spooler is a spool with its embedded engine. If that fails, another takes its place.
type spooler struct {
	*spool.Spool

	opts   Options
	keys   *seal.Messages
	folder *durable.Folder
	cancel context.CancelFunc
	ended  chan struct{} // closed when the last engine has stopped
	damage lossLog
}

// openSpool opens the spool in a folder, beside an external engine.
func openSpool(ctx context.Context, opts Options) (*spooler, error) {
	key, err := opts.spoolKey()
	if err != nil {
		return nil, err
	}
	keys, err := seal.NewMessages(key)
	if err != nil {
		return nil, err
	}
	folder, err := durable.OpenFolder(opts.SpoolDir)
	if err != nil {
		return nil, err
	}
	s := &spooler{
		Spool: spool.New(opts.SpoolMaxBytes), opts: opts, keys: keys, folder: folder,
		ended: make(chan struct{}),
	}
	first, err := s.start(ctx)
	if err != nil {
		folder.Close()
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go s.keep(ctx, first)
	return s, nil
}

// keep opens the spool again whenever its engine fails, until ctx ends.
func (s *spooler) keep(ctx context.Context, current *spoolEngine) {
	defer close(s.ended)
	for {
		select {
		case <-ctx.Done():
			current.stop()
			return
		case <-current.host.Failed():
		}
		current.stop()
		for failed := ""; ; {
			var err error
			if current, err = s.start(ctx); err == nil {
				s.opts.Log.Info("The spool is open again.", "calls", s.Count())
				break
			}
			if ctx.Err() == nil && err.Error() != failed {
				failed = err.Error()
				s.opts.Log.Error("The spool can't be opened again; trying on.", "error", err)
			}
			if wait.For(ctx, spoolRetry) != nil {
				return
			}
		}
	}
}

// A spoolEngine is the embedded engine of a spool.
type spoolEngine struct {
	host   *stream.Host
	server process
	cancel context.CancelFunc
}

// stop returns when the engine has left the folder.
func (e *spoolEngine) stop() {
	e.cancel()
	if e.server != nil {
		e.host.Wait()
		e.host.Disconnect()
		if !stopEmbedded(e.server) {
			e.server.WaitForShutdown()
		}
	}
}

// start starts an engine and opens the spool on it.
func (s *spooler) start(ctx context.Context) (_ *spoolEngine, err error) {
	h := stream.NewEmbedded(s.opts.Log, s.folder.Store())
	h.Syncs, h.Reopened = s.opts.syncs, true
	h.UseKeys(s.keys, s.opts.SealEvents)
	if s.opts.ObserveBatch != nil {
		h.Observe = func(string) func(int, time.Duration) { return s.opts.ObserveBatch("SPOOL") }
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := &spoolEngine{host: h, cancel: cancel}
	defer func() {
		if err != nil {
			e.stop()
		}
	}()
	if err := s.inspect(h.Dir); err != nil {
		return nil, err
	}
	if e.server, err = connectEmbedded(h, Options{Dir: h.Dir, Sync: s.opts.Sync, Log: s.opts.Log}); err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, stream.SetUpTimeout)
	defer done()
	if err := s.Open(ctx, running, h); err != nil {
		return nil, err
	}
	h.WatchDisk(running, s.opts.MinFreeDisk)
	h.SetReady()
	return e, nil
}

// inspect checks the files before the engine opens them, because the engine cuts off what it
// can't read.
func (s *spooler) inspect(dir string) error {
	if err := durable.Probe(dir); err != nil {
		return err
	}
	store := damage.Of(dir)
	store.Cuts = true
	report, err := store.Read()
	s.damage.note(s.opts.Log, ofSpool, report.Losses, watermarks{}, false)
	return err
}

// close stops the spool. Its calls stay there for the next start.
func (s *spooler) close() {
	if n := s.Count(); n > 0 {
		s.opts.Log.Warn("Calls wait in the spool; they are handed over when this node starts again on the same data "+
			"folder.", "calls", n)
	}
	s.cancel()
	<-s.ended
	s.folder.Close()
}
