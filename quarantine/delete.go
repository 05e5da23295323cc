package quarantine

import (
	"context"

	"sluice"
)

type deleteParams struct {
	selection `things:"delete" by:"Deletes"`
}

func (k *Keeper) delete(ctx context.Context, p deleteParams) (out sluice.Deletions, err error) {
	calls, next, err := k.choose(ctx, p.selection)
	if err != nil {
		return out, err
	}
	out.Next = next
	for _, c := range calls {
		there, err := k.Store.Drop(ctx, c.ID)
		if err != nil {
			return out, err
		}
		if there {
			out.Deleted++
		}
	}
	return out, nil
}
