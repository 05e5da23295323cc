package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type auditGetParams struct {
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Username string    `json:"username" doc:"Only what this user did."`
	Command  string    `json:"command" doc:"Only calls of this command; login and logout are there too."`
	Outcome  string    `json:"outcome" enum:"allowed,refused,failed" doc:"Only what ended so: refused means that the user may not, failed that it went wrong."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many entries. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

type auditPage struct {
	Items []sluice.AuditEntry `json:"items"`
	Next  string              `json:"next,omitempty"`
}

func auditGetCommand(d *Directory) command.Command {
	return command.New("audit.get", "Read the audit log, newest first: who did what to what, from where, and whether it was allowed.",
		func(ctx context.Context, p auditGetParams) (auditPage, error) {
			q := sluice.AuditQuery{Username: p.Username, Command: p.Command, Outcome: p.Outcome, From: p.From, To: p.To, Limit: p.Limit, Before: p.After}
			if q.Limit == 0 {
				q.Limit = 100
			}
			entries, next, err := d.Audit.Entries(ctx, q)
			if err != nil {
				return auditPage{}, err
			}
			return auditPage{append([]sluice.AuditEntry{}, entries...), next}, nil
		}, command.ReadOnly)
}
