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
type Fact interface{ tell(j *Journal) }

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

// Settled says with which outcome a pipeline is done with an event, or that it was erased while it waited:
// then the outcome has no pipeline.
type Settled struct {
	Sequence uint64
	TraceID  string
	First    string // of a replay: correlation id of the event that it repeats
	Origin   string // correlation id of the event that has set it off, or its own
	Replay   bool   // a replay has
	Decides  bool   // nobody else tells what became of the call
	Outcome  sluice.Outcome
}

// Hear records what happened to a call. It never waits.
func (j *Journal) Hear(f Fact) { f.tell(j) }

// tell indexes an event. How calls were answered is heard later, so it records
// only what was sent or replayed.
func (f Stored) tell(j *Journal) {
	e := f.Event
	at, key := sluice.MadeAt(e.TraceID, e.ReceivedAt), e.EventKey+e.Key // it has one of the keys
	j.index.add(f.Sequence, entryOf(e.TraceID, key, at, e.Listeners))
	if e.Method != "" && e.ReplayOf == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.enterSent(sentEvent{sequence: f.Sequence, Subject: f.Subject, Origin: e.Origin, Call: CallOf(e)})
}

// CallOf returns what an event tells of its call, or of itself if it was sent.
func CallOf(e *sluice.Event) sluice.Call {
	return sluice.Call{
		TraceID:    e.TraceID,
		EventKey:   e.EventKey,
		DeliveryID: e.DeliveryID,
		Due:        e.Due,
		Type:       e.Type,
		Key:        e.Key,
		ReplayOf:   e.ReplayOf,
		User:       e.User,
		Time:       sluice.MadeAt(e.TraceID, e.ReceivedAt),
		Status:     sluice.StatusBefore(e.Listeners),
		Size:       len(e.Payload),
		Listeners:  e.Listeners,
	}
}

func (f Answered) tell(j *Journal) {
	c := &f.Call
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case c.Duplicate:
		j.enterDuplicate(c)
	case c.Spooled: // it is heard of when it is handed over
	case c.CorrelationID == "" && !j.refusals.Allow():
		j.unrecorded++
	default:
		j.enterCall(c)
	}
}

func (f Ran) tell(j *Journal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.enter(func(w *lineWriter) { w.add(lineRun, j.sequenceOf(f.CorrelationID), f.TraceID, &f.RunReport) })
}

func (f Settled) tell(j *Journal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &f.Outcome
	if f.First != "" && o.Status == sluice.StatusOK {
		r := recovery{f.First, o.Pipeline, f.TraceID, o.Stored, o.Sent}
		j.enter(func(w *lineWriter) {
			if sequence := j.sequenceOf(r.CorrelationID); sequence > 0 {
				w.add(lineRecovery, sequence, r.TraceID, &r)
			}
		})
	}
	if f.Decides {
		j.enterEnd(ending{f.Origin, o.Stored, f.Replay})
	}
	if o.Pipeline == "" {
		return
	}
	ended := runOutcome{
		TraceID: f.TraceID, Pipeline: o.Pipeline, Status: o.Status, Stored: o.Stored, Sent: o.Sent,
	}
	if o.Status == sluice.StatusPassed { // it has no run
		ended.Time = o.Finished
	}
	j.enterOutcome(f.Sequence, f.Origin, ended)
}

// enterCall and the next ones enter lines that wait to be written. The caller holds the lock.
func (j *Journal) enterCall(c *sluice.Call) {
	j.enter(func(w *lineWriter) { w.add(lineCall, j.sequenceOf(c.CorrelationID), c.TraceID, c) })
}

func (j *Journal) enterSent(s sentEvent) {
	j.enter(func(w *lineWriter) { w.add(lineSent, s.sequence, s.TraceID, &s) })
}

// enterOutcome enters the outcome of an event, and in the lists of failed ones. Origin leads to the event
// that has set it off, if one has.
func (j *Journal) enterOutcome(sequence uint64, origin string, o runOutcome) {
	j.enter(func(w *lineWriter) {
		w.add(lineOutcome, sequence, o.TraceID, &o)
		if o.Status != sluice.StatusError {
			return
		}
		for _, failed := range []uint64{sequence, j.sequenceOf(origin)} {
			if failed > 0 {
				msg := w.beginIn(failedSubject(failed), lineFailed, failed)
				msg.Data = append(append(msg.Data, o.Pipeline...), '\n')
			}
		}
	})
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

// enter adds a line to those that wait to be written, if there is space. A dropped line loses how a
// call went: the call itself is among the events.
func (j *Journal) enter(line func(*lineWriter)) {
	if len(j.pending.lines) >= maxPending {
		j.dropped.Add(1)
		return
	}
	j.pending.lines = append(j.pending.lines, line)
	j.rouse()
}

// enterEnd enters an end that calls may have come to, if there is space.
func (j *Journal) enterEnd(e ending) {
	if len(j.ends) < maxPending {
		j.ends = append(j.ends, e)
		j.rouse()
	}
}

// rouse wakes the writer.
func (j *Journal) rouse() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// drain returns what waits to be written, and leaves nothing; and how many ends depend on it.
func (j *Journal) drain() (batch pending, ends int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.unrecorded > 0 {
		now := time.Now().UTC()
		j.enterCall(&sluice.Call{
			Time:    now,
			TraceID: sluice.NewTraceID("many", now),
			Status:  sluice.StatusRejected,
			Code:    string(sluice.CodeTooManyRefused),
			Count:   j.unrecorded,
		})
		j.unrecorded = 0
	}
	batch = j.pending
	j.pending = pending{lines: make([]func(*lineWriter), 0, min(2*len(batch.lines), maxPending))}
	return batch, len(j.ends)
}
