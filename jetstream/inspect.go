package jetstream

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/durable"
	"sluice/jetstream/damage"
	"sluice/jetstream/stream"
)

// fewBytes is the size up to which a stream is read at each start. Buckets always are.
const fewBytes = 64 << 20

// inspect checks the embedded engine's files before the engine opens them, because the engine cuts off
// what it can't read, and leaves what it had not overwritten. After a clean stop only the sizes of large
// streams are checked; otherwise everything is read.
func (e *Engine) inspect() (err error) {
	store := damage.Of(e.opts.Dir)
	store.Cuts, store.Progress = true, e.readProgress()
	if err := durable.Probe(e.opts.Dir); err != nil {
		return err
	}
	if e.watermarks, err = readWatermarks(e.opts.Dir); err != nil {
		return err
	}
	if err := e.needWatermarks(store); err != nil {
		return err
	}
	dropped, err := store.BadConsumers()
	if err != nil {
		return err
	}
	if len(dropped) > 0 {
		e.host.Log.Warn("The states of pipelines' queues can't be read; they go on from what is known to be done.",
			"queues", len(dropped))
		e.damage.add(fmt.Sprintf("the states of %d queues of pipelines could not be read; they go on from what is "+
			"known to be done", len(dropped)))
	}
	clean, changed, err := store.RemoveStop(filepath.Join(e.opts.Dir, stopNote))
	if err != nil {
		return err
	}
	for _, l := range changed {
		e.host.Log.Error("A file of the engine's store is damaged.", "file", l.File, "problem", l.Problem)
		e.damage.add(l.Public())
	}
	if clean {
		store.Reads = func(name string, size int64) bool {
			return size <= fewBytes || strings.HasPrefix(name, stream.BucketPrefix)
		}
	}
	store.Contiguous = e.watermarks.contiguous
	report, err := store.Read()
	if err != nil {
		return err
	}
	e.damage.note(e.host.Log, ofEngine, report.Losses, e.watermarks, clean || len(changed) > 0)
	if e.watermarks.spoil(report.Losses) {
		return e.watermarks.store(e.opts.Dir)
	}
	return nil
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
		e.damage.add(noWatermarks)
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

// A lossLog is what the disk has lost or spoiled, as far as that is known.
type lossLog struct {
	mu    sync.Mutex
	texts []string

	// What the start has found: messages that are lost and no events, and unfinished writes.
	others, cutOff int64
}

func (l *lossLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.texts, text) {
		l.texts = append(l.texts, text)
	}
}

// What a loss is of, in words.
type lossOf struct{ write, file, text string }

var (
	ofEngine = lossOf{"An unfinished write", "A file of the engine's store", ""}
	ofSpool  = lossOf{"An unfinished write to the spool", "A file of the spool", "of the spool: "}
)

// note tells of what was lost. What was being written when the server was killed is no loss.
func (l *lossLog) note(log *slog.Logger, of lossOf, losses []damage.Loss, was watermarks, stopped bool) {
	for _, loss := range losses {
		if !stopped && was.unfinished(loss) {
			log.Warn(of.write+" was cut off. Nobody was told that it is stored.", "file", loss.File,
				"problem", loss.Problem)
			l.cutOff++
			continue
		}
		if loss.Stream != stream.Events { // those are counted one by one
			l.others += was.count(loss)
		}
		log.Error(of.file+" is damaged. What it was like is kept in the folder damaged.",
			"file", loss.File, "problem", loss.Problem, "first", loss.First, "last", loss.Last)
		l.add(of.text + loss.Public())
	}
}

// first returns the first entries.
func (l *lossLog) first() []string {
	const most = 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.texts) <= most {
		return slices.Clone(l.texts)
	}
	return append(slices.Clone(l.texts[:most]), fmt.Sprintf("and %d more; the log has them all", len(l.texts)-most))
}

// stopNote is the file that a clean stop leaves in the embedded engine's folder.
const stopNote = "stopped"

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
	store.Contiguous, store.Progress = was.contiguous, read
	report, err := store.Read()
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
		findings = append(findings, name+": the state of a pipeline's queue can't be read; it goes on from what is "+
			"known to be done")
	}
	return append(findings, was.missing(report.Streams)...), err
}
