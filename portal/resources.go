package portal

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"sluice"
)

// A resource is a sort of thing that people list, create, edit and delete.
type resource struct {
	sluice.Resource

	Title   string
	About   string
	Empty   string // shown if there are none
	Columns []column
	words   map[string]words // of the fields
	choices map[string]func(p *Portal, r *http.Request) ([]choice, error)
	renews  bool                            // its secret can be renewed
	fixed   func(name string) bool          // one can't be changed
	kept    func(thing map[string]any) bool // one can't be deleted
	hit     func(p *Portal, r *http.Request, name string) (*consequence, error)
	forced  bool   // deleting needs force if something uses it
	actor   string // format of its name in the audit log; "" if it does nothing itself
}

// One returns the word for one of them. Pages have a Name of their own.
func (res *resource) One() string { return res.Name }

// A column is a field that the list shows.
type column struct{ Name, Title string }

// words replace the command's description of a field.
type words struct {
	Label, Help string
	Off, On     string // labels of false and true
}

// resources are what administrators manage.
var resources = []*resource{
	{
		Resource: sluice.ResourceNamed("user"), Title: "Users",
		About:   "People who sign in here, over HTTP and on the command line. Their roles say what they may do.",
		Columns: []column{{"roles", "Roles"}, {"disabled", "State"}, {"lastUsed", "Last used"}, {"updated", "Changed"}},
		words: map[string]words{
			"username": {Label: "Username"},
			"password": {Label: "Password", Help: passwordRule + " Without a password the user can’t sign in."},
			"roles":    {Label: "Roles", Help: "The user may do whatever one of the chosen roles allows."},
			"disabled": {"State", "A disabled user can’t sign in, and tokens are refused, until an administrator enables the user again.", "active", "disabled"},
		},
		choices: map[string]func(*Portal, *http.Request) ([]choice, error){"roles": roleChoices},
		fixed:   func(name string) bool { return name == sluice.AnonymousName },
		hit:     pipelinesOf, actor: "%s",
	}, {
		Resource: sluice.ResourceNamed("role"), Title: "Roles",
		About:   "Named sets of permissions, for users and clients. A change counts at once.",
		Columns: []column{{"permissions", "Allows"}, {"scope", "Of"}, {"builtIn", "Origin"}},
		words: map[string]words{
			"role":        {Label: "Name"},
			"permissions": {Label: "Permissions", Help: "What the role allows, by area."},
			"scope":       {Label: "Scope", Help: "What it allows this for: first groups of names, such as partner for webhook.partner.… and the pipelines and secrets partner.…. Left empty, for everything."},
		},
		choices: map[string]func(*Portal, *http.Request) ([]choice, error){"permissions": permissionChoices},
		fixed:   func(name string) bool { return name == sluice.AdminName },
		kept:    func(role map[string]any) bool { return role["builtIn"] == "unchanged" },
		hit:     holdersOf,
	}, {
		Resource: sluice.ResourceNamed("client"), Title: "Clients",
		About:   "Programs that get tokens by OAuth 2.0, for themselves or for people who let them in.",
		Empty:   "A client lets a program call the API without a person’s password.",
		Columns: []column{{"roles", "Roles"}, {"grants", "Grants"}, {"lastUsed", "Last used"}, {"updated", "Changed"}},
		words: map[string]words{
			"clientId":     {Label: "Client id"},
			"roles":        {Label: "Roles", Help: "What the program may do when it acts for itself. For a person it may do what the person may."},
			"grants":       {Label: "Grants", Help: "How the program may get tokens. With none chosen, a new program gets client_credentials, a public one authorization_code and refresh_token."},
			"redirectUris": {Label: "Redirect URIs", Help: "Where browsers may return to with a code: https, or http on 127.0.0.1, [::1] or localhost, at any port."},
			"public":       {"Where the program runs", "On people’s machines and in their browsers no secret is safe, so a program there has none.", "on a server, with a secret", "with people, without a secret"},
		},
		choices: map[string]func(*Portal, *http.Request) ([]choice, error){"roles": roleChoices, "grants": grantChoices},
		renews:  true, actor: "client:%s",
	}, {
		Resource: sluice.ResourceNamed("secret"), Title: "Secrets",
		About: "Values that pipelines and webhooks use, such as passwords of other systems. Values are stored encrypted and never shown again.",
		Empty: "Store a password or an API key here, and pipelines use it without anyone reading it.",
		hit:   usersOf, forced: true,
		Columns: []column{{"lastUsed", "Last used"}, {"updated", "Changed"}},
		words: map[string]words{
			"name":  {Label: "Name"},
			"value": {Label: "Value", Help: "Up to 64 KiB of text, also of several lines, such as a key. The value is stored encrypted and never shown again."},
		},
	},
}

