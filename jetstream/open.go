package jetstream

import (
	"context"
	"time"

	"sluice"
	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
	"sluice/wait"
)

// Open starts the embedded engine, or connects to an external one. If an external engine
// can't be used yet, that is not an error: Ready says why, and the Engine keeps trying.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := build(opts)
	e.cancel = cancel
	if err := e.server.connect(); err != nil {
		e.Close()
		return nil, err
	}
	if opts.URL != "" {
		e.startSpool(ctx)
		e.host.Start(func() { e.setUpUntilDone(running) })
		return e, nil
	}
	ctx, done := context.WithTimeout(ctx, stream.SetUpTimeout)
	defer done()
	if err := e.setUp(ctx, running); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// startSpool opens the spool if one is configured. If it fails, the node serves without, and
// warns the operator.
func (e *Engine) startSpool(ctx context.Context) {
	if e.opts.SpoolDir == "" {
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
		Spool: e.spool.Spool, Events: e.once, Results: e.Stored, Host: e.host, Address: e.Stored.address,
	}
	e.Events, e.Results = e.fallback, e.fallback
}

// OpenRecords opens only the records and the audit log, while nobody else uses the engine:
// no stream gets other limits, and no pipeline runs.
func OpenRecords(ctx context.Context, opts Options) (*Engine, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := build(opts)
	e.cancel = cancel
	if err := e.setUpRecords(ctx, running); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) setUpRecords(ctx, running context.Context) error {
	if err := e.reach(ctx); err != nil {
		return err
	}
	generation, err := e.generation(ctx)
	if err != nil {
		return err
	}
	for _, b := range e.all {
		if err := b.SetUp(ctx, running, generation); err != nil {
			return err
		}
	}
	if err := e.Audit.setUp(ctx, running); err != nil {
		return err
	}
	e.closing.Do(func() {}) // there is nothing to finish
	e.host.SetReady()
	return nil
}

// reach connects and waits until the server can be used, or returns why it can't.
func (e *Engine) reach(ctx context.Context) error {
	const patience, pause = 10 * time.Second, 200 * time.Millisecond
	err := e.server.connect()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; {
		if err = e.server.usable(ctx); err == nil || time.Now().After(deadline) {
			break
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
	if err != nil {
		return sluice.CodeEngineUnavailable.Errorf("It can't be restored: %s.", explain(err)).
			Because(err)
	}
	return nil
}
