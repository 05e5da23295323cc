package iam

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sluice"
	"sluice/command"
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
func (d *Directory) NoteLogin(ctx context.Context, grant, clientID, username, address string, granted bool, code string) {
	if !granted && grant == "password" {
		return
	}
	e := sluice.AuditEntry{Username: username, Address: address, Command: "login", Target: clientID, Outcome: sluice.AuditAllowed, Access: true}
	if username == "" && grant == "client_credentials" {
		e.Username = clientPrefix + clientID
	}
	if !granted {
		// Anybody can cause these: no unknown names, and not too many.
		if client, err := d.Client(ctx, clientID); err != nil || client == nil || d.refusals.Try(limit.Network(address)) > 0 {
			return
		}
		e.Outcome, e.Code = sluice.AuditRefused, code
	}
	d.Note(ctx, e)
}

// NoteLogout enters the end of a login in the audit log. Either it was wanted, or a
// replaced refresh token was used again, so one of its users has stolen it.
func (d *Directory) NoteLogout(ctx context.Context, username, clientID, address string, reused bool) {
	e := sluice.AuditEntry{Username: username, Address: address, Command: "logout", Target: clientID, Outcome: sluice.AuditAllowed, Access: true}
	if reused {
		e.Outcome, e.Code = sluice.AuditRefused, "token-reused"
	}
	d.Note(ctx, e)
}

// noteRefused enters a refused Authorization header in the audit log, with the user if
// its token is one of ours, and not too many from each address.
func (d *Directory) noteRefused(ctx context.Context, scheme string, id sluice.Identity, address string, err error) {
	if sluice.AsError(err).Kind != sluice.Unauthenticated || d.refusals.Try(limit.Network(address)) > 0 {
		return
	}
	e := sluice.AuditEntry{Username: id.Username, Address: address, Command: "login", Target: scheme, Outcome: sluice.AuditRefused, Code: sluice.AsError(err).Code}
	if id.Client {
		e.Username = clientPrefix + id.ClientID
	}
	d.Note(ctx, e)
}

