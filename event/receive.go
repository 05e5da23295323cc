package event

import (
	"context"
	"encoding/json"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// maxTimeout bounds how long event.receive waits.
const maxTimeout = 15 * time.Minute

type receiveParams struct {
	EventKey string         `json:"eventKey" alias:"key" required:"true" doc:"Key of the event."`
	Timeout  *time.Duration `json:"timeout" doc:"How long to wait for the next event, such as 30s; without it the newest stored event counts."`
}

func receiveCommand(o Options) command.Command {
	return command.New("event.receive", "Get an event: the one that started the run if it has that key, otherwise the newest stored one, or the next one if a timeout is given; null if there is none. The permission to read is not enough, since events show what callers have sent: it takes event.receive itself, or trace.payload.",
		func(ctx context.Context, p receiveParams) (any, error) {
			if user := sluice.UserFrom(ctx); !user.May("event.receive") && !user.May(sluice.MaySeePayload) {
				return nil, payloadForbidden()
			}
			if err := checkKey("eventKey", p.EventKey); err != nil {
				return nil, err
			}
			if run := sluice.RunFrom(ctx); run != nil && run.Event != nil && run.Event["eventKey"] == p.EventKey {
				return run.Event, nil
			}
			found, err := receive(ctx, o.Stored, p)
			if found == nil || err != nil {
				return nil, err
			}
			o.Seen(ctx, "event.receive", p.EventKey)
			return value.Decode(found)
		}, command.ReadOnly)
}

func receive(ctx context.Context, stored sluice.StoredEvents, p receiveParams) (json.RawMessage, error) {
	if p.Timeout == nil {
		return stored.Newest(ctx, p.EventKey)
	}
	ctx, cancel := context.WithTimeout(ctx, min(*p.Timeout, maxTimeout))
	defer cancel()
	return stored.Next(ctx, p.EventKey)
}
