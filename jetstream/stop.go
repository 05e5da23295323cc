package jetstream

import (
	"path/filepath"

	"sluice/jetstream/damage"
)

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