type auditGetParams struct {
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Username string    `json:"username" doc:"Only what this user did."`
	Command  string    `json:"command" doc:"Only calls of this command; login and logout are there too."`
	Outcome  string    `json:"outcome" enum:"allowed,refused,failed" doc:"Only what ended so: refused means that the user may not, failed that it went wrong."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many entries. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

func auditGetCommand(d *Directory) command.Command {
	return command.New("audit.get", "Read the audit log, newest first: who did what to what, from where, and whether it was allowed.",
		func(ctx context.Context, p auditGetParams) (sluice.List[sluice.AuditEntry], error) {
			entries, next, err := d.audited(ctx, sluice.AuditQuery{Username: p.Username, Command: p.Command, Outcome: p.Outcome, From: p.From, To: p.To, Limit: cmp.Or(p.Limit, 100), Before: p.After})
			if err != nil {
				return sluice.List[sluice.AuditEntry]{}, err
			}
			return sluice.List[sluice.AuditEntry]{Items: append([]sluice.AuditEntry{}, entries...), Next: next}, nil
		}, command.ReadOnly, command.Global)
}

// storedLate is how long after its time an entry may be stored. One that stands for
// several waits for more of them, and the engine may take a while.
const storedLate = 2 * tallyTime

// audited returns a page of entries, the newest first. The log has them in the order in
// which they were stored, and ends a search by time at the first entry that is too old.
func (d *Directory) audited(ctx context.Context, q sluice.AuditQuery) (entries []sluice.AuditEntry, next string, err error) {
	from, to := q.From, q.To
	if !from.IsZero() {
		q.From = from.Add(-storedLate)
	}
	if !to.IsZero() {
		q.To = to.Add(storedLate)
	}
	for {
		if entries, next, err = d.Audit.Entries(ctx, q); err != nil {
			return nil, "", err
		}
		found := len(entries)
		entries = slices.DeleteFunc(entries, func(e sluice.AuditEntry) bool {
			return e.Time.Before(from) || !to.IsZero() && e.Time.After(to)
		})
		if len(entries) == 0 && found > 0 && next != "" {
			q.Before = next // nothing on this page is within the span
			continue
		}
		slices.SortStableFunc(entries, func(a, b sluice.AuditEntry) int { return b.Time.Compare(a.Time) })
		return entries, next, nil
	}
}

// An auditCheck tells whether the audit log is whole.
type auditCheck struct {
	Valid     bool         `json:"valid"`
	Entries   int          `json:"entries" doc:"How many were checked."`
	Unchained int          `json:"unchained,omitempty" doc:"Entries from before entries had hashes."`
	Last      string       `json:"last,omitempty" doc:"Hash of the newest entry. Keep it elsewhere: a log that was cut or written anew does not have it any more."`
	Breaks    []chainBreak `json:"breaks"`
}

// A chainBreak is where a chain of entries breaks.
type chainBreak struct {
	Time    time.Time `json:"time" doc:"Of the entry behind the break."`
	Chain   string    `json:"chain,omitempty"`
	Number  int       `json:"number,omitempty"`
	Message string    `json:"message"`
}

func auditVerifyCommand(d *Directory) command.Command {
	return command.New("audit.verify", "Check the hashes that chain the entries of the audit log, and tell where a chain breaks: where an entry was changed, taken out or put in.",
		func(ctx context.Context, _ struct{}) (auditCheck, error) {
			c := chains{byID: make(map[string][]link), hashes: make(map[string]bool), oldest: make(map[byte]int)}
			for q := (sluice.AuditQuery{Limit: 1000}); ; {
				entries, next, err := d.Audit.Entries(ctx, q)
				if err != nil {
					return auditCheck{}, err
				}
				for i := range entries {
					c.add(&entries[i])
				}
				if q.Before = next; next == "" {
					break
				}
			}
			return c.check(), nil
		}, command.ReadOnly, command.Global)
}

// A link is what a chain knows of an entry.
type link struct {
	sluice.AuditEntry

	place int // in the log, newest first
}

// chains are those of the audit log. The first letter of a chain's id says which entries it
// has: the log keeps so many of each, and drops the oldest.
type chains struct {
	auditCheck

	byID   map[string][]link
	hashes map[string]bool
	oldest map[byte]int // place of the oldest entry of each kind of chain
	plain  []link       // entries without a hash
}

func (c *chains) add(e *sluice.AuditEntry) {
	l := link{sluice.AuditEntry{Time: e.Time, Chain: e.Chain, Number: e.Number, Previous: e.Previous, Hash: e.Hash}, c.Entries}
	c.Entries++
	if e.Hash == "" || e.Chain == "" {
		c.plain = append(c.plain, l)
		return
	}
	if e.Hash != e.Sum() {
		c.broken(l, "The entry was changed: its hash is that of another one.")
	}
	c.Last = cmp.Or(c.Last, e.Hash)
	c.hashes[e.Hash] = true
	c.byID[e.Chain] = append(c.byID[e.Chain], l)
	c.oldest[e.Chain[0]] = l.place
}

func (c *chains) broken(l link, message string) {
	c.Breaks = append(c.Breaks, chainBreak{l.Time, l.Chain, l.Number, message})
}

// check finds the breaks.
func (c *chains) check() auditCheck {
	for _, chain := range c.byID {
		slices.SortStableFunc(chain, func(a, b link) int { return cmp.Compare(a.Number, b.Number) })
		first, isOldest := chain[0], slices.ContainsFunc(chain, func(l link) bool { return l.place == c.oldest[l.Chain[0]] })
		switch {
		case isOldest: // the log has dropped what was before
		case first.Number > 1:
			c.broken(first, fmt.Sprintf("Before it %d entries of its chain are missing.", first.Number-1))
		case first.Previous != "" && !c.hashes[first.Previous]:
			c.broken(first, "The entry that its chain goes on from is missing, and perhaps others before it.")
		}
		for i, l := range chain[1:] {
			switch before := chain[i]; {
			case l.Number == before.Number:
				c.broken(l, "There are two entries of that number in its chain.")
			case l.Number > before.Number+1:
				c.broken(l, fmt.Sprintf("Before it %d entries of its chain are missing.", l.Number-before.Number-1))
			case l.Previous != before.Hash:
				c.broken(l, "It does not follow from the entry before it, one of which was replaced.")
			}
		}
	}
	end := -1 // of the entries that have a hash
	for _, place := range c.oldest {
		end = max(end, place)
	}
	for _, l := range c.plain {
		if c.Unchained++; l.place < end {
			c.broken(l, "The entry has no hash, and later ones have: it was put in.")
		}
	}
	slices.SortFunc(c.Breaks, func(a, b chainBreak) int { return b.Time.Compare(a.Time) })
	c.Breaks = append([]chainBreak{}, c.Breaks...)
	c.Valid = len(c.Breaks) == 0
	return c.auditCheck
}
