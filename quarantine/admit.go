package quarantine

import (
	"context"

	"sluice"
)

type admitParams struct {
	selection `things:"let in" by:"Lets in"`

	Force bool `json:"force" doc:"Lets them in without checking them again."`
}

func (k *Keeper) admit(ctx context.Context, p admitParams) (out sluice.Admissions, err error) {
	calls, next, err := k.choose(ctx, p.selection)
	if err != nil {
		return out, err
	}
	out.Items, out.Next = []sluice.BulkItem{}, next
	for _, c := range calls { // a copy of each, which its request goes with
		item, err := k.admitOne(ctx, &c, p.Force, p.ID != "")
		if err != nil {
			return out, err
		}
		if item == nil {
			continue
		}
		if item.CorrelationID != "" {
			out.Admitted++
		} else {
			out.Refused++
		}
		if !sluice.UserFrom(ctx).Cover(sluice.MaySeePayload).Event(c.EventKey) {
			item.CorrelationID = "" // with it the result can be read
		}
		out.Items = append(out.Items, *item)
	}
	return out, nil
}

// admitOne lets one call in; nil if it has gone meanwhile. That it can never be let in is an error
// only where no others are asked for.
func (k *Keeper) admitOne(
	ctx context.Context, c *sluice.QuarantinedCall, force, alone bool,
) (*sluice.BulkItem, error) {
	there, err := k.Store.Open(ctx, c)
	if !there || err != nil {
		return nil, err
	}
	result, err := k.Receiver.Admit(ctx, c, force)
	if err != nil {
		e := sluice.AsError(err)
		if e.Kind == sluice.Unavailable || e.Kind == sluice.Internal || alone && sluice.CodeNotAdmissible.Is(e) {
			return nil, e
		}
		return &sluice.BulkItem{ID: c.ID, Code: e.Code, Message: e.Message}, nil
	}
	_, err = k.Store.Drop(ctx, c.ID)
	return &sluice.BulkItem{ID: c.ID, TraceID: result.TraceID, CorrelationID: result.CorrelationID}, err
}
