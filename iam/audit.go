package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/limit"
)

// Note enters something in the audit log, with the pipeline that did it. A user may make
// a limited number of entries about what changed nothing. Further ones are counted, and
// one entry stands for all of a minute.
func (d *Directory) Note(ctx context.Context, e sluice.AuditEntry) {
	ctx = context.WithoutCancel(ctx) // what was done is noted, also if the caller has left
	e = complete(ctx, e)
	if !e.Change() && d.entries.Try(e.Username) > 0 {
		d.tally.add(e)
		return
	}
	d.record(ctx, e)
}

// NotePayload enters in the audit log that a user has seen payloads: the first time in a
// minute, and then how often it was. What pipelines read does not count.
func (d *Directory) NotePayload(ctx context.Context, command, target string) {
	if sluice.RunFrom(ctx) != nil {
		return
	}
	user := sluice.UserFrom(ctx)
	e := complete(ctx, sluice.AuditEntry{
		Username: user.Name, Address: user.Address, Command: command, Target: target,
		Outcome: sluice.AuditAllowed, Code: sluice.MaySeePayload, Access: true,
	})
	if !d.tally.repeated(e) {
		d.record(ctx, e)
	}
}

// FlushAudit enters what was counted so far.
func (d *Directory) FlushAudit(ctx context.Context) { d.tally.flush(ctx) }

// maxTarget bounds the target of an entry, in bytes of ASCII: the log bounds the number
// of entries, not their size.
const maxTarget = 512

// complete adds what all entries have.
func complete(ctx context.Context, e sluice.AuditEntry) sluice.AuditEntry {
	e.Time = time.Now().UTC()
	e.Target = e.Target[:min(len(e.Target), maxTarget)]
	if run := sluice.RunFrom(ctx); run != nil {
		e.Pipeline, e.Owner, e.Caller, e.TraceID = run.Pipeline, run.OwnerName, run.Caller, run.TraceID
	}
	return e
}

// record stores an entry, and copies it to the operator's log if that is wanted. If it
// can't be stored, that is only logged: the command has already had its effect, and its
// caller must not be told otherwise.
func (d *Directory) record(ctx context.Context, e sluice.AuditEntry) {
	if d.Copy != nil {
		d.Copy(e)
	}
	if err := d.Audit.Record(ctx, e); err != nil {
		d.Log.Error("An entry of the audit log could not be stored.", "username", e.Username, "address", e.Address,
			"command", e.Command, "target", e.Target, "outcome", e.Outcome, "error", err)
	}
}

// NoteLogin enters a request for tokens in the audit log. Wrong passwords are entered
// where they are checked.
func (d *Directory) NoteLogin(ctx context.Context, l sluice.Login) {
	if l.Outcome == sluice.Granted {
		l.Outcome = ""
	} else if client, err := d.Client(ctx, l.ClientID); l.Grant == "password" || err != nil || client == nil ||
		d.refusals.Try(limit.Network(l.Address)) > 0 { // anybody can cause these: no unknown names, and not too many
		return
	}
	if l.Username == "" && l.Grant == "client_credentials" {
		l.Username = clientPrefix + l.ClientID
	}
	d.noteAccess(ctx, "login", l.ClientID, l.Username, l.Address, l.Outcome)
}

// NoteLogout enters the end of a login in the audit log. Either it was wanted, or a
// replaced refresh token was used again, so one of its users has stolen it.
func (d *Directory) NoteLogout(ctx context.Context, l sluice.Logout) {
	code := ""
	if l.Reused {
		code = "token-reused"
	}
	d.noteAccess(ctx, "logout", l.ClientID, l.Username, l.Address, code)
}

// noteRefused enters a refused Authorization header in the audit log, with the user if
// its token is one of ours, and not too many from each address.
func (d *Directory) noteRefused(ctx context.Context, scheme string, id sluice.Identity, address string, err error) {
	if !sluice.Unauthenticated.Is(err) || d.refusals.Try(limit.Network(address)) > 0 {
		return
	}
	username := id.Username
	if id.Client {
		username = clientPrefix + id.ClientID
	}
	d.noteAccess(ctx, "login", scheme, username, address, sluice.AsError(err).Code)
}

// noteAccess enters in the audit log that somebody got in or out, or why not.
func (d *Directory) noteAccess(ctx context.Context, command, target, username, address, code string) {
	e := sluice.AuditEntry{
		Username: username, Address: address, Command: command, Target: target, Code: code, Access: true,
		Outcome: sluice.AuditAllowed,
	}
	if code != "" {
		e.Outcome = sluice.AuditRefused
	}
	d.Note(ctx, e)
}
