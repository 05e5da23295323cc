package sluice

import (
	"slices"
	"time"
)

// A Call is one call of a webhook, accepted or refused; or an event or message
// that a pipeline or a user has sent; or the run of a pipeline that a user has
// started. It is entered in the journal and found there again.
type Call struct {
	TraceID       string    `json:"traceId" doc:"Finds the call, in traces and logs."`
	CorrelationID string    `json:"correlationId,omitempty" doc:"Finds its result; only accepted ones have it."`
	DeliveryID    string    `json:"deliveryId,omitempty" doc:"That its sender gave it."`
	Type          string    `json:"type,omitempty" doc:"Kind of its event, as its sender names it."`
	Batch         *Item     `json:"batch,omitempty" doc:"Which event of a call that brought several."`
	Split         *Split    `json:"split,omitempty" doc:"Of a call that brought several events: what became of them. They are found with its trace id."`
	EventKey      string    `json:"eventKey,omitempty" doc:"Of its webhook, where that is known."`
	Key           string    `json:"key,omitempty" doc:"Of a message, if it is no event."`
	ReplayOf      string    `json:"replayOf,omitempty" doc:"Trace id of the event that it repeats."`
	User          string    `json:"user,omitempty" doc:"Who ran, replayed or admitted it; a call has none."`
	Time          time.Time `json:"time" doc:"When it came."`
	Status        Status    `json:"status" doc:"By its runs; ok if no pipeline listens." enum:"processing,retrying,ok,error,recovered,rejected,handshake"`
	Next          time.Time `json:"next,omitzero" doc:"When it is tried again, while it is retrying."`
	Due           time.Time `json:"due,omitzero" doc:"When pipelines get it, if it was sent for later."`
	StatusCode    int       `json:"statusCode,omitempty" doc:"Of the HTTP answer."`
	Code          string    `json:"code,omitempty" doc:"Of the refusal."`
	Quarantine    string    `json:"quarantine,omitempty" doc:"Id of what is kept of a refused one."`
	Size          int       `json:"size" doc:"Of the body, as far as it was read or announced."`
	Duration      float64   `json:"duration" doc:"Until the answer, in milliseconds."`
	Waited        float64   `json:"waited,omitempty" doc:"Of that time, for pipelines after the event was stored."`
	RemoteAddr    string    `json:"remoteAddr,omitempty" doc:"Where it came from."`
	Count         int       `json:"count,omitempty" doc:"How many calls it stands for, if more than one."`
	AdmittedOf    string    `json:"admittedOf,omitempty" doc:"Id that it had in the quarantine, if it was let out of it."`
	Erased        bool      `json:"erased,omitempty" doc:"Its payload, headers and results were erased."`
	Sent          bool      `json:"sent,omitempty" doc:"A run, a user or the server has sent it: it is no call."`
	Origin        *Origin   `json:"-"` // what has set it off; nil: nothing has
	Spooled       bool      `json:"-"` // it waits in a spool, and is entered in the journal when it is handed over
	Unlisted      bool      `json:"-"` // it is one of many of its kind: it is counted, and not found again
	Duplicate     bool      `json:"-"` // its delivery was accepted before: the ids are those of the first call
	Differing     string    `json:"-"` // trace id of its own of a duplicate with another body

	// Listeners are the pipelines that it starts. They are stored; a call found
	// by a search has its runs instead, in the order in which they began.
	Listeners []string    `json:"listeners,omitempty" doc:"-"`
	Runs      []RunReport `json:"runs,omitzero" doc:"Runs of pipelines on it."`

	// Duplicates are the calls that repeated its delivery, the newest 50. Only a
	// call found by a search has them.
	Duplicates []Duplicate `json:"duplicates,omitempty" doc:"Later calls with the same delivery id, which were answered with its result."`
}

// A Duplicate is a call whose delivery was accepted before, or several that came
// shortly after each other.
type Duplicate struct {
	Time       time.Time `json:"time" doc:"When it came, the last of several."`
	RemoteAddr string    `json:"remoteAddr,omitempty" doc:"Where it came from."`
	Count      int       `json:"count" doc:"How many calls it stands for."`
	Quarantine string    `json:"quarantine,omitempty" doc:"Id of what is kept of one with another body."`
}

// Rejected returns what is found of a duplicate with another body by its own trace id, and whether
// this is one. What its sender gave goes with the first call when that is erased, so it is left out.
func (c Call) Rejected() (own Call, ok bool) {
	return Call{
		TraceID: c.Differing, EventKey: c.EventKey, Type: c.Type, Time: c.Time, Status: StatusRejected,
		StatusCode: c.StatusCode, Code: string(CodeDuplicateDiffers), Quarantine: c.Quarantine, Size: c.Size,
		Duration: c.Duration,
	}, c.Differing != ""
}

// Replays reports whether a replay sends the event of this call again: a replay for a
// pipeline, "" for all, of the calls with that status and code, "" for any. Calls
// without an event are left out, and so are replays. A pipeline gets only the failed
// calls that it failed on itself, since it may have handled the others already. Likewise, if only
// what a call has set off failed, that is sent again.
func (c Call) Replays(pipeline string, status Status, code string) bool {
	switch {
	case c.ReplayOf != "" || !c.Accepted():
		return false
	case code == "" && (pipeline == "" || status != StatusError) && !c.failedBelow():
		return true
	}
	return slices.ContainsFunc(c.Own(), func(r RunReport) bool {
		return r.Error != nil && (code == "" || code == r.Error.Code) && (pipeline == "" || pipeline == r.Pipeline) &&
			(status != StatusError || c.latest(r.Pipeline).Error != nil)
	})
}

// Own returns the runs of the call's own event, without those of events that they have sent.
func (c Call) Own() []RunReport {
	if i := slices.IndexFunc(c.Runs, func(r RunReport) bool { return r.EventKey != "" }); i >= 0 {
		return c.Runs[:i]
	}
	return c.Runs
}

// failedBelow reports whether a call failed only because of what it has set off.
func (c Call) failedBelow() bool {
	own := c.Own()
	return c.Status == StatusError && len(own) > 0 && len(own) < len(c.Runs) &&
		!slices.ContainsFunc(own, func(r RunReport) bool { return c.latest(r.Pipeline).Error != nil })
}

// WaitsFor reports whether a pipeline, "" for any, is not done with this call: it runs, or the event waits,
// for whatever.
func (c Call) WaitsFor(pipeline string) bool {
	if c.Status != StatusRetrying && c.Status != StatusProcessing {
		return false
	}
	run := c.latest(pipeline)
	return pipeline == "" || run.Status == StatusProcessing || !run.Next.IsZero()
}

// latest returns the latest run of a pipeline. An earlier failure does not count.
func (c Call) latest(pipeline string) (run RunReport) {
	for _, r := range slices.Backward(c.Own()) {
		if r.Pipeline == pipeline {
			return r
		}
	}
	return run
}

// Accepted reports whether the call became an event or a message, which can be sent
// again. It does not ask for the correlation id, which not everyone may know. A call that brought
// several events is none itself.
func (c Call) Accepted() bool {
	return c.Split == nil && c.Status != StatusRejected && c.Status != StatusHandshake &&
		(c.EventKey != "" || c.Key != "")
}

// Stored is how long it took until the event was on stable storage, in milliseconds:
// the duration without the time of waiting for pipelines.
func (c Call) Stored() float64 { return c.Duration - c.Waited }

// ByHand reports whether it is a run that a user has started, and no call.
func (c Call) ByHand() bool { return TraceOwner(c.TraceID) == DirectCall }
