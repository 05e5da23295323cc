package quarantine

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type admitParams struct {
	ID       string    `json:"id" audit:"yes" names:"listed" doc:"Id of the one call to let in."`
	EventKey string    `json:"eventKey" audit:"yes" names:"listed" doc:"Lets in calls of the webhook with this key."`
	Code     string    `json:"code" audit:"yes" doc:"Lets in calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls, the oldest first. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
	Force    bool      `json:"force" doc:"Lets them in without checking them again."`
}

func admitCommand(k *Keeper, receiver Receiver) command.Command {
	return command.New("quarantine.admit", "Let rejected calls in after all, as new calls, the oldest first: they "+
		"are checked again as their webhook is now. One that is rejected again stays.",
		func(ctx context.Context, p admitParams) (out sluice.Admissions, err error) {
			calls, next, err := k.choose(ctx, sluice.QuarantineQuery{
				ID: p.ID, EventKey: p.EventKey, Code: p.Code, From: p.From, To: p.To, Limit: p.Limit, After: p.After,
				Cover: sluice.CoverFrom(ctx),
			})
			if err != nil {
				return out, err
			}
			out.Items, out.Next = []sluice.BulkItem{}, next
			for _, c := range calls { // a copy of each, which its request goes with
				item, err := k.admit(ctx, receiver, &c, p.Force, p.ID != "")
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
		})
}
