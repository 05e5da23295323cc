package jetstream

import (
	"path/filepath"

	"sluice/jetstream/damage"
)

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
		findings = append(findings, name+": the state of a pipeline's queue can't be read; it goes on from what is "+
			"known to be done")
	}
	return append(findings, was.missing(report.Streams)...), err
}
