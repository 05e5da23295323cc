package jetstream

import "context"

// OpenRecords opens the records and the audit log of an engine that nobody else
// uses, and nothing else of it: no stream gets other limits, no event is worked on.
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
	if err := e.server.connect(); err != nil {
		return err
	}
	if err := e.awaitExternal(ctx); err != nil {
		return err
	}
	generation, err := e.generation(ctx)
	if err != nil {
		return err
	}
	for _, b := range e.buckets() {
		if err := b.SetUp(ctx, running, generation); err != nil {
			return err
		}
	}
	if err := e.Audit.setUp(ctx, running); err != nil {
		return err
	}
	e.closing.Do(func() {}) // there is nothing of events to finish
	e.host.SetReady()
	return nil
}
