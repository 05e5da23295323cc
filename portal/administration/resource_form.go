package administration

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

// A resourceForm is the page where people create or edit a thing.
type resourceForm struct {
	page.Form

	*resource

	Name     string            // "" for a new one
	Thing    any               // as its command shows it; nil for a new one, and after a mistake
	Own      bool              // users look at themselves
	InWords  string            // what a role allows
	Allows   []command.Command // the commands that a role allows
	Output   string            // the new secret, which is shown once
	Warnings []string
}

// resourceNew shows the form of a new thing, which may begin as a copy of another.
func resourceNew(v *page.Visit, res *resource) error {
	var entered url.Values
	if like := v.Query("like"); like != "" {
		thing, err := v.Run(res.Get, res.Key, like)
		v.Fail(err)
		entered = v.Stored(thing)
		entered.Del(res.Key)
	}
	return resourceForm{resource: res}.show(v, "New "+res.One(), entered, nil)
}

func resourcePage(v *page.Visit, res *resource) error {
	return resourceForm{resource: res, Name: v.Named("item")}.showStored(v)
}

// showStored shows a thing as it is stored.
func (f resourceForm) showStored(v *page.Visit) (err error) {
	if f.Thing, err = v.Run(f.Get, f.Key, f.Name); err != nil {
		return err
	}
	stored := v.Stored(f.Thing)
	if permissions := stored["permissions"]; len(permissions) > 0 {
		f.InWords, f.Allows = InWords(v, permissions), allowedBy(v, permissions)
	}
	return f.show(v, f.Name, stored, nil)
}

func allowedBy(v *page.Visit, permissions []string) []command.Command {
	holder := sluice.User{Permissions: permissions}
	return slices.DeleteFunc(slices.Clone(v.Commands.All()),
		func(cmd command.Command) bool { return cmd.Endpoint != nil || !cmd.Allows(holder) })
}

// choices are what fields offer to choose from, by their names.
var choices = map[string]func(*page.Visit) []page.Choice{
	"roles": roleChoices, "permissions": permissionChoices,
}

// show shows the form with what was entered, or with what is stored.
func (f resourceForm) show(v *page.Visit, title string, entered url.Values, failure error) error {
	cmd, _ := v.Commands.Find(f.Put)
	f.Form = page.FormOf(cmd, entered, failure)
	f.Drop("renew", "dryRun", "like") // the first has its own button, the others are for programs
	if f.Name == "" {
		f.Fields[0].Focus = failure == nil
	} else {
		f.Drop(f.Key) // it is the heading
	}
	if f.Own = f.Page == "/users" && f.Name == v.User.Name; f.Own {
		f.Drop("password") // changing it needs the current one
	}
	for i := range f.Fields {
		at := &f.Fields[i]
		if offers := choices[at.Name]; offers != nil {
			at.Choose(offers(v), entered[at.Name])
		}
		if offered := f.Words[at.Name].Choices; offered != nil {
			at.Choose(slices.Clone(offered), entered[at.Name])
		}
		f.adapt(at)
	}
	return v.Show("resource_form", title, f)
}

// adapt changes a field of a command's form to suit the resource.
func (f resourceForm) adapt(at *page.Field) {
	said := f.Words[at.Name]
	at.Label, at.Help = cmp.Or(said.Label, at.Label), cmp.Or(said.Help, at.Help)
	switch {
	case at.Name == "permissions": // they are many
		at.Input = "switches"
	case at.Name == "value": // a key has several lines
		at.Input, at.Rows = "secret-area", 4
	case at.Input == "select":
		at.Choices = []page.Choice{{Value: "false", Label: said.Off}, {Value: "true", Label: said.On}}
	case at.Input == "password" && f.Name == "":
		at.Help = page.PasswordRule + " " + said.Help
	case at.Input == "password":
		at.Label, at.Help = "New password", page.PasswordRule+" Left empty, the password stays as it is; a new one "+
			"signs the user out everywhere."
	}
}

func resourcePut(v *page.Visit, res *resource) error {
	cmd, _ := v.Commands.Find(res.Put)
	form, name := v.R.PostForm, v.Named("item")
	if lines := strings.TrimRight(v.Entered("value"), "\n"); form.Has("value") && !strings.Contains(lines, "\n") {
		form.Set("value", lines) // copying often adds a line end
	}
	if name != "" {
		form.Set(res.Key, name)
	}
	err := resourceFree(v, res, name)
	var output any
	if err == nil {
		output, err = v.Run(res.Put, page.ArgsOf(cmd, form))
	}
	if err != nil {
		return v.Correct(err, func(v *page.Visit, mistake error) error {
			return resourceForm{resource: res, Name: name}.show(v, res.Title, form, mistake)
		})
	}
	stored := v.Stored(output)
	view := resourceForm{
		resource: res, Name: form.Get(res.Key), Output: stored.Get("secret"), Warnings: stored["warnings"],
	}
	if view.Output == "" && view.Warnings == nil {
		return v.Redirect(res.Page + "?done=saved")
	}
	return view.showStored(v)
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
	return sluice.Code(res.One()+"-taken").Errorf(
		"There is a %s %s already. Choose another name, or open that one to change it.", res.One(), wanted).
		OfKind(sluice.Conflict).About(res.Key)
}
