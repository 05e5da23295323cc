package queue

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
	"sluice/wait"
)

// Work implements sluice.Work: it is what steps of events in the waiting room wait for, and lies
// there beside them. An item is stored when it is offered, and then its progress, each time that
// somebody takes or answers it. Each node has an index in memory (jobs.go), which follows the stream.
type Work struct {
	*jobs

	room *Waiting

	// settled returns with what answer to a lease an event went on that is done, nil if it did not.
	settled func(ctx context.Context, binding, key, lease string) (*sluice.WorkDone, error)
}

// A progress is how far an item is.
type progress struct {
	Lease  string    `json:"lease,omitempty"` // what tells it from others on the item
	Queue  string    `json:"queue"`
	Node   string    `json:"node"`
	Taker  string    `json:"taker,omitempty"`
	Taken  int       `json:"taken"`            // how often
	Free   time.Time `json:"free"`             // when it can be taken again
	Told   time.Time `json:"told,omitzero"`    // when that was told, by the same clock
	Answer []byte    `json:"answer,omitempty"` // a sealed sluice.WorkAnswer; nil: there is none yet
}

// lookWork is how long a taker waits before it looks at the clock again.
const lookWork = time.Minute

func newWork(w *Waiting) *Work {
	return &Work{jobs: newJobs(w.now), room: w}
}

// index adds an item or its progress, and reports whether it can be read.
func (w *Work) index(
	running context.Context, place, kind string, data []byte, sequence uint64, stored time.Time,
) bool {
	switch kind {
	case waitingKept:
		return true
	case waitingWork:
		var item sluice.WorkItem
		if json.Unmarshal(data, &item) != nil {
			return false
		}
		item.Until = w.room.onClock(state{Due: item.Until, Told: item.Since}, stored).Due
		w.offered(place, item)
		return true
	}
	var p progress
	if json.Unmarshal(data, &p) != nil {
		return false
	}
	p.Free = w.room.onClock(state{Due: p.Free, Told: p.Told}, stored).Due
	w.moved(place, sequence, p)
	if p.Answer != nil && (p.Node != w.room.node || !w.room.host.SoleWriter) { // otherwise Answer tells the event
		w.room.host.Start(func() {
			for w.tell(running, place) != nil && wait.For(running, consumeRetry) == nil {
			}
		})
	}
	return true
}

// tell lets the event go on that has waited for an answer. One that was done meanwhile has taken its items
// with it: then the answer and this state came too late, and go as well.
func (w *Work) tell(ctx context.Context, place string) error {
	binding, key := eventOf(place)
	if waits, err := w.room.release(ctx, binding, key); waits || err != nil {
		return err
	}
	item, err := w.stored(ctx, place, waitingWork)
	if item != nil || err != nil {
		return err
	}
	gone, err := w.gone(ctx, place)
	if gone {
		w.room.drop(ctx, binding, key)
	}
	return err
}

// gone reports whether an item is gone, as the leader knows: another server of a cluster may lag behind.
func (w *Work) gone(ctx context.Context, place string) (bool, error) {
	info, err := w.room.stream.Info(ctx, jetstream.WithSubjectFilter(workSubject(place, waitingWork)))
	if err != nil {
		return false, stream.NoAnswer(err)
	}
	return len(info.State.Subjects) == 0, nil
}

