package administration

import (
	"sluice"
	"sluice/portal/page"
)

// A resource is a sort of thing that people list, create, edit and delete.
type resource struct {
	sluice.Resource

	Title   string
	About   string
	Empty   string // shown if there are none
	Columns []column
	words   map[string]words // of the fields
	choices map[string]func(v *page.Visit) ([]page.Choice, error)
	renews  bool                            // its secret can be renewed
	fixed   func(name string) bool          // one can't be changed
	kept    func(thing map[string]any) bool // one can't be deleted
	hit     func(v *page.Visit, name string) (*page.Consequence, error)
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
			"password": {Label: "Password", Help: page.PasswordRule + " Without a password the user can’t sign in."},
			"roles":    {Label: "Roles", Help: "The user may do whatever one of the chosen roles allows."},
			"disabled": {
				"State", "A disabled user can’t sign in, and tokens are refused, until an administrator enables the " +
					"user again.", "active", "disabled",
			},
		},
		choices: map[string]func(*page.Visit) ([]page.Choice, error){"roles": roleChoices},
		fixed:   func(name string) bool { return name == sluice.AnonymousName },
		hit:     pipelinesOf, actor: "%s",
	}, {
		Resource: sluice.ResourceNamed("role"), Title: "Roles",
		About:   "Named sets of permissions, for users and clients. A change counts at once.",
		Columns: []column{{"permissions", "Allows"}, {"scope", "Of"}, {"builtIn", "Origin"}},
		words: map[string]words{
			"role":        {Label: "Name"},
			"permissions": {Label: "Permissions", Help: "What the role allows, by area."},
			"scope": {
				Label: "Scope", Help: "What it allows this for: first groups of names, such as partner for " +
					"webhook.partner.… and the pipelines and secrets partner.…. Left empty, for everything.",
			},
		},
		choices: map[string]func(*page.Visit) ([]page.Choice, error){"permissions": permissionChoices},
		fixed:   func(name string) bool { return name == sluice.AdminName },
		kept:    func(role map[string]any) bool { return role["builtIn"] == "unchanged" },
		hit:     holdersOf,
	}, {
		Resource: sluice.ResourceNamed("client"), Title: "Clients",
		About:   "Programs that get tokens by OAuth 2.0, for themselves or for people who let them in.",
		Empty:   "A client lets a program call the API without a person’s password.",
		Columns: []column{{"roles", "Roles"}, {"grants", "Grants"}, {"lastUsed", "Last used"}, {"updated", "Changed"}},
		words: map[string]words{
			"clientId": {Label: "Client id"},
			"roles": {
				Label: "Roles", Help: "What the program may do when it acts for itself. For a person it may do what " +
					"the person may.",
			},
			"grants": {
				Label: "Grants", Help: "How the program may get tokens. With none chosen, a new program gets " +
					"client_credentials, a public one authorization_code and refresh_token.",
			},
			"redirectUris": {
				Label: "Redirect URIs", Help: "Where browsers may return to with a code: https, or http on " +
					"127.0.0.1, [::1] or localhost, at any port.",
			},
			"public": {
				"Where the program runs",
				"On people’s machines and in their browsers no secret is safe, so a program there has none.",
				"on a server, with a secret", "with people, without a secret",
			},
		},
		choices: map[string]func(*page.Visit) ([]page.Choice, error){"roles": roleChoices, "grants": grantChoices},
		renews:  true, actor: "client:%s",
	}, {
		Resource: sluice.ResourceNamed("secret"), Title: "Secrets",
		About: "Values that pipelines and webhooks use, such as passwords of other systems. Values are stored " +
			"encrypted and never shown again.",
		Empty: "Store a password or an API key here, and pipelines use it without anyone reading it.",
		hit:   usersOf, forced: true,
		Columns: []column{{"lastUsed", "Last used"}, {"updated", "Changed"}},
		words: map[string]words{
			"name": {Label: "Name"},
			"value": {
				Label: "Value", Help: "Up to 64 KiB of text, also of several lines, such as a key. The value is " +
					"stored encrypted and never shown again.",
			},
		},
	},
}
