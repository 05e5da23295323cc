package jetstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
)

// SetUp returns a channel that is closed once streams and buckets are there.
func (e *Engine) SetUp() <-chan struct{} { return e.host.SetUp() }

// Ready returns nil if the engine or the spool takes calls, otherwise an Unavailable error
// that says why not.
func (e *Engine) Ready() error {
	err := e.takes()
	if err != nil && e.fallback != nil && e.fallback.Takes(err) && e.spool.Ready() == nil {
		return nil
	}
	return err
}

// takes returns nil if the engine takes events.
func (e *Engine) takes() error {
	if err := e.host.Ready(); err != nil {
		return err
	}
	return e.Stored.space.room()
}

// Failed returns a channel that is closed when the engine can't go on and the process must
// restart. Failure then says why.
func (e *Engine) Failed() <-chan struct{} { return e.host.Failed() }

// Failure reports why the engine can't go on.
func (e *Engine) Failure() error { return e.host.Failure() }

// Warnings returns what an operator should know: losses of the disk, and reasons why an external
// engine is less durable than the embedded one.
func (e *Engine) Warnings() []string {
	warnings := e.Damage()
	if short := e.outcomes.Warning(); short != "" {
		warnings = append(warnings, short)
	}
	if full := e.records.Warning(); full != "" {
		warnings = append(warnings, full)
	}
	return slices.Concat(warnings, e.spoolWarnings(), e.nodes.warnings(), e.replicas.warnings(), e.advice)
}

// Damage returns what the disk has lost or spoiled.
func (e *Engine) Damage() []string {
	damage := e.damaged()
	if lost := e.Stored.lost.Load(); lost > 0 {
		damage = append(damage, fmt.Sprintf("the disk has lost %d events that were stored; the log says more", lost))
	}
	if e.spool != nil {
		damage = append(damage, e.spool.damaged()...)
	}
	return damage
}

// Unwell returns why the engine takes no calls, or does so only in part: calls go to the
// spool, or replicas are missing.
func (e *Engine) Unwell() []string {
	var problems []string
	if err := e.takes(); err != nil {
		problems = []string{sluice.AsError(err).Message}
	}
	return slices.Concat(problems, e.spoolWarnings(), e.replicas.warnings())
}

// Stats returns the state of the engine: all of a server's stats except its minutes. With an
// error, it has what is known all the same.
func (e *Engine) Stats(ctx context.Context) (sluice.ServerStats, error) {
	s := sluice.ServerStats{
		Ready:      true,
		Warnings:   e.Warnings(),
		Engine:     e.Description,
		FreeDisk:   -1,
		Pipelines:  []sluice.PipelineStats{},
		Unrecorded: e.Journal.Dropped(),
		Lost:       e.Stored.lost.Load(),
		Unreadable: e.Queue.Unreadable(),
		LostOthers: e.lostOthers,
		CutOff:     e.cutOff,
		SyncAge:    e.host.SyncAge(),
		RecordSize: e.records.Used(),
		Unstored:   e.records.Refused(),
	}
	s.Offline, s.Behind = e.replicas.counts()
	if e.spool != nil {
		s.SyncAge = max(s.SyncAge, e.spool.SyncAge())
		spooled := e.spool.Stats(ctx)
		s.Spool = &spooled
	}
	if err := e.takes(); err != nil {
		s.Ready, s.Problem = false, err.Error()
	}
	if err := e.host.Connected(); err != nil {
		return s, err
	}
	s.Webhooks = e.Webhooks.Count()
	if e.host.Dir != "" {
		free, err := durable.FreeSpace(e.host.Dir)
		if err != nil {
			return s, err
		}
		s.FreeDisk, s.FreeFiles = free.Bytes, free.Files
	}
	for _, count := range []struct {
		info        func(context.Context) (*jetstream.StreamInfo, error)
		messages    *int64
		bytesStored *int64
	}{
		{e.Stored.info, &s.Events, &s.EventBytes},
		{e.DeadLetters.Info, &s.DeadLetters, new(int64)},
		{e.outcomes.Info, &s.Results, new(int64)},
	} {
		info, err := count.info(ctx)
		if err != nil {
			return s, err
		}
		*count.messages, *count.bytesStored = int64(info.State.Msgs), int64(info.State.Bytes)
	}
	letters, err := e.DeadLetters.ByPipeline(ctx)
	if err != nil {
		return s, err
	}
	pipelines, err := e.Queue.Backlogs(ctx)
	for i := range pipelines {
		pipelines[i].DeadLetters = letters[pipelines[i].Pipeline]
	}
	s.Pipelines = append(s.Pipelines, pipelines...)
	return s, err
}

// spoolWarnings returns what an operator should know about the spool.
func (e *Engine) spoolWarnings() (warnings []string) {
	if e.spoolProblem != "" {
		warnings = append(warnings, e.spoolProblem)
	}
	if e.spool == nil {
		return warnings
	}
	if n := e.spool.Count(); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d calls wait in the spool of this node until the engine takes them", n))
	}
	if err := e.host.Ready(); err != nil {
		warnings = append(warnings, "the engine is away; calls go to the spool, and commands and pipelines have to wait")
	}
	if err := e.spool.Ready(); err != nil {
		warnings = append(warnings, "the spool takes no calls: "+sluice.AsError(err).Message)
	}
	return warnings
}

// Spooled returns how many calls wait in the spool.
func (e *Engine) Spooled() int64 {
	if e.spool == nil {
		return 0
	}
	return e.spool.Count()
}

// Unfinished says which calls are not done.
func (e *Engine) Unfinished(ctx context.Context) (sluice.Unfinished, error) {
	e.Journal.TellRecovered(ctx)
	u, err := e.Queue.Unfinished(ctx)
	if e.spool != nil {
		if oldest := e.spool.Stats(ctx).Oldest; oldest != nil && (u.Since.IsZero() || oldest.Before(u.Since)) {
			u.Since = *oldest
		}
	}
	return u, err
}
