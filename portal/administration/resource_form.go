package administration

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/problem"
)

// A resourceForm is the page where people create or edit a thing.
type resourceForm struct {
	page.Form

	*resource

	Name      string // "" for a new one
	Fixed     bool   // it can't be changed
	MayPut    bool
	MayDelete bool
	MayRenew  bool
	Own       bool // users look at themselves
	Facts     []page.Cell
	Deeds     string        // path of the audit log about what it did
	InWords   string        // what a role allows
	Allows    []commandLine // the commands that a role allows
	Output    string        // the new secret, which is shown once
	Warnings  []string
}

func resourceNew(v *page.Visit, res *resource) error {
	view, err := resourceFormOf(v, res, "", url.Values{}, nil)
	if err != nil {
		return err
	}
	return v.Show("resource_form", "New "+res.One(), view)
}

func resourcePage(v *page.Visit, res *resource) error {
	view, err := resourceStored(v, res, v.Named("item"))
	if err != nil {
		return err
	}
	return v.Show("resource_form", view.Name, view)
}

func resourceStored(v *page.Visit, res *resource, name string) (resourceForm, error) {
	thing, _, err := page.Read[map[string]any](v, res.Get, res.Key, name)
	if err != nil {
		return resourceForm{}, err
	}
	entered := url.Values{}
	for field, value := range thing {
		if items, ok := value.([]any); ok {
			entered[field] = texts(items)
		} else {
			entered.Set(field, fmt.Sprint(value))
		}
	}
	view, err := resourceFormOf(v, res, name, entered, nil)
	if err != nil {
		return view, err
	}
	if permissions := entered["permissions"]; permissions != nil {
		view.InWords, view.Allows = InWords(v, permissions), allowedBy(v, permissions)
	}
	for _, c := range []column{
		{"builtIn", "Origin"}, {"lastUsed", "Last used"}, {"updated", "Changed"}, {"created", "Created"},
	} {
		inList := slices.ContainsFunc(res.Columns, func(listed column) bool { return listed.Name == c.Name })
		if inList || thing[c.Name] != nil {
			view.Facts = append(view.Facts, cellOf(v, c, thing))
		}
	}
	if res.actor != "" && v.May("audit.get") {
		view.Deeds = "/audit?" + url.Values{"username": {fmt.Sprintf(res.actor, name)}}.Encode()
	}
	view.MayRenew = view.MayPut && res.renews && thing["public"] != true
	view.MayDelete = view.MayDelete && (res.kept == nil || !res.kept(thing))
	return view, nil
}

func allowedBy(v *page.Visit, permissions []string) (lines []commandLine) {
	holder := sluice.User{Permissions: permissions}
	for _, cmd := range v.Commands.All() {
		if cmd.Endpoint == nil && cmd.Allows(holder) {
			lines = append(lines, commandLine{cmd.Name, page.Typographic(cmd.Summary), true})
		}
	}
	return lines
}

func resourceFormOf(
	v *page.Visit, res *resource, name string, entered url.Values, failure error,
) (resourceForm, error) {
	cmd, _ := v.Commands.Find(res.Put)
	user := v.User
	view := resourceForm{
		resource: res, Form: page.FormOf(cmd, entered, failure), Name: name,
		Fixed:  name != "" && res.fixed != nil && res.fixed(name),
		MayPut: v.May(res.Put), MayDelete: v.May(res.Remove),
	}
	view.Drop("renew", "dryRun", "like") // the first has its own button, the others are for programs
	if name == "" {
		view.Fields[0].Focus = failure == nil
	} else {
		view.Drop(res.Key) // it is the heading
	}
	if view.Own = res.Page == "/users" && name == user.Name; view.Own {
		view.Drop("password") // changing it needs the current one
	}
	for field, choices := range res.choices {
		offered, err := choices(v)
		if err != nil {
			return view, err
		}
		view.Choose(field, offered, entered[field])
	}
	for i := range view.Fields {
		res.adapt(&view.Fields[i], name == "")
	}
	return view, nil
}

// adapt changes a field of a command's form to suit the resource.
func (res *resource) adapt(f *page.Field, isNew bool) {
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
		f.Choices = []page.Choice{{Value: "false", Label: said.Off}, {Value: "true", Label: said.On}}
	case f.Input == "password" && !isNew:
		f.Label, f.Help = "New password", page.PasswordRule+" Left empty, the password stays as it is; a new one "+
			"signs the user out everywhere."
	}
}

func resourcePut(v *page.Visit, res *resource) error {
	cmd, _ := v.Commands.Find(res.Put)
	name := v.Named("item")
	if lines := strings.TrimRight(v.Entered("value"), "\n"); !strings.Contains(lines, "\n") &&
		v.R.PostForm.Has("value") {
		v.R.PostForm.Set("value", lines) // copying often adds a line end
	}
	if name != "" {
		v.R.PostForm.Set(res.Key, name)
	}
	err := resourceFree(v, res, name)
	var output json.RawMessage
	if err == nil {
		output, _, err = v.Document(res.Put, page.ArgsOf(cmd, v.R.PostForm))
	}
	if err != nil {
		if !page.IsMistake(err) {
			return err
		}
		view, failed := resourceFormOf(v, res, name, v.R.PostForm, err)
		if failed != nil {
			return failed
		}
		view.MayDelete = false // the error comes first
		return v.ShowAs(problem.Status(err), "resource_form", res.Title, view)
	}
	var stored struct {
		Secret   string   `json:"secret"`
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(output, &stored); err != nil {
		return err
	}
	if stored.Secret == "" && stored.Warnings == nil {
		return v.Redirect(res.Page + "?done=saved")
	}
	view, err := resourceStored(v, res, v.R.PostForm.Get(res.Key))
	if err != nil {
		return err
	}
	view.Output, view.Warnings = stored.Secret, stored.Warnings
	return v.Show("resource_form", view.Name, view)
}

// resourceFree rejects a new thing with the name of an existing one, which the command
// would change.
func resourceFree(v *page.Visit, res *resource, name string) error {
	wanted := v.R.PostForm.Get(res.Key)
	if name != "" || wanted == "" || !v.May(res.Get) {
		return nil
	}
	if _, err := v.Run(res.Get, res.Key, wanted); err != nil {
		return page.Ignoring(err, sluice.NotFound, sluice.Invalid) // the command says what is wrong with the name
	}
	return sluice.Errorf(sluice.Code{Word: res.One() + "-taken", Kind: sluice.Conflict},
		"There is a %s %s already. Choose another name, or open that one to change it.", res.One(), wanted).
		About(res.Key)
}
