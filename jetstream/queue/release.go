package queue

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/jetstream/stream"
)

// release makes an event due that waits for an answer. One that was done meanwhile has taken its items
// with it: then the answer and this state came too late, and go as well.
func (w *Waiting) release(ctx context.Context, binding, key string) error {
	if err := w.makeDue(ctx, binding, key); err != nil {
		return err
	}
	item, err := stream.Found(w.stream.GetMsg(ctx, 1,
		jetstream.WithGetMsgSubject(waitingSubject(binding, key, waitingWork+"*"))))
	if item == nil && err == nil {
		w.drop(ctx, binding, key)
	}
	return err
}

func (w *Waiting) makeDue(ctx context.Context, binding, key string) error {
	s, err := w.find(ctx, binding, key)
	if err != nil || s == nil || !s.Answer || s.Node != "" || w.runs(binding, key, s.sequence) {
		return err // a run that goes on finds the answer
	}
	s.Told = w.now().UTC()
	s.Due = s.Told
	_, err = w.store(ctx, binding, key, s, &s.sequence) // if the state is another by now, the event runs
	if s.Held {
		o := hurryOrder{Node: w.node, Bindings: []string{binding}, Key: key, Answer: true}
		w.hurry(o, false)
		w.hurryElsewhere(o)
	}
	return err
}

// runs reports whether an event was taken in the state with that sequence.
func (w *Waiting) runs(binding, key string, sequence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.line(binding).find(key)
	return e != nil && e.busy() && e.sequence == sequence
}

// answered reports whether the answer that the outcome waits for is there.
func (a attempt) answered() bool { return a.outcome.Answered != nil && a.outcome.Answered() }
