package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/throttle"
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

// NoteLogin enters a request for tokens in the audit log. Wrong passwords are
// there already, from where they are checked.
func (d *Directory) NoteLogin(ctx context.Context, grant, clientID, username, address string, granted bool, code string) {
	if !granted && grant == "password" {
		return
	}
	e := sluice.AuditEntry{Username: username, Address: address, Command: "login", Target: clientID, Outcome: sluice.AuditAllowed}
	if username == "" && grant == "client_credentials" {
		e.Username = ClientPrefix + clientID
	}
	if !granted {
		// Nobody had to prove anything: no unknown names, and not too many.
		if client, err := d.Client(ctx, clientID); err != nil || client == nil || d.refusals.Try(throttle.Network(address)) > 0 {
			return
		}
		e.Outcome, e.Code = sluice.AuditRefused, code
	}
	d.Note(ctx, e)
}
