package trust

import (
	"context"
	"time"

	"sluice/sender"
)

// Check rejects a call with a wrong signature, payload or id, and returns its id. A call
// that its sender's API has vouched for needs no signature. Checking the payload costs
// memory, which grow gets hold of.
func (g *Trust) Check(
	ctx context.Context, call *sender.Call, payload []byte, at time.Time, vouched bool, grow func(more int64) error,
) (id string, err error) {
	if g.Verifier != nil && !vouched {
		if err := g.Verifier.Verify(ctx, call, at); err != nil {
			return "", err
		}
	}
	if g.schema != nil {
		if err := g.schema.check(ctx, payload, grow); err != nil {
			return "", err
		}
	}
	return g.ID(call)
}

// ID returns the id of a delivery, "" where calls have none.
func (g *Trust) ID(call *sender.Call) (string, error) {
	if g == nil || g.IDs == nil {
		return "", nil
	}
	return g.IDs.ID(call)
}

// Footprint returns the memory that a payload takes while it is checked by the schema; 0
// without a schema.
func (g *Trust) Footprint(payload []byte) int64 {
	if g.schema == nil {
		return 0
	}
	return g.schema.footprint(payload)
}

// Masked returns the headers that carry a secret of the sender.
func (g *Trust) Masked() []string {
	if g == nil || g.Verifier == nil {
		return nil
	}
	return g.Verifier.Masked()
}
