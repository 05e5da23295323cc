package trust

import (
	"context"
	"fmt"

	"sluice"
	"sluice/limit"
	"sluice/sender"
)

// Work returns the work of checking the payloads of a call.
func (g *Trust) Work(ctx context.Context) *limit.Work { return g.computing.Work(ctx, g.eventKey, "") }

// CheckPayload rejects a payload that does not meet the schema. That costs memory, which grow gets
// hold of.
func (g *Trust) CheckPayload(
	ctx context.Context, work *limit.Work, payload []byte, grow func(more int64) error,
) error {
	if g.schema == nil {
		return nil
	}
	return g.schema.check(ctx, work, payload, grow)
}

// InItem returns the error of an item of a call, which says which one it is.
func InItem(index int, err error) error {
	e := sluice.AsError(err)
	found, isFound := e.Details.([]finding)
	if !isFound {
		return err
	}
	for i := range found {
		found[i].Message = fmt.Sprintf("In item %d: %s", index, found[i].Message)
	}
	return e
}

// ID returns the id of a delivery, "" where calls have none.
func (g *Trust) ID(call *sender.Call) (string, error) {
	if g.IDs == nil {
		return "", nil
	}
	return g.IDs.ID(call)
}

// ItemIDs returns where the items of calls have their ids.
func (g *Trust) ItemIDs(place sender.Split) (ids sender.Dedupe) {
	if g.IDs != nil {
		ids, _ = sender.ParseDedupe(place.Within(g.Where)) // a stored one is right
	}
	return ids
}

// Footprint returns the memory that a payload takes while it is checked by the schema; 0
// without a schema.
func (g *Trust) Footprint(payload []byte) int64 {
	if g.schema == nil {
		return 0
	}
	return g.schema.footprint(payload)
}
