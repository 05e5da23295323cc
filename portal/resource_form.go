package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

// A resourceForm is the page where people create or edit a thing.
type resourceForm struct {
	form

	*resource

	Name      string // "" for a new one
	Fixed     bool   // it can't be changed
	MayPut    bool
	MayDelete bool
	MayRenew  bool
	Own       bool // users look at themselves
	Facts     []resourceCell
	Deeds     string        // path of the audit log about what it did
	InWords   string        // what a role allows
	Allows    []commandLine // the commands that a role allows
	Output    string        // the new secret, which is shown once
	Warnings  []string
}

func (p *Portal) resourceNew(w http.ResponseWriter, r *http.Request, res *resource) error {
	view, err := p.resourceForm(r, res, "", url.Values{}, nil)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "resource_form", "New "+res.One(), view)
}

func (p *Portal) resourcePage(w http.ResponseWriter, r *http.Request, res *resource) error {
	view, err := p.resourceStored(r, res, r.PathValue("item"))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "resource_form", view.Name, view)
}

func (p *Portal) resourceStored(r *http.Request, res *resource, name string) (resourceForm, error) {
	thing, _, err := read[map[string]any](p, r, res.Get, args(res.Key, name))
	if err != nil {
		return resourceForm{}, err
	}
	entered := url.Values{}
	for field, value := range thing {
		if items, ok := value.([]any); ok {
			entered[field] = strs(items)
		} else {
			entered.Set(field, fmt.Sprint(value))
		}
	}
	view, err := p.resourceForm(r, res, name, entered, nil)
	if err != nil {
		return view, err
	}
	if permissions := entered["permissions"]; permissions != nil {
		view.InWords, view.Allows = p.inWords(permissions), p.allowedBy(permissions)
	}
	for _, c := range []column{{"builtIn", "Origin"}, {"lastUsed", "Last used"}, {"updated", "Changed"}, {"created", "Created"}} {
		inList := slices.ContainsFunc(res.Columns, func(listed column) bool { return listed.Name == c.Name })
		if inList || thing[c.Name] != nil {
			view.Facts = append(view.Facts, p.cell(c, thing))
		}
	}
	if res.actor != "" && p.allows(r, "audit.get") {
		view.Deeds = "/audit?" + url.Values{"username": {fmt.Sprintf(res.actor, name)}}.Encode()
	}
	view.MayRenew = view.MayPut && res.renews && thing["public"] != true
	view.MayDelete = view.MayDelete && (res.kept == nil || !res.kept(thing))
	return view, nil
}

func (p *Portal) allowedBy(permissions []string) (lines []commandLine) {
	holder := sluice.User{Permissions: permissions}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint == nil && cmd.Allows(holder) {
			lines = append(lines, commandLine{cmd.Name, typographic(cmd.Summary), true})
		}
	}
	return lines
}

func (p *Portal) resourceForm(r *http.Request, res *resource, name string, entered url.Values, failure error) (resourceForm, error) {
	cmd, _ := p.Commands.Find(res.Put)
	user := sluice.UserFrom(r.Context())
	view := resourceForm{
		resource: res, form: formOf(cmd, entered, failure), Name: name,
		Fixed:  name != "" && res.fixed != nil && res.fixed(name),
		MayPut: p.may(user, res.Put), MayDelete: p.may(user, res.Remove),
	}
	view.drop("renew", "dryRun", "like") // the first has its own button, the others are for programs
	if name == "" {
		view.Fields[0].Focus = failure == nil
	} else {
		view.drop(res.Key) // it is the heading
	}
	if view.Own = res.Page == "/users" && name == user.Name; view.Own {
		view.drop("password") // changing it needs the current one
	}
	for field, choices := range res.choices {
		offered, err := choices(p, r)
		if err != nil {
			return view, err
		}
		view.choose(field, offered, entered[field])
	}
	for i := range view.Fields {
		res.adapt(&view.Fields[i], name == "")
	}
	return view, nil
}

// adapt changes a field of a command's form to suit the resource.
func (res *resource) adapt(f *field, isNew bool) {
	said := res.words[f.Name]
	if said.Label != "" {
		f.Label = said.Label
	}
	if said.Help != "" {
		f.Help = said.Help
	}
	switch {
	case f.Name == "permissions": // they are many
		f.Input = "switches"
	case f.Name == "value": // a key has several lines
		f.Input, f.Rows = "secret-area", 4
	case f.Input == "select":
		f.Choices = []choice{{Value: "false", Label: said.Off}, {Value: "true", Label: said.On}}
	case f.Input == "password" && !isNew:
		f.Label, f.Help = "New password", passwordRule+" Left empty, the password stays as it is; a new one signs the user out everywhere."
	}
}

