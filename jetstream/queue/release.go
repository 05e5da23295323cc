package queue

import "context"

// release makes an event due that waits for an answer.
func (w *Waiting) release(ctx context.Context, binding, key string) error {
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
