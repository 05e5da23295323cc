package sluice

import "time"

// Missed says what a sender has sent, and what became of it, as webhook.missed shows it.
type Missed struct {
	Asked  int          `json:"asked" doc:"How many deliveries the sender lists, each once however often it was sent."`
	Had    int          `json:"had" doc:"Those of them that were accepted here."`
	Missed int          `json:"missed" doc:"The others."`
	Items  []MissedItem `json:"items"`
}

// A MissedItem is a delivery that its sender lists.
type MissedItem struct {
	ID    string    `json:"id" doc:"The delivery id."`
	Time  time.Time `json:"time,omitzero" doc:"When it was sent, as far as the sender says."`
	State string    `json:"state" enum:"had,redelivered,fetched,gone,missed" doc:"redelivered: the sender was told to send it again; fetched: it was taken from the sender's API; gone: the sender has it no longer; missed: nothing was done, by a dry run, or since the sender still tries, or since the checks of the webhook refused it."`
}

// States of a MissedItem.
const (
	MissedHad         = "had"
	MissedRedelivered = "redelivered"
	MissedFetched     = "fetched"
	MissedGone        = "gone"
	MissedStill       = "missed"
)

// A MissedRun says how far the sender of a webhook was asked by itself.
type MissedRun struct {
	UUID  string    `json:"uuid"`
	Time  time.Time `json:"time"`           // when it was last asked
	Until time.Time `json:"until,omitzero"` // what was sent before is known
}
