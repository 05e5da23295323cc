package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
)

// A kindForm is the page on which a thing is made or edited.
type kindForm struct {
	form

	*kind

	Path      string
	Name      string // "" for a new one
	Fixed     bool   // it can't be changed
	MayPut    bool
	MayDelete bool
	MayRenew  bool
	Own       bool // it is the user who looks at it
	Facts     []kindCell
	Deeds     string        // where the audit log says what it did
	InWords   string        // what a role lets users do
	Allows    []commandLine // the commands that a role allows
	Output    string        // what has just been stored, where that is shown once
	Warnings  []string
}

func (p *Portal) kindNew(w http.ResponseWriter, r *http.Request, k *kind) error {
	view, err := p.kindForm(r, k, "", url.Values{}, nil)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "kind_form", "New "+k.One, view)
}

func (p *Portal) kindPage(w http.ResponseWriter, r *http.Request, k *kind) error {
	view, err := p.kindStored(r, k, r.PathValue("item"))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "kind_form", view.Name, view)
}

// kindStored returns the form of a thing as it is stored.
func (p *Portal) kindStored(r *http.Request, k *kind, name string) (kindForm, error) {
	thing, err := ask[map[string]any](p, r, k.get, args(k.Key, name))
	if err != nil {
		return kindForm{}, err
	}
	entered := url.Values{}
	for field, value := range thing {
		if items, ok := value.([]any); ok {
			entered[field] = strs(items)
		} else {
			entered.Set(field, fmt.Sprint(value))
		}
	}
	view, err := p.kindForm(r, k, name, entered, nil)
	if err != nil {
		return view, err
	}
	if permissions := entered["permissions"]; permissions != nil {
		view.InWords, view.Allows = p.inWords(permissions), p.allowedBy(permissions)
	}
	for _, c := range []column{{"builtIn", "Origin"}, {"lastUsed", "Last used"}, {"updated", "Changed"}, {"created", "Created"}} {
		inList := slices.ContainsFunc(k.columns, func(listed column) bool { return listed.Name == c.Name })
		if inList || thing[c.Name] != nil {
			view.Facts = append(view.Facts, p.cell(c, thing))
		}
	}
	if k.actor != "" && p.may(sluice.UserFrom(r.Context()), "audit.get") {
		view.Deeds = "/audit?" + url.Values{"username": {fmt.Sprintf(k.actor, name)}}.Encode()
	}
	view.MayRenew = view.MayPut && k.renews && thing["public"] != true
	view.MayDelete = view.MayDelete && (k.kept == nil || !k.kept(thing))
	return view, nil
}

// allowedBy returns the commands that permissions allow.
func (p *Portal) allowedBy(permissions []string) (lines []commandLine) {
	holder := sluice.User{Permissions: permissions}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint == nil && cmd.Allows(holder) {
			lines = append(lines, commandLine{cmd.Name, typographic(cmd.Summary), true})
		}
	}
	return lines
}

func (p *Portal) kindForm(r *http.Request, k *kind, name string, entered url.Values, failure error) (kindForm, error) {
	cmd, _ := p.Commands.Find(k.put)
	user := sluice.UserFrom(r.Context())
	view := kindForm{
		kind: k, form: formOf(cmd, entered, failure), Path: k.path, Name: name,
		Fixed:  name != "" && k.fixed != nil && k.fixed(name),
		MayPut: p.may(user, k.put), MayDelete: p.may(user, k.remove),
	}
	view.drop("renew") // it has a button of its own
	if name == "" {
		view.Fields[0].Focus = failure == nil
	} else {
		view.drop(k.Key) // it is the heading
	}
	if view.Own = k.path == "/users" && name == user.Name; view.Own {
		view.drop("password") // it takes the current one
	}
	for field, choices := range k.choices {
		offered, err := choices(p, r)
		if err != nil {
			return view, err
		}
		view.choose(field, offered, entered[field])
	}
	for i := range view.Fields {
		k.adapt(&view.Fields[i], name == "")
	}
	return view, nil
}

