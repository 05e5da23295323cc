package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/wait"
)

const (
	// Bounds of one look for a stream, and of one attempt to make it. When nodes make
	// the same stream at the same moment, a cluster may lose a reply though it has made
	// the stream.
	findTimeout   = 2 * time.Second
	createTimeout = 2500 * time.Millisecond
	createPause   = 300 * time.Millisecond
)

// OpenStream returns the stream of a configuration. It makes the stream if it is missing,
// and updates one that is configured otherwise.
func (h *Host) OpenStream(
	ctx context.Context, js jetstream.JetStream, config jetstream.StreamConfig,
) (jetstream.Stream, error) {
	return h.open(ctx, "the stream "+config.Name, js, config)
}

// OpenBucket does with the stream behind a bucket what OpenStream does with others.
func (h *Host) OpenBucket(ctx context.Context, name string) (jetstream.Stream, error) {
	return h.open(ctx, "the bucket "+name, h.JS, BucketConfig(name))
}

// BucketConfig returns the configuration that the engine's client gives the stream behind a bucket.
func BucketConfig(name string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: BucketPrefix + name, Subjects: []string{BucketSubjects + name + ".>"},
		MaxMsgsPerSubject: 2, // see record's settle
		Discard:           jetstream.DiscardNew, AllowDirect: true, AllowRollup: true, DenyDelete: true,
	}
}

// open finds or makes a stream, and tries again while the engine does not reply and ctx lasts.
func (h *Host) open(
	ctx context.Context, what string, js jetstream.JetStream, config jetstream.StreamConfig,
) (found jetstream.Stream, err error) {
	config = h.Config(config)
	err = h.Insist(ctx, what, func(ctx context.Context) error {
		err := h.within(ctx, findTimeout, func(ctx context.Context) (err error) {
			found, err = js.Stream(ctx, config.Name)
			if err == nil && !fits(found.CachedInfo().Config, config) {
				found, err = js.UpdateStream(ctx, config)
			}
			return err
		})
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		return h.within(ctx, createTimeout, func(ctx context.Context) (err error) {
			found, err = js.CreateStream(ctx, config)
			return err
		})
	})
	return opener{found, h}, err
}

// within bounds one request of the set-up.
func (h *Host) within(ctx context.Context, mostly time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, h.Patience(mostly))
	defer cancel()
	return do(ctx)
}

// Insist does something until the engine replies or ctx ends. Each attempt needs a bound of
// its own.
func (h *Host) Insist(ctx context.Context, what string, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if !h.passing(what, err) || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		h.SetProblem("the engine is being set up; it has not answered yet about " + what)
		if wait.For(ctx, rand.N(createPause)) != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// fits reports whether a stream has the configuration that is wanted. Limits that are not
// set are the engine's choice.
func fits(has, want jetstream.StreamConfig) bool {
	limit := func(has, want int64) bool { return has == want || want == 0 && has <= 0 }
	return slices.Equal(has.Subjects, want.Subjects) && has.MaxAge == want.MaxAge && has.Replicas == want.Replicas &&
		limit(has.MaxBytes, want.MaxBytes) && limit(has.MaxMsgs, want.MaxMsgs) &&
		limit(has.MaxMsgsPerSubject, want.MaxMsgsPerSubject) &&
		has.Discard == want.Discard && has.AllowDirect == want.AllowDirect &&
		has.AllowAtomicPublish == want.AllowAtomicPublish && has.Duplicates == want.Duplicates
}
