package serve

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sluice"
	"sluice/stretch"
)

const (
	// drainTimeout bounds how long a stop waits for calls in flight, and then for the disk
	// with what is left of it, unless Timeouts says otherwise.
	drainTimeout = 10 * time.Second
	// silence is how long nobody has called before connections are closed.
	silence = 200 * time.Millisecond
	// closeTimeout is how long a stop waits for the disk if nothing is left: longer than one
	// write of an engine that is away.
	closeTimeout = 8 * time.Second
)

// Stop drains and ends the service. First it turns unready, ends the runs of pipelines and,
// if configured, waits for load balancers to notice, while it still takes calls. Then it
// takes no more connections, and answers what comes on those that it has. In a hurry it
// waits for nothing.
func (s *Server) Stop() error {
	s.unready.Store(true)
	s.endRuns(s.cfg.DrainWait)
	return s.drain(sluice.ClosedByStop)
}

// drain closes the port, answers what comes on open connections, and releases everything.
// Each answer is the last on its connection. Callers that keep a connection may be about to
// send another call, so drain waits until all are silent.
func (s *Server) drain(why string) error {
	s.drained, s.last = time.Now(), why
	s.stopOnce.Do(func() { close(s.stopping) })
	began := time.Now()
	drain := cmp.Or(s.Timeouts.Drain, drainTimeout)
	ctx, cancel := s.atMost(drain)
	defer cancel()
	_ = s.listener.Close()
	// Callers whose calls take much longer are told to come again, while there is time.
	late := time.AfterFunc(drain/2, s.api.Interrupt)
	defer late.Stop()
	await(ctx, func() bool { return s.connections.Open() == 0 || s.api.Idle() > silence })
	err := s.lane.Shutdown(ctx)
	if err = errors.Join(err, s.http.Shutdown(ctx)); err != nil && ctx.Err() != nil {
		s.Log.Warn("Calls that did not end in time are cut off.")
		err = s.http.Close()
	}
	return errors.Join(err, s.close(max(drain-time.Since(began), stretch.Of(closeTimeout))))
}

// endRuns hands out no more events. It returns when all runs have ended or their time is
// over, and load balancers had that time to notice. Other nodes run the events of calls that
// arrive meanwhile, or this one after its next start.
func (s *Server) endRuns(wait time.Duration) {
	grace, cancel := s.atMost(s.cfg.RunGrace)
	defer cancel()
	noticed, stop := s.atMost(wait)
	defer stop()
	s.stopRuns()
	<-noticed.Done()
	await(grace, func() bool { return s.runner.Running() == 0 })
	if s.runner.Running() > 0 {
		s.api.Interrupt() // ends the runs that callers wait for; the others are cut off by now
	}
}

// atMost returns a context that ends after a time, or earlier in a hurry.
func (s *Server) atMost(d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	go func() {
		select {
		case <-s.Hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// await returns when holds does, or when ctx ends.
func await(ctx context.Context, holds func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// close releases what Start took. It fails if that takes too long, as on a disk that hangs:
// then the process must end, which releases the data folder.
func (s *Server) close(within time.Duration) error {
	closed := make(chan struct{})
	go func() {
		s.release()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-time.After(within):
		return errors.New("closing took too long, as on a disk that hangs; what was acknowledged is safe, and the " +
			"next start reads the whole store")
	}
}

// release releases what Start took.
func (s *Server) release() {
	s.stopAnswering()
	if s.listener != nil {
		_ = s.listener.Close() // closed twice on a clean stop
	}
	for _, server := range s.beside {
		_ = server.Close() // nothing more can be done
	}
	if s.stopWork != nil {
		s.stopWork()
		s.work.Wait()
		s.countLast()
	}
	if s.last != "" {
		ctx, cancel := s.atMost(stretch.Of(time.Second))
		if err := s.ledger.Last(ctx, s.drained, s.last); err != nil {
			s.Log.Warn("The last sign of life can't be stored: the next start takes this stop for a crash.",
				"error", err)
		}
		cancel()
	}
	if s.directory != nil {
		ctx, cancel := s.atMost(stretch.Of(time.Second))
		s.directory.FlushAudit(ctx)
		cancel()
	}
	if s.engine != nil {
		s.engine.Close()
	}
	if s.folder != nil {
		s.folder.Close()
	}
	if s.telemetry != nil {
		ctx, cancel := s.atMost(drainTimeout)
		defer cancel()
		if err := s.telemetry.Stop(ctx); err != nil {
			s.Log.Warn("The last spans could not be sent.", "error", err)
		}
	}
}

// countLast counts what became of the calls whose runs have ended last. If that takes too long, the
// next start counts anew, unless other nodes count meanwhile: so a slow engine gets some time.
func (s *Server) countLast() {
	ctx, cancel := s.atMost(stretch.Of(closeTimeout / 2))
	defer cancel()
	told := s.engine.Journal.TellEnds(ctx)
	if stored := s.minutes.Flush(ctx); !told || !stored {
		s.ledger.Doubt(time.Now())
	}
}
