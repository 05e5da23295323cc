package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
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
	Facts     []column      // what can't be edited
	Allows    []commandLine // what a role lets users do, in words
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
	entered := url.Values{k.Key: {name}}
	var facts []column
	kept := false
	if !k.secret {
		thing, err := ask[map[string]any](p, r, k.get, args(k.Key, name))
		if err != nil {
			return kindForm{}, err
		}
		for field, value := range thing {
			if items, ok := value.([]any); ok {
				entered[field] = strs(items)
			} else {
				entered.Set(field, fmt.Sprint(value))
			}
		}
		kept = k.kept != nil && k.kept(thing)
		for _, c := range []column{{"builtIn", "Built in"}, {"created", "Created"}, {"updated", "Changed"}, {"lastUsed", "Last used"}} {
			if at := text(thing[c.Name]); at != "" {
				facts = append(facts, column{c.Title, cell(at)})
			}
		}
	}
	view, err := p.kindForm(r, k, name, entered, nil)
	if permissions := entered["permissions"]; permissions != nil {
		view.Allows = p.allowedBy(permissions)
	}
	view.Facts, view.MayDelete = facts, view.MayDelete && !kept
	return view, err
}

// allowedBy returns the commands that permissions allow.
func (p *Portal) allowedBy(permissions []string) (lines []commandLine) {
	holder := sluice.User{Permissions: permissions}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint == nil && cmd.Allows(holder) {
			lines = append(lines, commandLine{cmd.Name, cmd.Summary, true})
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
	if name == "" {
		view.drop(k.without...)
		view.Fields[0].Focus = failure == nil
	} else {
		view.find(k.Key).ReadOnly = true
	}
	for field, choices := range k.choices {
		items, err := choices(p, r)
		if err != nil {
			return view, err
		}
		chosen := entered[field]
		for _, more := range chosen {
			if more != "" && !slices.Contains(items, more) {
				items = append(items, more)
			}
		}
		view.choose(field, items, chosen)
	}
	for i := range view.Fields {
		k.adapt(&view.Fields[i], name == "")
	}
	return view, nil
}

// adapt changes a field of a command's form to suit the kind.
func (k *kind) adapt(f *field, isNew bool) {
	if label := k.labels[f.Name]; label != "" {
		f.Label = label
	}
	switch {
	case f.Name == "permissions": // there are many
		f.Kind, f.Rows = "area", 6
		f.Value = strings.ReplaceAll(f.Value, ", ", ",\n")
	case f.Kind == "select":
		f.Choices = []choice{{"false", "no", f.Value == "false"}, {"true", "yes", f.Value == "true"}}
	case f.Kind == "password" && !isNew && !k.secret:
		f.Help += " Left empty it stays as it is."
	}
}

// kindPut stores what was entered.
func (p *Portal) kindPut(w http.ResponseWriter, r *http.Request, k *kind) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	cmd, _ := p.Commands.Find(k.put)
	given, name := argsOf(cmd, r.PostForm), r.PathValue("item")
	given = slices.DeleteFunc(given, func(arg command.Arg) bool { return name != "" && arg.Name == k.Key })
	if name != "" {
		given = append(given, args(k.Key, name)...)
	}
	output, _, err := p.run(r, k.put, given)
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
	if name == "" {
		name = r.PostForm.Get(k.Key)
	}
	view, err := p.kindStored(r, k, name)
	if err != nil {
		return err
	}
	view.Output, view.Warnings = stored.Secret, stored.Warnings
	return p.render(w, r, http.StatusOK, "kind_form", name, view)
}

func (p *Portal) kindConfirm(w http.ResponseWriter, r *http.Request, k *kind) error {
	name := r.PathValue("item")
	path := k.path + "/" + url.PathEscape(name)
	asked := confirmation{Name: name, What: k.One, Effect: k.Effect, Action: path + "/delete", Back: path}
	if cmd, _ := p.Commands.Find(k.put); cmd.Allows(sluice.UserFrom(r.Context())) && slices.ContainsFunc(cmd.Params, func(param command.Param) bool { return param.Name == "disabled" }) {
		asked.Instead = &instead{"Disable the " + k.One + " instead", "Disabled, the " + k.One + " can’t sign in until you enable it again.", path, "disabled", "true"}
	}
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+name, asked)
}

func (p *Portal) kindDelete(w http.ResponseWriter, r *http.Request, k *kind) error {
	if _, _, err := p.run(r, k.remove, args(k.Key, r.PathValue("item"))); err != nil {
		return err
	}
	p.redirect(w, r, k.path+"?done=deleted")
	return nil
}
