package journal

import (
	"time"

	"sluice"
)

// A Fact is something that happened to a call. The journal hears of it from both ends:
//
//	jetstream  the event is on stable storage        Stored ───┐
//	webhook    the call has its answer               Answered ─┤
//	                                                           ├─ Hear ─ pending ─ write.go
//	pipeline   a run has ended                       Ran ──────┤
//	queue      a pipeline is done with the event     Settled ──┘
type Fact interface{ fact() }

// Stored says that an event is on stable storage. The journal does not keep the event.
type Stored struct {
	Sequence uint64
	Subject  string
	Event    *sluice.Event
}

// Answered says how a call of a webhook was answered.
type Answered struct{ sluice.Call }

// Ran says how a run of a pipeline went.
type Ran struct{ sluice.RunReport }

// Settled says with which outcome a pipeline is done with an event.
type Settled struct {
	Sequence uint64
	TraceID  string
	First    string // of a replay: correlation id of the event that it repeats
	Origin   string // correlation id of the event that has set it off, or its own
	Replay   bool   // a replay has
	Decides  bool   // nobody else tells what became of the call
	Outcome  sluice.Outcome
}

func (Stored) fact()   {}
func (Answered) fact() {}
func (Ran) fact()      {}
func (Settled) fact()  {}

// Hear records what happened to a call. It never waits.
func (j *Journal) Hear(f Fact) {
	switch f := f.(type) {
	case Stored:
		j.hearStored(f)
	case Answered:
		j.hearAnswered(&f.Call)
	case Ran:
		j.mu.Lock()
		defer j.mu.Unlock()
		enter(j, &j.pending.runs, f.RunReport)
	case Settled:
		j.hearSettled(&f)
	}
}

// hearStored indexes an event. How calls were answered is heard later, so it records
// only what was sent or replayed.
func (j *Journal) hearStored(f Stored) {
	e := f.Event
	at := sluice.MadeAt(e.TraceID, e.ReceivedAt)
	j.index.add(f.Sequence, entryOf(e.TraceID, e.EventKey+e.Key, at, e.Listeners)) // it has one of the keys
	if e.Method != "" && e.ReplayOf == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	enter(j, &j.pending.sent, sentEvent{
		sequence: f.Sequence,
		Subject:  f.Subject,
		Origin:   e.Origin,
		Call: sluice.Call{
			TraceID:    e.TraceID,
			EventKey:   e.EventKey,
			DeliveryID: e.DeliveryID,
			Due:        e.Due,
			Type:       e.Type,
			Key:        e.Key,
			ReplayOf:   e.ReplayOf,
			User:       e.User,
			Time:       at,
			Status:     sluice.StatusBefore(e.Listeners),
			Size:       len(e.Payload),
			Listeners:  e.Listeners,
		},
	})
}

func (j *Journal) hearAnswered(c *sluice.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case c.Duplicate:
		j.enterDuplicate(c)
	case c.Spooled: // it is heard of when it is handed over
	case c.CorrelationID == "" && !j.refusals.Allow():
		j.unrecorded++
	default:
		enter(j, &j.pending.calls, *c)
	}
}

func (j *Journal) hearSettled(f *Settled) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &f.Outcome
	if f.First != "" && o.Status == sluice.StatusOK {
		enter(j, &j.pending.repaired, recovery{f.First, o.Pipeline, f.TraceID, o.Stored, o.Sent})
	}
	if f.Decides {
		enter(j, &j.pending.ends, ending{f.Origin, o.Stored, f.Replay})
	}
	ended := runOutcome{
		sequence: f.Sequence, TraceID: f.TraceID, Pipeline: o.Pipeline, Status: o.Status, Stored: o.Stored,
		Sent:   o.Sent,
		origin: j.sequenceOf(f.Origin),
	}
	if o.Status == sluice.StatusPassed { // it has no run
		ended.Time = o.Finished
	}
	enter(j, &j.pending.outcomes, ended)
}

// enterDuplicate enters a call whose delivery was accepted before: its ids are those of
// the first call. The caller holds the lock.
func (j *Journal) enterDuplicate(c *sluice.Call) {
	key := c.TraceID + " " + c.Quarantine // a quarantined call has a line of its own
	r, known := j.pending.repeated[key]
	if !known && len(j.pending.repeated) >= maxPending {
		j.dropped.Add(1)
		return
	}
	if j.pending.repeated == nil {
		j.pending.repeated = make(map[string]repeated)
	}
	r.Time, r.RemoteAddr, r.Quarantine, r.Count = c.Time, c.RemoteAddr, c.Quarantine, r.Count+1
	r.TraceID, r.correlationID = c.TraceID, c.CorrelationID
	j.pending.repeated[key] = r
	j.rouse()
}

// enter adds an entry to those that wait to be written, if there is space. A dropped
// entry loses how a call went: the call itself is among the events.
func enter[T any](j *Journal, list *[]T, entry T) {
	if len(*list) >= maxPending {
		j.dropped.Add(1)
		return
	}
	*list = append(*list, entry)
	j.rouse()
}

// rouse wakes the writer.
func (j *Journal) rouse() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// drain returns what waits to be written, and leaves nothing.
func (j *Journal) drain() pending {
	j.mu.Lock()
	defer j.mu.Unlock()
	batch := j.pending
	j.pending = pending{
		calls:    make([]sluice.Call, 0, min(2*len(batch.calls), maxPending)),
		runs:     make([]sluice.RunReport, 0, min(2*len(batch.runs), maxPending)),
		outcomes: make([]runOutcome, 0, min(2*len(batch.outcomes), maxPending)),
	}
	if j.unrecorded > 0 {
		now := time.Now().UTC()
		batch.calls = append(batch.calls, sluice.Call{
			Time:    now,
			TraceID: sluice.NewTraceID("many", now),
			Status:  sluice.StatusRejected,
			Code:    sluice.CodeTooManyRefused.Word,
			Count:   j.unrecorded,
		})
		j.unrecorded = 0
	}
	return batch
}
