package sluice

import (
	"context"
	"errors"
)

// Records is a store of records of one type by key. Every node has them all in
// memory; what Change has answered is on stable storage.
type Records[T any] interface {
	// Get returns a record, or nil. It must not be changed.
	Get(ctx context.Context, key string) (*T, error)

	// All returns every record, in no particular order. They must not be
	// changed.
	All() []*T

	// Change replaces a record by what decide makes of it: before is nil if
	// there is none, and returning nil deletes it. all holds every record, by
	// keys of the store's own, and must not be changed. No other change comes
	// between the decision and its storage; to ensure that, decide may be
	// called again. Its error is returned unchanged.
	Change(ctx context.Context, key string, decide func(before *T, all map[string]*T) (*T, error)) (*T, error)
}

// A Lookup finds what has a name, NotFound if nothing has.
type Lookup[T any] func(ctx context.Context, name string) (T, error)

// FollowedRecords tell of their changes.
type FollowedRecords[T any] interface {
	Records[T]

	// Follow calls follow for each record there is, and then for each change, before
	// the change returns. before is nil for a new record, after for a deleted one.
	// follow has seen all records that a deciding function sees.
	Follow(follow func(before, after *T))
}

// ErrUnchanged is returned by a deciding function that has nothing to change.
var ErrUnchanged = errors.New("nothing to change")

// Replace replaces a record by what decide makes of it, as Change does, where no other record
// counts. ErrUnchanged leaves everything as it is: then neither a record nor an error is returned.
func Replace[T any](
	ctx context.Context, records Records[T], key string, decide func(before *T) (*T, error),
) (*T, error) {
	after, err := records.Change(ctx, key, func(before *T, _ map[string]*T) (*T, error) { return decide(before) })
	return after, Changed(err)
}

// Edit replaces a record by a copy of it that edit has changed, and returns the copy. missing is
// the error if there is no such record, or ErrUnchanged; see Replace. Edit may be called again, as
// Change says; the copy is shallow, so edit replaces lists and maps instead of changing them.
func Edit[T any](ctx context.Context, records Records[T], key string, missing error, edit func(*T) error) (*T, error) {
	return Replace(ctx, records, key, func(before *T) (*T, error) {
		if before == nil {
			return nil, missing
		}
		after := *before
		return &after, edit(&after)
	})
}

// Put stores a record, in place of the one before if there is one.
func Put[T any](ctx context.Context, records Records[T], key string, record *T) error {
	_, err := Replace(ctx, records, key, func(*T) (*T, error) { return record, nil })
	return err
}

// Delete deletes a record. missing is the error if there is no such record.
func Delete[T any](ctx context.Context, records Records[T], key string, missing error) error {
	_, err := Replace(ctx, records, key, func(before *T) (*T, error) {
		if before == nil {
			return nil, missing
		}
		return nil, nil
	})
	return err
}

// Remove deletes a record, if it is there.
func Remove[T any](ctx context.Context, records Records[T], key string) error {
	return Delete(ctx, records, key, ErrUnchanged)
}

// Changed returns the error of a change; that there was nothing to change is none.
func Changed(err error) error {
	if errors.Is(err, ErrUnchanged) {
		return nil
	}
	return err
}
