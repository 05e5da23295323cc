package sluice

import "time"

// Causes of a closing.
const (
	ClosedByStop   = "stop"    // the server was stopped
	ClosedByCrash  = "crash"   // it ended otherwise, with its machine perhaps
	ClosedRefusing = "refused" // it ran, and could not take calls
)

// A Closing is a time in which no calls were taken, by no node.
type Closing struct {
	From     time.Time       `json:"from" doc:"When the last sign of life was stored, which is done every 4 seconds; of a stop, when the port was closed."`
	To       time.Time       `json:"to" doc:"When calls were taken again."`
	Cause    string          `json:"cause" enum:"stop,crash,refused" doc:"Why none were taken."`
	Webhooks []ClosedWebhook `json:"webhooks" doc:"Those with calls in the hour before, or at that hour of the week in the last four weeks."`
}

// A ClosedWebhook is a webhook that may have missed calls.
type ClosedWebhook struct {
	EventKey string `json:"eventKey" doc:"Its key."`
	Retries  string `json:"retries" doc:"How long its sender tries again: none, a duration such as 3d, or unknown."`
	Usual    int    `json:"usual" doc:"How many calls an hour usually come at that time, by the last four weeks."`
}

// A ClosedRecord is a closing, or the last sign of life.
type ClosedRecord struct {
	Closing   *Closing   `json:"closing,omitempty"`
	Heartbeat *Heartbeat `json:"heartbeat,omitempty"`
}

// A Heartbeat is a sign of life of a server, or of several together.
type Heartbeat struct {
	Time time.Time `json:"time"`
	Last string    `json:"last,omitempty"` // why no other follows: a stop or a hand-over

	// Uncounted is the last sign of life before a crash whose figures are not counted anew yet.
	Uncounted time.Time `json:"uncounted,omitzero"`
}
