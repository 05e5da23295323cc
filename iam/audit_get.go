package iam

import (
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type auditGetParams struct {
	From     string `json:"from" doc:"Earliest time, such as 2030-01-31T12:00:00Z."`
	To       string `json:"to" doc:"Latest time."`
	Username string `json:"username" doc:"Only what this user did."`
	Command  string `json:"command" doc:"Only calls of this command; login and logout are there too."`
	Limit    int    `json:"limit" min:"1" max:"1000" doc:"At most so many entries. Default 100."`
	After    string `json:"after" doc:"The value of next of the page before."`
}

type auditPage struct {
	Items []sluice.AuditEntry `json:"items"`
	Next  string              `json:"next,omitempty"`
}

func auditGetCommand(d *Directory) command.Command {
	return command.New("audit.get", "Read the audit log, newest first: who did what to what, from where, and whether they might.",
		func(ctx context.Context, p auditGetParams) (auditPage, error) {
			q := sluice.AuditQuery{Username: p.Username, Command: p.Command, Limit: p.Limit, Before: p.After}
			if q.Limit == 0 {
				q.Limit = 100
			}
			var err error
			if q.From, err = parseTime("from", p.From); err != nil {
				return auditPage{}, err
			}
			if q.To, err = parseTime("to", p.To); err != nil {
				return auditPage{}, err
			}
			entries, next, err := d.Audit.Entries(ctx, q)
			if err != nil {
				return auditPage{}, err
			}
			return auditPage{append([]sluice.AuditEntry{}, entries...), next}, nil
		}, command.ReadOnly)
}

func parseTime(parameter, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, invalid(parameter, "The parameter %s must be a time such as 2030-01-31T12:00:00Z.", parameter)
	}
	return t, nil
}