// adapt changes a field of a command's form to suit the kind.
func (k *kind) adapt(f *field, isNew bool) {
	said := k.words[f.Name]
	if said.Label != "" {
		f.Label = said.Label
	}
	if said.Help != "" {
		f.Help = said.Help
	}
	switch {
	case f.Name == "permissions": // there are many
		f.Kind, f.Rows = "area", 6
		f.Value = strings.ReplaceAll(f.Value, ", ", ",\n")
	case f.Name == "value": // a key has several lines
		f.Kind, f.Rows = "secret-area", 4
	case f.Kind == "select":
		f.Choices = []choice{{Value: "false", Label: said.Off}, {Value: "true", Label: said.On}}
	case f.Kind == "password" && !isNew:
		f.Label, f.Help = "New password", "8 characters or more, and none of the common ones. Left empty, the password stays as it is; a new one signs the user out everywhere."
	}
}

// kindPut stores what was entered.
func (p *Portal) kindPut(w http.ResponseWriter, r *http.Request, k *kind) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	cmd, _ := p.Commands.Find(k.put)
	name := r.PathValue("item")
	if lines := strings.TrimRight(formText(r, "value"), "\n"); !strings.Contains(lines, "\n") && r.PostForm.Has("value") {
		r.PostForm.Set("value", lines) // the end of the line came along when it was copied
	}
	if name != "" {
		r.PostForm.Set(k.Key, name)
	}
	err := p.kindFree(r, k, name)
	var output json.RawMessage
	if err == nil {
		output, _, err = p.run(r, k.put, argsOf(cmd, r.PostForm))
	}
	if err != nil {
		if !isMistake(err) {
			return err
		}
		view, failed := p.kindForm(r, k, name, r.PostForm, err)
		if failed != nil {
			return failed
		}
		view.MayDelete = false // the error comes first
		return p.render(w, r, problem.Status(err), "kind_form", k.Title, view)
	}
	var stored struct {
		Secret   string   `json:"secret"`
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(output, &stored); err != nil {
		return err
	}
	if stored.Secret == "" && stored.Warnings == nil {
		p.redirect(w, r, k.path+"?done=saved")
		return nil
	}
	view, err := p.kindStored(r, k, r.PostForm.Get(k.Key))
	if err != nil {
		return err
	}
	view.Output, view.Warnings = stored.Secret, stored.Warnings
	return p.render(w, r, http.StatusOK, "kind_form", view.Name, view)
}

// kindFree refuses a new thing with the name of one that is there: the command
// would change that one.
func (p *Portal) kindFree(r *http.Request, k *kind, name string) error {
	wanted := r.PostForm.Get(k.Key)
	if name != "" || wanted == "" || !p.may(sluice.UserFrom(r.Context()), k.get) {
		return nil
	}
	if _, _, err := p.run(r, k.get, args(k.Key, wanted)); err != nil {
		return ignoring(err, sluice.NotFound, sluice.Invalid) // the command says what is wrong with the name
	}
	return sluice.Errorf(sluice.Code{Word: k.One + "-taken", Kind: sluice.Conflict}, "There is a %s %s already. Choose another name, or open that one to change it.", k.One, wanted).About(k.Key)
}

func (p *Portal) kindConfirm(w http.ResponseWriter, r *http.Request, k *kind) error {
	name := r.PathValue("item")
	thing, err := ask[map[string]any](p, r, k.get, args(k.Key, name))
	if err != nil {
		return err
	}
	path := k.path + "/" + url.PathEscape(name)
	asked := confirmation{Name: name, What: k.One, Effect: k.Effect, Action: path + "/delete", Back: path}
	for _, c := range k.columns {
		if c.Name == "lastUsed" {
			used := p.cell(c, thing)
			asked.Used = &used
		}
	}
	if k.hit != nil {
		if asked.Hit, err = k.hit(p, r, name); err != nil {
			return err
		}
	}
	if cmd, _ := p.Commands.Find(k.put); thing["disabled"] == false && cmd.Allows(sluice.UserFrom(r.Context())) {
		asked.Instead = &instead{"Disable the " + k.One + " instead", "A disabled " + k.One + " can’t sign in until someone enables the " + k.One + " again; nothing else is lost.", path, "disabled", "true"}
	}
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+name, asked)
}

func (p *Portal) kindDelete(w http.ResponseWriter, r *http.Request, k *kind) error {
	given := args(k.Key, r.PathValue("item"))
	if k.forced {
		given = append(given, args("force", "true")...) // the page before has named them
	}
	if _, _, err := p.run(r, k.remove, given); err != nil {
		return err
	}
	p.redirect(w, r, k.path+"?done=deleted")
	return nil
}
