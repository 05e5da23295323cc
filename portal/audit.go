package portal

import (
	"net/http"
	"time"

	"sluice"
)

// An auditView is a page of the audit log.
type auditView struct {
	Username, Command, From, To string
	Items                       []sluice.AuditEntry
	Next                        string
	Problem                     string
}

func (p *Portal) auditPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := auditView{Username: query.Get("username"), Command: query.Get("command"), From: query.Get("from"), To: query.Get("to")}
	found, err := ask[struct {
		Items []sluice.AuditEntry `json:"items"`
		Next  string              `json:"next"`
	}](p, r, "audit.get", args("username", view.Username, "command", view.Command,
		"from", asTime(view.From), "to", asTime(view.To), "limit", pageSize, "after", query.Get("after")))
	status, problem, err := wrongFilter(err)
	if err != nil {
		return err
	}
	view.Problem = problem
	view.Items, view.Next = found.Items, p.nextPage(r, found.Next)
	return p.render(w, r, status, "audit", "Audit log", view)
}

// asTime returns the value of a browser's time field as commands take it: in
// UTC. Anything else stays unchanged.
func asTime(text string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}
