package iam

import (
	"context"

	"sluice"
)

// changed returns a record as a change makes it. With dryRun nothing is stored.
func changed[T any](
	ctx context.Context, records sluice.Records[T], key string, dryRun bool,
	decide func(before *T) (*T, error),
) (*T, error) {
	if !dryRun {
		return sluice.Replace(ctx, records, key, decide)
	}
	before, err := records.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return decide(before)
}
