package queue

import "context"

// release makes an event due that waits for an answer, which is stored, and reports whether the event is known to
// wait.
func (w *Waiting) release(ctx context.Context, binding, key string) (waits bool, err error) {
	if w.host.SoleWriter {
		if err := w.ready(ctx); err != nil {
			return false, err
		}
		if w.releaseHere(binding, key) {
			return true, nil
		}
	}
	s, err := w.find(ctx, binding, key)
	if err != nil || s == nil || !s.Answer || s.Node != "" || w.runs(binding, key, s.sequence) {
		return false, err // a run that goes on finds the answer
	}
	s.Told = w.now().UTC()
	s.Due = s.Told
	_, err = w.store(ctx, binding, key, s, &s.sequence) // if the state is another by now, the event runs
	if s.Held {
		o := hurryOrder{Node: w.node, Bindings: []string{binding}, Key: key, Answer: true}
		w.hurry(o, false)
		w.hurryElsewhere(o)
	}
	return false, err
}

// releaseHere makes an event in the waiting room due, and reports whether it is there. Only this process knows of
// that: the next one finds the answer as it starts.
func (w *Waiting) releaseHere(binding, key string) (waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, l := w.moment(), w.line(binding)
	e := l.find(key)
	if e == nil || !e.here() {
		return false
	}
	switch {
	case !e.Answer || e.busy(): // it runs, and finds the answer
	case e.parked:
		e.at = min(e.at, now)
	default:
		l.advance(e, now)
	}
	return true
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
