package event

import (
	"context"
	"encoding/json"
	"time"

	"sluice"
	"sluice/value"
)

// maxTimeout bounds how long event.receive waits.
const maxTimeout = 15 * time.Minute

type receiveParams struct {
	EventKey string         `json:"eventKey" alias:"key" required:"true" names:"listed" doc:"Key of the event."`
	Timeout  *time.Duration `json:"timeout" doc:"How long to wait for the next event, such as 30s; without it the newest stored event counts."`
}

func (o Options) receive(ctx context.Context, p receiveParams) (any, error) {
	user := sluice.UserFrom(ctx)
	if !user.May(sluice.ReceiveCommand) && !user.May(sluice.MaySeePayload) {
		return nil, sluice.NotPermitted(sluice.MaySeePayload)
	}
	if err := checkKey("eventKey", p.EventKey); err != nil {
		return nil, err
	}
	covered := user.MayReceive(p.EventKey)
	if run := sluice.RunFrom(ctx); run != nil {
		if run.Event != nil && run.Event["eventKey"] == p.EventKey {
			return run.Event, nil
		}
		owner, err := ownerMayReceive(ctx, run)
		if err != nil {
			return nil, err
		}
		covered = covered && owner.MayReceive(p.EventKey)
	}
	found, err := o.find(ctx, p, covered)
	if found == nil || err != nil {
		return nil, err
	}
	o.Seen(ctx, sluice.ReceiveCommand, p.EventKey)
	return value.Decode(sluice.CoverFrom(ctx).HideInternalsJSON(found))
}

// ownerMayReceive refuses a run events that did not start it, unless the pipeline's owner
// may read them: every run of an event is one of anonymousUser, who has event.receive for
// its own event.
func ownerMayReceive(ctx context.Context, run *sluice.Run) (sluice.User, error) {
	owner, err := run.Owner(ctx)
	switch {
	case err != nil:
		return owner, sluice.OwnerError(err)
	case !owner.May(sluice.ReceiveCommand) && !owner.May(sluice.MaySeePayload):
		return owner, sluice.OwnerNotPermitted(sluice.ReceiveCommand)
	}
	return owner, nil
}

// find gets an event. Those that are not covered never come.
func (o Options) find(ctx context.Context, p receiveParams, covered bool) (json.RawMessage, error) {
	if p.Timeout == nil {
		if !covered {
			return nil, nil
		}
		return o.Stored.Newest(ctx, p.EventKey)
	}
	ctx, cancel := context.WithTimeout(ctx, min(*p.Timeout, maxTimeout))
	defer cancel()
	if !covered {
		<-ctx.Done()
		return nil, nil
	}
	return o.Stored.Next(ctx, p.EventKey)
}