// Take implements sluice.Work.
func (w *Work) Take(
	ctx context.Context, queue, taker string, limit int, lasts time.Duration,
) (items []sluice.WorkItem, err error) {
	if w.room.ready(ctx) != nil { // who has what may not be known yet
		return nil, nil
	}
	defer w.taking(queue)()
	for {
		picked, changed, wait := w.pick(queue, limit)
		items, err = w.lease(picked, taker, lasts)
		if len(items) > 0 || err != nil {
			return items, err
		}
		if len(picked) > 0 { // all of them are gone, or others were first
			continue
		}
		select {
		case <-changed:
		case <-time.After(min(wait, lookWork)):
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// lease takes picked items, all at once: they share a sync of the disk.
func (w *Work) lease(picked []*job, taker string, lasts time.Duration) (items []sluice.WorkItem, err error) {
	var mu sync.Mutex
	var taking sync.WaitGroup
	for _, j := range picked {
		taking.Go(func() {
			item, failure := w.leaseOne(context.Background(), j, taker, lasts)
			mu.Lock()
			defer mu.Unlock()
			if err = cmp.Or(err, failure); item != nil {
				items = append(items, *item)
			}
		})
	}
	taking.Wait()
	slices.SortFunc(items, func(a, b sluice.WorkItem) int { return a.Since.Compare(b.Since) })
	if len(items) > 0 {
		err = nil // the others are offered again
	}
	return items, err
}

// leaseOne takes an item. It returns nil if the item is gone, or another node was first.
func (w *Work) leaseOne(
	ctx context.Context, j *job, taker string, lasts time.Duration,
) (item *sluice.WorkItem, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	is, free := w.isFree(j)
	if !free {
		return nil, nil // it was answered, or its lease made longer, just before that was over
	}
	defer w.enter(j)
	msg, err := w.stored(ctx, j.place, waitingWork)
	if err != nil {
		return nil, err
	}
	if err = w.unlock(ctx, j); err != nil {
		return nil, err
	}
	if item = openItem(msg, j.key, j.place); item == nil {
		w.forget(j.place)
		return nil, nil
	}
	p := progress{Lease: rand.Text(), Taker: taker, Taken: is.Taken + 1, Free: w.lasting(j, lasts)}
	ok, err := w.write(ctx, j, is, p)
	if ok && is.sequence == 0 && !w.room.host.SoleWriter { // as it is, too, of an item that was done and removed
		if ok, err = w.gone(ctx, j.place); ok {
			w.room.remove(ctx, workSubject(j.place, waitingLease))
			w.forget(j.place)
		}
		ok = !ok
	}
	if !ok || err != nil {
		return nil, err
	}
	item.Lease, item.Taker, item.Attempt, item.Expires = j.place+"."+p.Lease, taker, p.Taken, p.Free
	return item, nil
}

// lasting returns when a lease that begins now is over.
func (w *Work) lasting(j *job, lasts time.Duration) time.Time {
	return j.within(w.now().Add(lasts).UTC())
}

// write stores the progress of an item, unless another node has stored some meanwhile.
func (w *Work) write(ctx context.Context, j *job, is newest, p progress) (ok bool, err error) {
	p.Queue, p.Node, p.Told = j.item.Queue, w.room.node, w.now().UTC()
	data, err := value.Marshal(p)
	if err != nil {
		return false, err
	}
	sequence, ok, err := w.room.replace(ctx, workSubject(j.place, waitingLease), data, &is.sequence)
	if ok {
		w.room.keepAt(eventPlace(j.place), sequence)
		p.Free = w.room.onClock(state{Due: p.Free, Told: p.Told}, time.Time{}).Due
		w.moved(j.place, sequence, p)
	}
	return ok, err
}

// stored returns what is stored of an item, nil if nothing is.
func (w *Work) stored(ctx context.Context, place, kind string) (*jetstream.RawStreamMsg, error) {
	return stream.Found(w.room.stream.GetLastMsgForSubject(ctx, workSubject(place, kind)))
}

// held returns the locked item of a lease that lasts, and nil if it is over. Another node may have
// given the lease a moment ago. The queue is asked about only here, when it is certain.
func (w *Work) held(ctx context.Context, lease string, may sluice.MayQueue) (j *job, is newest, err error) {
	if err := w.room.ready(ctx); err != nil {
		return nil, is, err
	}
	if j, is = w.known(lease); j == nil && !w.room.host.SoleWriter {
		place, _ := cutLease(lease)
		if err := w.learn(ctx, place); err != nil {
			return nil, is, err
		}
		j, is = w.known(lease)
	}
	if j == nil {
		return nil, is, nil
	}
	if err := may(j.item.Queue); err != nil {
		j.mu.Unlock()
		return nil, is, err
	}
	return j, is, nil
}

// learn adds what is stored of an item to the index.
func (w *Work) learn(ctx context.Context, place string) error {
	if !validPlace(place) {
		return nil
	}
	for _, kind := range []string{waitingWork, waitingLease} {
		msg, err := w.stored(ctx, place, kind)
		if msg == nil || err != nil {
			return err
		}
		w.index(ctx, place, kind, msg.Data, msg.Sequence, msg.Time)
	}
	return nil
}

// known returns the locked item of a lease that lasts as far as it is known here, and nil otherwise.
func (w *Work) known(lease string) (j *job, is newest) {
	place, its := cutLease(lease)
	if j = w.find(place); j == nil {
		return nil, is
	}
	j.mu.Lock()
	is, holds := w.holds(j, its)
	if holds {
		return j, is
	}
	j.mu.Unlock()
	return nil, is
}

// Answer implements sluice.Work.
func (w *Work) Answer(ctx context.Context, lease string, answer sluice.WorkAnswer, may sluice.MayQueue) error {
	j, is, err := w.held(ctx, lease, may)
	if err != nil {
		return err
	}
	if j == nil {
		return w.again(ctx, lease, answer, may)
	}
	defer j.mu.Unlock()
	p := is.progress
	if !answer.Again.IsZero() {
		p.Lease, p.Taker, p.Free = "", "", j.within(answer.Again)
	} else if p.Answer, err = w.seal(ctx, j, answer); err != nil {
		return err
	}
	ok, err := w.write(ctx, j, is, p)
	switch {
	case err != nil:
		return err
	case !ok:
		return leaseOver()
	case p.Answer == nil || !w.room.host.SoleWriter: // all nodes hear of it, and tell the event until one could
		return nil
	}
	return w.tell(ctx, j.place)
}

// again returns no error if the same answer was given before: a worker who did not hear of it says it again.
func (w *Work) again(ctx context.Context, lease string, answer sluice.WorkAnswer, may sluice.MayQueue) error {
	done, box, err := w.done(ctx, lease)
	if done == nil || err != nil {
		return cmp.Or(err, leaseOver())
	}
	if err = may(done.Queue); err != nil {
		return err
	}
	text, err := value.Marshal(answer)
	switch {
	case err != nil:
		return err
	case !answer.Again.IsZero() || !bytes.Equal(hashOf(box, text), done.Answer):
		return sluice.CodeLeaseOver.Errorf("This lease ended with another answer, which stands.")
	}
	place, _ := cutLease(lease)
	return w.tell(ctx, place)
}

// Extend implements sluice.Work.
func (w *Work) Extend(
	ctx context.Context, lease string, lasts time.Duration, may sluice.MayQueue,
) (time.Time, error) {
	j, is, err := w.held(ctx, lease, may)
	if j == nil || err != nil {
		return time.Time{}, cmp.Or(err, leaseOver())
	}
	defer j.mu.Unlock()
	p := is.progress
	p.Free = w.lasting(j, lasts)
	ok, err := w.write(ctx, j, is, p)
	if !ok && err == nil {
		err = leaseOver()
	}
	return p.Free, err
}

func leaseOver() error {
	return sluice.CodeLeaseOver.Errorf("This lease is over: the work is offered to others, or done by them.")
}
