package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/limit"
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
		if client, err := d.Client(ctx, clientID); err != nil || client == nil || d.refusals.Try(limit.Network(address)) > 0 {
			return
		}
		e.Outcome, e.Code = sluice.AuditRefused, code
	}
	d.Note(ctx, e)
}

// NoteLogout enters the end of a login in the audit log. It was wanted, or a
// refresh token was used again that had been replaced: then someone is a thief.
func (d *Directory) NoteLogout(ctx context.Context, username, clientID, address string, reused bool) {
	e := sluice.AuditEntry{Username: username, Address: address, Command: "logout", Target: clientID, Outcome: sluice.AuditAllowed}
	if reused {
		e.Outcome, e.Code = sluice.AuditRefused, "token-reused"
	}
	d.Note(ctx, e)
}

// noteRefused enters an Authorization header that was refused in the audit log,
// with the user if its token is one of ours, and from each address not too many.
func (d *Directory) noteRefused(ctx context.Context, scheme string, id sluice.Identity, address string, err error) {
	if sluice.AsError(err).Kind != sluice.Unauthenticated || d.refusals.Try(limit.Network(address)) > 0 {
		return
	}
	e := sluice.AuditEntry{Username: id.Username, Address: address, Command: "login", Target: scheme, Outcome: sluice.AuditRefused, Code: sluice.AsError(err).Code}
	if id.Client {
		e.Username = ClientPrefix + id.ClientID
	}
	d.Note(ctx, e)
}
