package portal

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sluice"
	"sluice/wording"
)

type quarantineListView struct {
	EventKey, Code string
	Groups         []quarantineGroup
	Items          []quarantined
	Next           string
}

// A quarantineGroup is the calls of a webhook that were rejected with one code.
type quarantineGroup struct {
	EventKey, Code string
	Count          int
	First          time.Time // of the oldest call
	Latest         quarantined
}

// Several reports whether there are several groups.
func (v quarantineListView) Several() bool { return len(v.Groups) > 1 }

func (p *Portal) quarantineList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := quarantineListView{EventKey: query.Get("eventKey"), Code: query.Get("code")}
	found, err := p.rejectedCalls(r, args("eventKey", view.EventKey, "code", view.Code, "limit", pageSize, "after", query.Get("after")))
	if err != nil {
		return err
	}
	view.Next = p.nextPage(r, found.Next)
	for _, item := range found.Items {
		view.Items = append(view.Items, quarantined{item})
	}
	const counted = "1000"
	all, err := p.rejectedCalls(r, args("eventKey", view.EventKey, "code", view.Code, "limit", counted))
	if err != nil {
		return err
	}
	view.Groups = groupsOf(all.Items)
	return p.render(w, r, http.StatusOK, "quarantine", "Quarantine", view)
}

// groupsOf groups calls by webhook and code, the largest group first.
func groupsOf(items []sluice.QuarantineView) (groups []quarantineGroup) {
	for _, item := range items {
		i := slices.IndexFunc(groups, func(g quarantineGroup) bool { return g.EventKey == item.EventKey && g.Code == item.Code })
		if i < 0 {
			i = len(groups)
			groups = append(groups, quarantineGroup{EventKey: item.EventKey, Code: item.Code, Latest: quarantined{item}}) // they come newest first
		}
		groups[i].Count++
		groups[i].First = item.Time
	}
	slices.SortStableFunc(groups, func(a, b quarantineGroup) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

func (p *Portal) quarantinePage(w http.ResponseWriter, r *http.Request) error {
	item, err := p.kept(r, r.PathValue("id"))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "quarantined", "Rejected call "+item.ID, item)
}

// quarantineSelected admits or deletes the selected calls.
func (p *Portal) quarantineSelected(w http.ResponseWriter, r *http.Request) error {
	ids, err := selected(r, "id")
	if err != nil {
		return err
	}
	return p.quarantineBulk(w, r, &bulk{field: "id", names: ids}, confirmation{
		Name: plural(len(ids), "rejected call", "rejected calls"), Several: len(ids) != 1, Action: "/quarantine/selected", Field: "id", Values: ids,
	})
}

// quarantineGroup admits or deletes all calls of a group.
func (p *Portal) quarantineGroup(w http.ResponseWriter, r *http.Request) error {
	key, code, one := r.PostForm.Get("eventKey"), r.PostForm.Get("code"), r.PostForm.Get("count") == "1"
	return p.quarantineBulk(w, r, &bulk{args: args("eventKey", key, "code", code)}, confirmation{
		Name: "all of " + key + " with the code " + code, Several: !one, Action: "/quarantine/group", Field: "eventKey", Values: []string{key}, Code: code,
	})
}

// quarantineBulk admits calls, or deletes them after a confirmation.
func (p *Portal) quarantineBulk(w http.ResponseWriter, r *http.Request, b *bulk, about confirmation) error {
	b.Verb, b.What, b.List, b.Back, b.command = "admitted", [2]string{"call", "calls"}, "Quarantine", "/quarantine", "quarantine.admit"
	switch r.PostForm.Get("do") {
	case "delete":
		b.Verb, b.command = "deleted", "quarantine.delete"
		about.What, about.Back, about.Effect = "rejected call", "/quarantine", "It can’t be undone: what was sent can’t be looked at or admitted any more."
		return p.deleteSelected(w, r, about, b)
	case "force":
		b.args = append(b.args, argument("force", true))
	}
	return p.bulk(w, r, b)
}

// ShownHeaders returns the headers, sorted by name.
func (q quarantined) ShownHeaders() []sluice.Header { return shownHeaders(q.Headers) }

// Text returns the body, formatted.
func (q quarantined) Text() string {
	if q.BodyEncoding == sluice.EncodingBase64 {
		return wording.Bytes(q.Size) + " that are no text"
	}
	return pretty(q.Body)
}

// Findings returns why it was rejected: the failed checks of the schema, or the
// diagnosis.
func (q quarantined) Findings() []string {
	failed, _ := q.Errors.([]any)
	if len(failed) == 0 || len(q.Diagnosis) >= len(failed) {
		return q.Diagnosis
	}
	var findings []string
	for _, one := range failed {
		if check, ok := one.(map[string]any); ok {
			findings = append(findings, fmt.Sprintf("At %s: %s", cmp.Or(fmt.Sprint(check["pointer"]), "its top"), check["message"]))
		}
	}
	return findings
}

// adviceFor says what to do about a rejected call, by its code.
var adviceFor = map[string]string{
	sluice.CodeSignatureMissing.Word: "Let the sender sign its calls, or let the webhook take unsigned ones; then check again.",
	sluice.CodeSignatureInvalid.Word: "If the sender made the call, enter the secret that it signs with in the webhook; then check again. Otherwise the call is forged: delete it.",
	sluice.CodeSignatureExpired.Word: "The clocks differ, or the call was on its way for long. Admit it without checking if you know the sender.",
	sluice.CodePayloadInvalid.Word:   "If the payload is as it should be, change the schema of the webhook; then check again.",
	sluice.CodeWebhookDisabled.Word:  "Enable the webhook; then check again.",
	sluice.CodeDuplicateDiffers.Word: "Compare it with the call that came first. Admit it without checking if it is another event.",
}

// Advice says what to do next.
func (q quarantined) Advice() string {
	return cmp.Or(adviceFor[q.Code], "Admit it without checking if it is as it should be.")
}