// of makes an endpoint of a function about a resource.
func (p *Portal) of(res *resource, serve func(http.ResponseWriter, *http.Request, *resource) error) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error { return serve(w, r, res) }
}

func roleChoices(p *Portal, r *http.Request) ([]choice, error) {
	roles, _, err := read[[]sluice.Role](p, r, "iam.role.get", nil)
	choices := make([]choice, len(roles))
	for i, role := range roles {
		choices[i] = choice{Value: role.Name, Label: role.Name, Help: p.inWords(role.Permissions)}
	}
	return choices, err
}

func grantChoices(*Portal, *http.Request) ([]choice, error) {
	return []choice{
		{Value: "client_credentials", Label: "client_credentials", Help: "For itself, with its secret."},
		{Value: "authorization_code", Label: "authorization_code", Help: "For people who allow it in their browser."},
		{Value: "password", Label: "password", Help: "For people who give it their password."},
		{Value: "refresh_token", Label: "refresh_token", Help: "Stays logged in for people, without asking again."},
	}, nil
}

type resourceList struct {
	*resource

	Items  []resourceItem
	Search string
	Next   string
	MayPut bool
}

// A resourceItem is a row of the list.
type resourceItem struct {
	Name  string
	Cells []resourceCell
}

func (p *Portal) resourceList(w http.ResponseWriter, r *http.Request, res *resource) error {
	query := r.URL.Query()
	things, next, err := read[[]map[string]any](p, r, res.Get, args("search", query.Get("search"), "after", query.Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	view := resourceList{
		resource: res, Search: query.Get("search"), Next: p.nextPage(r, next), MayPut: p.allows(r, res.Put),
	}
	for _, thing := range things {
		item := resourceItem{Name: text(thing[res.Key])}
		for _, c := range res.Columns {
			item.Cells = append(item.Cells, p.cell(c, thing))
		}
		view.Items = append(view.Items, item)
	}
	return p.render(w, r, http.StatusOK, "resource_list", res.Title, view)
}

// cell returns a field of a thing as people read it.
func (p *Portal) cell(c column, thing map[string]any) resourceCell {
	shown := resourceCell{Title: c.Title}
	switch value := thing[c.Name]; c.Name {
	case "disabled":
		shown.Bad, shown.Class = value == true, "state"
		shown.Text = map[bool]string{true: "disabled", false: "active"}[shown.Bad]
	case "permissions":
		shown.Class = "break"
		shown.Text = p.inWords(strs(value))
	case "builtIn":
		shown.Text = map[string]string{"unchanged": "built in", "changed": "built in, changed", "": "your own"}[text(value)]
	case "created", "updated", "lastUsed":
		at, err := time.Parse(time.RFC3339, text(value))
		switch {
		case err == nil:
			shown.Time = at
		case thing["updated"] == nil: // built in, so never stored
			shown.Text = "–"
		default:
			shown.Text = "never"
		}
	case "scope":
		shown.Class = "break"
		shown.Text = cmp.Or(strings.Join(strs(value), ", "), "everything")
	default:
		shown.Class = "break"
		shown.Text = cmp.Or(strings.Join(strs(value), ", "), "none")
	}
	return shown
}
