package sluice

// Bulk is the common part of the answers of commands that do something with many
// things, a page of them in each request.
type Bulk struct {
	Skipped int        `json:"skipped,omitempty" doc:"How many stay as they are, since nothing could be done with them."`
	Items   []BulkItem `json:"items,omitzero" doc:"What became of each."`
	Next    string     `json:"next,omitempty" doc:"Value of the parameter after for the next page; missing at the end."`
}

// A BulkItem is what became of one thing: the ids of the new call, or why there is
// none.
type BulkItem struct {
	ID            string `json:"id,omitempty" doc:"Of a call in the quarantine."`
	Letter        string `json:"letter,omitempty" doc:"Of a dead letter."`
	TraceID       string `json:"traceId,omitempty" doc:"Of the new call; event.replay: of the call that is repeated."`
	NewTraceID    string `json:"newTraceId,omitempty" doc:"Of the new call, where traceId is that of the old one."`
	CorrelationID string `json:"correlationId,omitempty" doc:"Of the new call, for users who may see payloads."`
	Code          string `json:"code,omitempty" doc:"Of the reason why nothing was done with it."`
	Message       string `json:"message,omitempty" doc:"The reason in words."`
}

// A BulkAnswer is any answer about many things.
type BulkAnswer interface {
	// Did returns how many things were done, and the common part of the answer.
	Did() (int, Bulk)
}

// Retries tell how many events are tried now.
type Retries struct {
	Retried int `json:"retried" doc:"How many events are due now, or would be."`
}

// Replays tell which events were sent again.
type Replays struct {
	Replayed int `json:"replayed" doc:"How many were sent again."`
	Selected int `json:"selected,omitempty" doc:"Of a dry run: how many would be sent again."`
	Bulk
}

// Did implements BulkAnswer.
func (r Replays) Did() (int, Bulk) { return r.Replayed, r.Bulk }

// Admissions tell which calls were let in after all.
type Admissions struct {
	Admitted int `json:"admitted" doc:"How many were let in."`
	Refused  int `json:"refused" doc:"How many were rejected again, and stay."`
	Bulk
}

// Did implements BulkAnswer.
func (a Admissions) Did() (int, Bulk) { return a.Admitted, a.Bulk }

// Deletions tell how much was deleted.
type Deletions struct {
	Deleted int `json:"deleted" doc:"How many were deleted."`
	Bulk
}

// Did implements BulkAnswer.
func (d Deletions) Did() (int, Bulk) { return d.Deleted, d.Bulk }

// A List is a page of what a command has found, with the way to the next one.
type List[T any] struct {
	Items []T    `json:"items" doc:"What was found."`
	Next  string `json:"next,omitempty" doc:"Value of the parameter after for the next page; missing at the end."`
}