func (p *Portal) resourcePut(w http.ResponseWriter, r *http.Request, res *resource) error {
	cmd, _ := p.Commands.Find(res.Put)
	name := r.PathValue("item")
	if lines := strings.TrimRight(formText(r, "value"), "\n"); !strings.Contains(lines, "\n") && r.PostForm.Has("value") {
		r.PostForm.Set("value", lines) // copying often adds a line end
	}
	if name != "" {
		r.PostForm.Set(res.Key, name)
	}
	err := p.resourceFree(r, res, name)
	var output json.RawMessage
	if err == nil {
		output, _, err = p.document(r, res.Put, argsOf(cmd, r.PostForm))
	}
	if err != nil {
		if !isMistake(err) {
			return err
		}
		view, failed := p.resourceForm(r, res, name, r.PostForm, err)
		if failed != nil {
			return failed
		}
		view.MayDelete = false // the error comes first
		return p.render(w, r, problem.Status(err), "resource_form", res.Title, view)
	}
	var stored struct {
		Secret   string   `json:"secret"`
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(output, &stored); err != nil {
		return err
	}
	if stored.Secret == "" && stored.Warnings == nil {
		return p.redirect(w, r, res.Page+"?done=saved")
	}
	view, err := p.resourceStored(r, res, r.PostForm.Get(res.Key))
	if err != nil {
		return err
	}
	view.Output, view.Warnings = stored.Secret, stored.Warnings
	return p.render(w, r, http.StatusOK, "resource_form", view.Name, view)
}

// resourceFree rejects a new thing with the name of an existing one, which the command
// would change.
func (p *Portal) resourceFree(r *http.Request, res *resource, name string) error {
	wanted := r.PostForm.Get(res.Key)
	if name != "" || wanted == "" || !p.allows(r, res.Get) {
		return nil
	}
	if _, err := p.run(r, res.Get, args(res.Key, wanted)); err != nil {
		return ignoring(err, sluice.NotFound, sluice.Invalid) // the command says what is wrong with the name
	}
	return sluice.Errorf(sluice.Code{Word: res.One() + "-taken", Kind: sluice.Conflict}, "There is a %s %s already. Choose another name, or open that one to change it.", res.One(), wanted).About(res.Key)
}

func (p *Portal) resourceConfirm(w http.ResponseWriter, r *http.Request, res *resource) error {
	name := r.PathValue("item")
	thing, _, err := read[map[string]any](p, r, res.Get, args(res.Key, name))
	if err != nil {
		return err
	}
	path := res.Page + "/" + url.PathEscape(name)
	asked := confirmation{Name: name, What: res.One(), Effect: typographic(res.Effect), Action: path + "/delete", Back: path}
	for _, c := range res.Columns {
		if c.Name == "lastUsed" {
			used := p.cell(c, thing)
			asked.Used = &used
		}
	}
	if res.hit != nil {
		if asked.Hit, err = res.hit(p, r, name); err != nil {
			return err
		}
	}
	if thing["disabled"] == false && p.allows(r, res.Put) {
		asked.Instead = &instead{"Disable the " + res.One() + " instead", "A disabled " + res.One() + " can’t sign in until someone enables the " + res.One() + " again; nothing else is lost.", path, "disabled", "true"}
	}
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+name, asked)
}

func (p *Portal) resourceDelete(w http.ResponseWriter, r *http.Request, res *resource) error {
	given := args(res.Key, r.PathValue("item"))
	if res.forced {
		given = append(given, args("force", "true")...) // the confirmation has named what uses it
	}
	return p.runThen(w, r, res.Page+"?done=deleted", res.Remove, given)
}

// A consequence is what else a deletion affects.
type consequence struct {
	Words string
	Links []link
	More  int // how many are not listed
}

// maxHit bounds the links of a consequence.
const maxHit = 20

func consequenceOf(words string, links []link) *consequence {
	if len(links) == 0 {
		return nil
	}
	shown := links[:min(len(links), maxHit)]
	return &consequence{words, shown, len(links) - len(shown)}
}

// pipelinesOf returns the pipelines that a user owns.
func pipelinesOf(p *Portal, r *http.Request, username string) (*consequence, error) {
	all, err := askIfAllowed[command.Page[sluice.PipelineView]](p, r, "pipeline.get", nil)
	var links []link
	for _, one := range all.Items {
		if one.Owner == username && !one.Folder {
			links = append(links, link{Name: one.Name, Path: "/pipelines/" + url.PathEscape(one.Name)})
		}
	}
	return consequenceOf("These pipelines run with this user’s permissions: they can’t switch users or use secrets any more until someone else saves them.", links), err
}

// holdersOf returns the users and clients that have a role.
func holdersOf(p *Portal, r *http.Request, role string) (*consequence, error) {
	var links []link
	for _, holders := range []struct{ get, key, path string }{{"iam.user.get", "username", "/users/"}, {"iam.client.get", "clientId", "/clients/"}} {
		if p.Provider != nil || !p.allows(r, holders.get) {
			continue
		}
		things, _, err := read[[]map[string]any](p, r, holders.get, nil)
		if err != nil {
			return nil, err
		}
		for _, thing := range things {
			if name := text(thing[holders.key]); slices.Contains(strs(thing["roles"]), role) {
				links = append(links, link{Name: name, Path: holders.path + url.PathEscape(name)})
			}
		}
	}
	return consequenceOf("These users and clients have the role:", links), nil
}

// usersOf returns the webhooks and pipelines that use a secret.
func usersOf(p *Portal, r *http.Request, secret string) (*consequence, error) {
	shown, _, err := read[struct {
		UsedBy struct{ Webhooks, Pipelines []string }
	}](p, r, "secret.get", args("name", secret))
	links := make([]link, 0, len(shown.UsedBy.Webhooks)+len(shown.UsedBy.Pipelines))
	for _, key := range shown.UsedBy.Webhooks {
		links = append(links, link{Name: key, Path: "/webhooks/" + url.PathEscape(key)})
	}
	for _, name := range shown.UsedBy.Pipelines {
		links = append(links, link{Name: name, Path: "/pipelines/" + url.PathEscape(name)})
	}
	return consequenceOf("These webhooks and pipelines use the secret, and fail if they have no other:", links), err
}

// An instead is an alternative to deleting something.
type instead struct {
	Label       string
	About       string
	Action      string // path
	Name, Value string // of the form
}

// A resourceCell is a time, or a text if the time is zero.
type resourceCell struct {
	Title, Text string
	Time        time.Time
	Bad         bool   // the text needs attention
	Class       string // in a list
}
