package iam

import (
	"context"
	"time"

	"sluice"
)

// Note enters something in the audit log. What can't be entered is logged: the
// deed is done by then, and the caller must not be told otherwise.
func (d *Directory) Note(ctx context.Context, e sluice.AuditEntry) {
	e.Time = time.Now().UTC()
	if err := d.Audit.Record(ctx, e); err != nil {
		d.Log.Error("An entry of the audit log could not be stored.", "username", e.Username, "address", e.Address,
			"command", e.Command, "target", e.Target, "outcome", e.Outcome, "error", err)
	}
}
