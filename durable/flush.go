package durable

import "context"

// A Flusher lets many writers share one sync: each waits for a sync that began
// after its request.
type Flusher struct {
	sync    func() error
	waiting chan chan error
}

// NewFlusher returns a flusher for what sync makes durable. Run does the work.
func NewFlusher(sync func() error) *Flusher {
	return &Flusher{sync: sync, waiting: make(chan chan error)}
}

// Run serves writers until ctx ends. A failed sync is never tried again: the
// kernel may have dropped what it could not write, and a second try would then
// succeed without it. So every later writer gets the same error.
func (f *Flusher) Run(ctx context.Context) {
	var failed error
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-f.waiting:
			batch := append([]chan error{first}, f.more()...)
			if failed == nil {
				failed = f.sync()
			}
			for _, done := range batch {
				done <- failed
			}
		}
	}
}

func (f *Flusher) more() []chan error {
	var batch []chan error
	for {
		select {
		case done := <-f.waiting:
			batch = append(batch, done)
		default:
			return batch
		}
	}
}

// Flush returns once all that was written before the call is on stable storage.
func (f *Flusher) Flush(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case f.waiting <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
