package webhook

import (
	"strings"
	"time"

	"sluice"
	"sluice/command"
)

// Commands gives the commands about webhooks. baseURL is what callers put
// before /api/v3.
func Commands(hooks *Store, baseURL string, receiver *Receiver) []command.Command {
	receive := receiveCommand(receiver)
	receive.Refused = receiver.refused
	return []command.Command{
		putCommand(hooks, baseURL),
		getCommand(hooks, baseURL),
		deleteCommand(hooks),
		receive,
	}
}

// A view is a webhook as its commands show it.
type view struct {
	UUID             string             `json:"uuid"`
	EventKey         string             `json:"eventKey"`
	PayloadType      sluice.PayloadType `json:"payloadType"`
	MaxPayloadLength int                `json:"maxPayloadLength"`
	WebhookURL       string             `json:"webhookUrl"`
	Created          time.Time          `json:"created"`
	Updated          time.Time          `json:"updated"`
	Warnings         []string           `json:"warnings,omitempty"`
}

// show gives the view of a webhook for a user. Users who may not see tokens see
// their last 6 characters.
func show(h sluice.Webhook, baseURL string, user sluice.User) view {
	token := h.UUID
	if !user.May(sluice.MaySeeTokens) {
		token = "…" + sluice.Last6(token)
	}
	return view{
		UUID:             token,
		EventKey:         h.EventKey,
		PayloadType:      h.PayloadType,
		MaxPayloadLength: h.MaxPayloadLength,
		WebhookURL:       baseURL + sluice.ReceivePath + "?token=" + token,
		Created:          h.Created,
		Updated:          h.Updated,
	}
}

// checkEventKey refuses what can't be an event key, and warns of what is not
// by convention.
func checkEventKey(key string) (warnings []string, err error) {
	if !sluice.ValidKey(key) {
		return nil, sluice.InvalidParameter("eventKey", "The parameter eventKey must be %s, such as webhook.lead.created.", sluice.KeyRule)
	}
	if key != strings.ToLower(key) {
		warnings = append(warnings, "By convention an eventKey is in lower case.")
	}
	if !strings.HasPrefix(key, "webhook.") {
		warnings = append(warnings, "By convention an eventKey starts with webhook. and a dot-separated name.")
	}
	return warnings, nil
}
