package portal

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sluice"
	"sluice/command"
)

func (p *Portal) routeQuarantine() {
	p.page("GET /quarantine", p.quarantineList)
	p.page("GET /quarantine/{id}", p.quarantinePage)
	p.page("POST /quarantine/selected", p.quarantineSelected)
	p.page("POST /quarantine/group", p.quarantineGroup)
}

// A quarantined call is one as quarantine.get shows it.
type quarantined struct {
	sluice.QuarantinedCall

	Method       string              `json:"method"`
	Query        map[string][]string `json:"query"`
	Headers      map[string]string   `json:"headers"`
	Body         string              `json:"body"`
	BodyEncoding string              `json:"bodyEncoding"`
}

// ShownHeaders returns the headers in order.
func (q quarantined) ShownHeaders() []sluice.Header { return shownHeaders(q.Headers) }

// Text returns the body as people read it.
func (q quarantined) Text() string {
	if q.BodyEncoding == string(sluice.EncodingBase64) {
		return shownBytes(q.Size) + " that are no text"
	}
	return pretty(q.Body)
}

// Findings returns why it was refused: which checks of the webhook's schema failed, or
// what was diagnosed.
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

// Advice returns what to do about it.
func (q quarantined) Advice() string {
	switch q.Code {
	case sluice.CodeSignatureMissing.Word:
		return "Let the sender sign its calls, or let the webhook take unsigned ones; then check again."
	case sluice.CodeSignatureInvalid.Word:
		return "If the sender made the call, enter the secret that it signs with in the webhook; then check again. Otherwise the call is forged: delete it."
	case sluice.CodeSignatureExpired.Word:
		return "The clocks differ, or the call was on its way for long. Admit it without checking if you know the sender."
	case sluice.CodePayloadInvalid.Word:
		return "If the payload is as it should be, change the schema of the webhook; then check again."
	case sluice.CodeWebhookDisabled.Word:
		return "Enable the webhook; then check again."
	case sluice.CodeDuplicateDiffers.Word:
		return "Compare it with the call that came first. Admit it without checking if it is another event."
	}
	return "Admit it without checking if it is as it should be."
}

type quarantinePage struct {
	Items []quarantined `json:"items"`
	Next  string        `json:"next"`
}

type quarantineListView struct {
	EventKey, Code string
	Groups         []quarantineGroup
	Items          []quarantined
	Next           string
}

// A quarantineGroup is the calls of a webhook that were refused for the same
// reason.
type quarantineGroup struct {
	EventKey, Code string
	Count          int
	First          time.Time // when the first of them came
	Latest         quarantined
}

// Several reports whether there are other groups than one.
func (v quarantineListView) Several() bool { return len(v.Groups) > 1 }

func (p *Portal) quarantineList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	view := quarantineListView{EventKey: query.Get("eventKey"), Code: query.Get("code")}
	found, err := p.refusedCalls(r, args("eventKey", view.EventKey, "code", view.Code, "limit", pageSize, "after", query.Get("after")))
	if err != nil {
		return err
	}
	view.Items, view.Next = found.Items, p.nextPage(r, found.Next)
	const counted = "1000"
	all, err := p.refusedCalls(r, args("eventKey", view.EventKey, "code", view.Code, "limit", counted))
	if err != nil {
		return err
	}
	view.Groups = groupsOf(all.Items)
	return p.render(w, r, http.StatusOK, "quarantine", "Quarantine", view)
}

// refusedCalls returns calls without what was sent.
func (p *Portal) refusedCalls(r *http.Request, given command.Args) (quarantinePage, error) {
	return ask[quarantinePage](p, r, "quarantine.get", append(given, argument("brief", true)))
}

