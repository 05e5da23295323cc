package sluice

import "time"

// Missed says what a sender has sent, and what became of it, as webhook.missed shows it.
type Missed struct {
	Asked  int          `json:"asked" doc:"How many deliveries the sender lists, each once however often it was sent."`
	Had    int          `json:"had" doc:"Those of them that were accepted here."`
	Missed int          `json:"missed" doc:"The others."`
	Items  []MissedItem `json:"items" doc:"Each delivery."`
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

// A MissedRun says how far the sender of a webhook was asked by itself, and what it last said of
// the webhook.
type MissedRun struct {
	UUID     string        `json:"uuid"`
	EventKey string        `json:"eventKey,omitempty"`
	Time     time.Time     `json:"time"`              // when it was last asked for what was missed
	Until    time.Time     `json:"until,omitzero"`    // what was sent before is known
	Checked  time.Time     `json:"checked,omitzero"`  // when it was last asked whether it still calls
	State    string        `json:"state,omitempty"`   // of the Subscription then
	Message  string        `json:"message,omitempty"` // of it, too
	Lasts    time.Duration `json:"lasts,omitempty"`   // how long it was renewed for last
}

// IsBroken reports whether the sender calls the webhook no longer.
func (r *MissedRun) IsBroken() bool {
	return r.State == SubscriptionDisabled || r.State == SubscriptionGone || r.State == SubscriptionElsewhere
}

// A Subscription is what a sender says of a webhook, as webhook.check shows it.
type Subscription struct {
	State   string    `json:"state" enum:"active,disabled,gone,elsewhere,unknown" doc:"disabled: the sender has turned it off; gone: the sender has it no longer; elsewhere: the sender calls another address; unknown: it can't be told."`
	URL     string    `json:"url,omitempty" doc:"The server that is called, without the path, which has the token in it."`
	Types   []string  `json:"types,omitempty" doc:"Types of events that it is called for, as the sender names them."`
	Expires time.Time `json:"expires,omitzero" doc:"When the sender ends it by itself."`
	Renewed bool      `json:"renewed,omitempty" doc:"It was about to end, and goes on."`
	Message string    `json:"message" doc:"The state in words."`
}

// States of a Subscription.
const (
	SubscriptionActive    = "active"
	SubscriptionDisabled  = "disabled"
	SubscriptionGone      = "gone"
	SubscriptionElsewhere = "elsewhere"
	SubscriptionUnknown   = "unknown"
)
