package jetstream

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/durable"
	"sluice/jetstream/damage"
	"sluice/jetstream/queue"
	"sluice/jetstream/stream"
)

// stopNote is the file that a clean stop leaves in the embedded engine's folder.
const stopNote = "stopped"

// fewBytes is the size up to which a stream is read at each start. Buckets always are.
const fewBytes = 64 << 20

// inspect checks the embedded engine's files before the engine opens them, because the
// engine cuts off what it can't read. After a clean stop only the sizes of large streams
// are checked; otherwise everything is read.
func (e *Engine) inspect() (err error) {
	store := damage.Of(e.opts.Dir)
	if err := durable.Probe(e.opts.Dir); err != nil {
		return err
	}
	aside := filepath.Join(e.opts.Dir, "damaged", time.Now().UTC().Format("20060102T150405"))
	if e.watermarks, err = readWatermarks(e.opts.Dir); err != nil {
		return err
	}
	if err := e.needWatermarks(store); err != nil {
		return err
	}
	dropped, err := store.DropConsumers(aside)
	if err != nil {
		return err
	}
	if len(dropped) > 0 {
		e.host.Log.Warn("The states of pipelines' queues can't be read; they go on from what is known to be done.", "queues", len(dropped))
		e.addDamage(fmt.Sprintf("the states of %d queues of pipelines could not be read; they go on from what is known to be done", len(dropped)))
	}
	clean, changed, err := store.TakeStop(filepath.Join(e.opts.Dir, stopNote))
	if err != nil {
		return err
	}
	for _, l := range changed {
		e.host.Log.Error("A file of the engine's store is damaged.", "file", l.File, "problem", l.Problem)
		e.addDamage(l.Public())
	}
	if clean {
		store.Reads = func(name string, size int64) bool {
			return size <= fewBytes || strings.HasPrefix(name, stream.BucketPrefix)
		}
	}
	losses, err := store.Contain(aside, e.watermarks.contiguous, e.readProgress())
	if err != nil {
		return err
	}
	e.noteLosses(losses, clean || len(changed) > 0)
	if e.watermarks.spoil(losses) {
		return e.watermarks.store(e.opts.Dir)
	}
	return nil
}

// noteLosses tells of what was lost. What was being written when the server was killed is
// no loss.
func (e *Engine) noteLosses(losses []damage.Loss, stopped bool) {
	for _, l := range losses {
		if !stopped && e.watermarks.unfinished(l) {
			e.host.Log.Warn("An unfinished write was cut off. Nobody was told that it is stored.", "file", l.File, "problem", l.Problem)
			e.cutOff++
			continue
		}
		if l.Stream != stream.Events { // those are counted one by one
			e.lostOthers += e.watermarks.count(l)
		}
		e.host.Log.Error("A file of the engine's store is damaged. What it was like is kept in the folder damaged.", "file", l.File, "problem", l.Problem, "first", l.First, "last", l.Last)
		e.addDamage(l.Public())
	}
}

// needWatermarks warns of a store that has lost its watermarks. A new one has them before it
// has anything else.
func (e *Engine) needWatermarks(store damage.Store) error {
	streams, err := store.Streams()
	if err != nil {
		return err
	}
	if e.watermarks.lostBeside(streams) {
		e.host.Log.Error("The store has lost its watermarks.", "problem", noWatermarks)
		e.addDamage(noWatermarks)
	}
	if len(streams) > 0 || !e.watermarks.unknown {
		return nil
	}
	e.watermarks.unknown = false
	return e.watermarks.store(e.opts.Dir)
}

// contiguous reports which streams lose messages only at their head.
func (m watermarks) contiguous(name string) bool { return name == stream.Events && !m.Forgets }

// readProgress returns a function that logs now and then how much of the store was read.
func (e *Engine) readProgress() func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			e.host.Log.Info("Reading the store.", "bytes", done, "of", total)
		}
	}
}

// noteStop notes in the folder that the engine has stopped cleanly.
func (e *Engine) noteStop() {
	if !e.host.IsSetUp() {
		return // the next start must find the damage again
	}
	if err := damage.Of(e.opts.Dir).NoteStop(filepath.Join(e.opts.Dir, stopNote)); err != nil {
		e.host.Log.Warn("The clean stop could not be written down; the next start reads the whole store.", "error", err)
	}
}