// groupsOf puts calls together that were refused for the same reason, the
// largest group first.
func groupsOf(items []quarantined) (groups []quarantineGroup) {
	for _, item := range items {
		i := slices.IndexFunc(groups, func(g quarantineGroup) bool { return g.EventKey == item.EventKey && g.Code == item.Code })
		if i < 0 {
			i = len(groups)
			groups = append(groups, quarantineGroup{EventKey: item.EventKey, Code: item.Code, Latest: item}) // they come newest first
		}
		groups[i].Count++
		groups[i].First = item.Time
	}
	slices.SortStableFunc(groups, func(a, b quarantineGroup) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// kept returns what is kept of a refused call.
func (p *Portal) kept(r *http.Request, id string) (*quarantined, error) {
	found, err := ask[quarantinePage](p, r, "quarantine.get", args("id", id))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, sluice.Errorf(sluice.CodeQuarantineUnknown, "There is no such call in the quarantine: it was admitted or deleted, or is too old.")
	}
	return &found.Items[0], nil
}

func (p *Portal) quarantinePage(w http.ResponseWriter, r *http.Request) error {
	item, err := p.kept(r, r.PathValue("id"))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "quarantined", "Refused call "+item.ID, item)
}

// quarantineSelected lets in or deletes the calls that were ticked.
func (p *Portal) quarantineSelected(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	ids, err := selected(r, "id")
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == "delete" {
		return p.quarantineDelete(w, r, ids)
	}
	return p.admitAll(w, r, ids)
}

// admitAll lets calls in, or some of them and then the page goes on with the rest, so
// that people see how far it is.
func (p *Portal) admitAll(w http.ResponseWriter, r *http.Request, ids []string) error {
	const step = 100
	view := &outcomes{Verb: "admitted", What: [2]string{"call", "calls"}, List: "Quarantine", Back: "/quarantine", Do: r.PostForm.Get("do")}
	view.Done, _ = strconv.Atoi(r.PostForm.Get("done"))
	view.left, _ = strconv.Atoi(r.PostForm.Get("left"))
	now := min(step, len(ids))
	view.Rest = ids[now:]
	for _, id := range ids[:now] {
		given := args("id", id)
		if view.Do == "force" {
			given = append(given, argument("force", true))
		}
		if err := p.admit(r, view, given); err != nil {
			return err
		}
	}
	return p.render(w, r, http.StatusOK, "outcomes", view.Title(), view)
}

// admit lets calls in, and notes what came of it.
func (p *Portal) admit(r *http.Request, view *outcomes, given command.Args) error {
	done, err := ask[struct {
		Items []struct {
			ID      string `json:"id"`
			TraceID string `json:"traceId"`
			Message string `json:"message"`
		} `json:"items"`
	}](p, r, "quarantine.admit", given)
	if err != nil && sluice.AsError(err).Kind == sluice.NotFound {
		return nil // someone else was faster
	}
	if err != nil {
		return err
	}
	for _, item := range done.Items {
		view.add(outcome{Name: item.ID, Link: "/calls/" + url.PathEscape(item.TraceID), Text: item.TraceID, Problem: item.Message})
	}
	return nil
}

// quarantineGroup lets in, or deletes, all calls of a group.
func (p *Portal) quarantineGroup(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	given := args("eventKey", r.PostForm.Get("eventKey"), "code", r.PostForm.Get("code"), "limit", shownNumber(maxSelected))
	found, err := p.refusedCalls(r, given)
	if err != nil {
		return err
	}
	var ids []string
	for _, item := range found.Items {
		ids = append(ids, item.ID)
	}
	if r.PostForm.Get("do") == "delete" {
		return p.quarantineDelete(w, r, ids)
	}
	slices.Reverse(ids) // in the order in which they came
	return p.admitAll(w, r, ids)
}

// quarantineDelete deletes calls once that was confirmed.
func (p *Portal) quarantineDelete(w http.ResponseWriter, r *http.Request, ids []string) error {
	return p.deleteSelected(w, r, "quarantine.delete", confirmation{
		Name: plural(len(ids), "refused call", "refused calls"), What: "refused call", Several: len(ids) != 1, Action: "/quarantine/selected", Back: "/quarantine",
		Effect: "It can’t be undone: what was sent can’t be looked at or admitted any more.", Field: "id", Values: ids,
	})
}
