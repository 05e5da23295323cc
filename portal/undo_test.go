package portal_test

import (
	"testing"
)

// TestUndo: a save, a rollback and the deletion of a pipeline are undone with one
// button; where nothing can be undone the page says so, and offers what can.
func TestUndo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("webhook.put", map[string]any{"eventKey": "webhook.a"})
	s.command("iam.user.put", map[string]any{"username": "eve", "password": "a long password"})
	s.store("p", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - set: {value: first}\n")
	b := s.browse()
	b.signIn("admin", adminPassword)
	b.open("/pipelines/p/edit")
	b.fill("#source", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - set: {value: second}\n")
	b.follow("button[value=save]")
	b.wants("Saved.", "The source before was version 1.", "second")
	b.followText("Undo")
	b.wants("Rolled back", "first")
	b.followText("Undo")
	b.wants("Rolled back", "second")
	b.followText("Delete this pipeline…")
	b.wants("Delete this pipeline?", "Pause it instead")
	b.followText("Delete the pipeline")
	b.wants("The pipeline is deleted.")
	b.followText("Undo")
	b.wants("Saved.", "second", "listening")
	b.open("/pipelines/p/delete")
	b.followText("Pause it instead")
	b.wants("Paused")
	b.open("/webhooks/webhook.a/delete")
	b.wants("It can’t be undone")
	b.followText("Disable it instead")
	b.wants("Saved.", "disabled")
	b.open("/users/eve/delete")
	b.followText("Disable the user instead")
	b.wants("Saved.")
	s.signedIn("admin", adminPassword).get("/users/eve").wants(t, 200, `<option value="true" selected>`)
}
