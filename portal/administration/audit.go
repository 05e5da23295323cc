package administration

import (
	"net/url"
	"regexp"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// An auditView is a page of the audit log.
type auditView struct {
	Items   []auditItem
	Next    string
	Problem string
}

// An auditItem is an entry with a link to what it is about.
type auditItem struct {
	sluice.AuditEntry

	Link, About string // path and name of the thing, if it has a page
	Rest        string // the rest of the target
}

func auditPage(v *page.Visit) error {
	found, err := page.Try[sluice.List[sluice.AuditEntry]](v, "audit.get", v.Asked("username", "command", "outcome"),
		"from", page.AsTime(v.Query("from")), "to", page.AsTime(v.Query("to")))
	view := auditView{Next: v.Next(found.Next), Problem: v.WrongFilter(err)}
	for _, entry := range found.Items {
		view.Items = append(view.Items, auditItemOf(v, entry))
	}
	return v.Show("audit", "Audit log", &view)
}

// subjectOf returns the path of the pages about what the commands of a group change, and the permission to see them.
func subjectOf(group string) (path, get string) {
	switch group {
	case "trace", "event", "deadletter", "quarantine":
		return "/calls/", "trace.get"
	case "iam.password":
		group = "iam.user"
	}
	of := sluice.ResourceOf(group)
	return of.Page + "/", of.Get
}

var tokenEnd = regexp.MustCompile(`^[0-9a-f]{6}$`)

// auditItemOf finds the page about an entry's target. Deleted things have none, nor have
// several at once.
func auditItemOf(v *page.Visit, entry sluice.AuditEntry) auditItem {
	item := auditItem{AuditEntry: entry, Rest: entry.Target}
	group, verb := "", ""
	if dot := strings.LastIndexByte(entry.Command, '.'); dot > 0 {
		group, verb = entry.Command[:dot], entry.Command[dot+1:]
	}
	name, rest, _ := strings.Cut(entry.Target, " ")
	path, get := subjectOf(group)
	switch {
	case get == "" || name == "" || strings.ContainsAny(name, ",()") || !v.May(get):
	case verb == "delete" || entry.Outcome != sluice.AuditAllowed && verb == "put": // it may not exist
	case path == "/calls/" && !strings.Contains(name, ":"): // not about one call
	case group == "webhook" && tokenEnd.MatchString(name): // the end of a token finds no webhook
	default:
		item.Link, item.About, item.Rest = path+url.PathEscape(name), name, rest
	}
	return item
}
