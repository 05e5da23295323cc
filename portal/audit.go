package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sluice"
)

// An auditView is a page of the audit log.
type auditView struct {
	Username, Command, Outcome, From, To string
	Commands                             []string // to choose from
	Items                                []auditItem
	Next                                 string
	Later                                bool // it is not the first page
	Problem                              string
}

// An auditItem is an entry with the way to what it is about.
type auditItem struct {
	sluice.AuditEntry

	Link, About string // the thing, if it has a page
	Rest        string // what else the target says
}

// Filtered reports whether the view has only some of the entries.
func (v *auditView) Filtered() bool {
	return v.Username+v.Command+v.Outcome+v.From+v.To != ""
}

// Outcomes are how calls end.
func (v *auditView) Outcomes() []string {
	return []string{sluice.AuditAllowed, sluice.AuditRefused, sluice.AuditFailed}
}

func (p *Portal) auditPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := auditView{
		Username: query.Get("username"), Command: query.Get("command"), Outcome: query.Get("outcome"),
		From: query.Get("from"), To: query.Get("to"), Later: query.Get("after") != "",
	}
	found, err := ask[sluice.List[sluice.AuditEntry]](p, r, "audit.get", args("username", view.Username, "command", view.Command, "outcome", view.Outcome,
		"from", asTime(view.From), "to", asTime(view.To), "limit", pageSize, "after", query.Get("after")))
	status, problem, err := wrongFilter(err)
	if err != nil {
		return err
	}
	view.Problem, view.Next = problem, p.nextPage(r, found.Next)
	view.Commands = append(view.Commands, "login", "logout")
	for _, cmd := range p.Commands.All() {
		view.Commands = append(view.Commands, cmd.Name)
	}
	user := sluice.UserFrom(r.Context())
	for _, entry := range found.Items {
		view.Items = append(view.Items, p.auditItem(user, entry))
	}
	return p.render(w, r, status, "audit", "Audit log", &view)
}

// places are where the pages are of what commands are about. They need the
// permission to run the command beside them.
var places = map[string]struct{ path, get string }{
	"webhook": {"/webhooks/", "webhook.get"}, "pipeline": {"/pipelines/", "pipeline.get"}, "secret": {"/secrets/", "secret.get"},
	"trace": {"/calls/", "trace.get"}, "event": {"/calls/", "trace.get"}, "deadletter": {"/calls/", "trace.get"}, "quarantine": {"/calls/", "trace.get"},
	"iam.user": {"/users/", "iam.user.get"}, "iam.password": {"/users/", "iam.user.get"}, "iam.role": {"/roles/", "iam.role.get"}, "iam.client": {"/clients/", "iam.client.get"},
}

var tokenEnd = regexp.MustCompile(`^[0-9a-f]{6}$`)

// auditItem finds the page of what an entry is about. What was deleted has none,
// nor have several things.
func (p *Portal) auditItem(user sluice.User, entry sluice.AuditEntry) auditItem {
	item := auditItem{AuditEntry: entry, Rest: entry.Target}
	room, verb := "", ""
	if dot := strings.LastIndexByte(entry.Command, '.'); dot > 0 {
		room, verb = entry.Command[:dot], entry.Command[dot+1:]
	}
	name, rest, _ := strings.Cut(entry.Target, " ")
	at, known := places[room]
	switch {
	case !known || name == "" || strings.ContainsAny(name, ",()") || !p.may(user, at.get):
	case verb == "delete" || entry.Outcome != sluice.AuditAllowed && verb == "put": // it need not be there
	case at.path == "/calls/" && !strings.Contains(name, ":"): // it is not about one call
	case room == "webhook" && tokenEnd.MatchString(name): // the end of a token, by which none is found
	default:
		item.Link, item.About, item.Rest = at.path+url.PathEscape(name), name, rest
	}
	return item
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
