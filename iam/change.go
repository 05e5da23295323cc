package iam

import (
	"context"

	"sluice"
)

// changed returns a record as a change makes it. With dryRun nothing is stored.
func changed[T any](
	ctx context.Context, records sluice.Records[T], key string, dryRun bool,
	decide func(before *T, all map[string]*T) (*T, error),
) (*T, error) {
	if !dryRun {
		return records.Change(ctx, key, decide)
	}
	before, err := records.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return decide(before, nil)
}