// Check reads the whole store of an embedded engine that is not running, and returns what is
// damaged. It calls read with how many bytes it has read, and of how many.
func Check(dir string, read func(done, total int64)) (findings []string, err error) {
	store, noted := damage.Of(dir), make(map[string]bool)
	was, err := readWatermarks(dir)
	if err != nil {
		return nil, err
	}
	report, err := store.Read(was.contiguous, read)
	if err != nil {
		return nil, err
	}
	clean, changed, err := store.ReadStop(filepath.Join(dir, stopNote))
	if err != nil {
		return nil, err
	}
	streams, err := store.Streams()
	if err != nil {
		return nil, err
	}
	if was.lostBeside(streams) {
		findings = append(findings, noWatermarks)
	}
	stopped := clean || len(changed) > 0
	for _, l := range report.Losses {
		noted[l.File] = true
		if !stopped && was.unfinished(l) {
			continue // the next start cuts it off
		}
		findings = append(findings, l.String())
	}
	for _, l := range changed {
		if !noted[l.File] {
			findings = append(findings, l.String())
		}
	}
	consumers, err := store.BadConsumers()
	for _, name := range consumers {
		findings = append(findings, name+": the state of a pipeline's queue can't be read; it goes on from what is known to be done")
	}
	return append(findings, was.missing(report.Streams)...), err
}

// checkWhole checks whether the embedded engine still has all events. Events are removed
// only from the start of the stream, or are known as forgotten, but the engine silently
// leaves out what it can't read.
func (s *Events) checkWhole(ctx context.Context, was watermarks, tell func(string)) error {
	info, err := s.stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return err
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	for sequence := was.First; was.First > 0 && sequence < first && sequence <= was.Last; sequence++ {
		s.addGap(sequence)
	}
	for _, missing := range info.State.Deleted {
		if missing == 0 {
			continue // the engine reports an empty stream this way
		}
		s.addGap(missing)
	}
	for sequence := max(last+1, was.First); was.Last > last && sequence <= was.Last; sequence++ {
		s.addGap(sequence)
	}
	for _, g := range s.gaps {
		s.lost.Add(g.events())
		s.host.Log.Error("The disk has lost events that were stored. Restore the data folder from a backup if they matter.", "events", g.events(), "first", g.first, "last", g.last)
		tell(fmt.Sprintf("the disk has lost %d events that were stored, %d to %d of the stream", g.events(), g.first, g.last))
	}
	if was.Last > last {
		// New events get the sequences of the lost ones, and they are not done.
		return s.lowWater.Lower(ctx, last)
	}
	return nil
}

// addGap notes that an event is missing, unless it was removed on purpose.
func (s *Events) addGap(missing uint64) {
	if s.forgotten(missing) {
		return
	}
	if n := len(s.gaps); n > 0 && s.gaps[n-1].last+1 == missing {
		s.gaps[n-1].last = missing
	} else {
		s.gaps = append(s.gaps, gap{missing, missing})
	}
}

// missing returns why there is no event with a sequence: it has expired, it never existed,
// or the disk has lost it.
func (s *Events) missing(ctx context.Context, sequence uint64) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return stream.NoAnswer(err)
	}
	if sequence < info.State.FirstSeq || sequence > info.State.LastSeq || s.forgotten(sequence) {
		return queue.Gone()
	}
	if _, known := s.found.LoadOrStore(sequence, nil); !known && !s.inGap(sequence) {
		s.lost.Add(1)
		s.host.Log.Error("The disk has lost an event that was stored: it can't be read.", "event", sequence)
	}
	return sluice.Errorf(sluice.CodeEventDamaged, "The disk has lost this event: its block is damaged.").
		Because(fmt.Errorf("the event %d can't be read", sequence))
}

func (s *Events) inGap(sequence uint64) bool {
	return slices.ContainsFunc(s.gaps, func(g gap) bool { return g.first <= sequence && sequence <= g.last })
}
