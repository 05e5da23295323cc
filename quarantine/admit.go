package quarantine

import (
	"context"

	"sluice"
	"sluice/command"
)

type admitParams struct {
	selection `things:"let in" by:"Lets in"`

	Force bool `json:"force" doc:"Lets them in without checking them again."`
}

func admitCommand(k *Keeper) command.Command {
	return command.New("quarantine.admit", "Let rejected calls in after all, as new calls, the oldest first: they "+
		"are checked again as their webhook is now. One that is rejected again stays.",
		func(ctx context.Context, p admitParams) (out sluice.Admissions, err error) {
			calls, next, err := k.choose(ctx, p.selection)
			if err != nil {
				return out, err
			}
			out.Items, out.Next = []sluice.BulkItem{}, next
			for _, c := range calls { // a copy of each, which its request goes with
				item, err := k.admit(ctx, &c, p.Force, p.ID != "")
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
