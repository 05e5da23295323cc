package jetstream

import (
	"context"

	"sluice/jetstream/spool"
	"sluice/jetstream/stream"
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
		Encode: encode,
	}
	e.Events, e.Results = e.fallback, e.fallback
}
