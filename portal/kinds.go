package portal

import (
	"net/http"

	"sluice"
)

// A kind is a kind of thing that is listed, made, edited and deleted by commands
// of the same shape.
type kind struct {
	path    string // of its pages
	Title   string
	One     string // name of one of them
	About   string
	Empty   string // what to do if there are none
	Key     string // parameter that names one
	get     string // commands
	put     string
	remove  string
	secret  bool // one can't be read
	Effect  string
	columns []column
	labels  map[string]string // of the fields
	choices map[string]func(p *Portal, r *http.Request) ([]string, error)
	without []string                        // fields that a new one does not have
	fixed   func(name string) bool          // it can't be changed
	kept    func(thing map[string]any) bool // it can't be deleted
}

// A column is a field that lists show.
type column struct{ Name, Title string }

// kinds are the kinds of things that administrators manage.
var kinds = []*kind{
	{
		path: "/users", Title: "Users", One: "user", Key: "username",
		About: "People who sign in here, over HTTP and on the command line. What they may do comes from their roles.",
		get:   "iam.user.get", put: "iam.user.put", remove: "iam.user.delete",
		Effect:  "Passwords and tokens of that user are refused from then on.",
		columns: []column{{"roles", "Roles"}, {"disabled", "Disabled"}, {"lastUsed", "Last used"}, {"updated", "Changed"}},
		labels:  map[string]string{"username": "Username", "password": "Password", "roles": "Roles", "disabled": "Disabled"},
		choices: map[string]func(*Portal, *http.Request) ([]string, error){"roles": roleNames},
		fixed:   func(name string) bool { return name == sluice.AnonymousName },
	},
	{
		path: "/roles", Title: "Roles", One: "role", Key: "role",
		About: "Named sets of permissions. A permission is a command’s name, a pattern such as webhook.*, or read for all that changes nothing.",
		get:   "iam.role.get", put: "iam.role.put", remove: "iam.role.delete",
		Effect:  "Users who have it lose its permissions. A built-in role gets its original permissions back.",
		columns: []column{{"permissions", "Permissions"}, {"builtIn", "Built in"}},
		labels:  map[string]string{"role": "Name", "permissions": "Permissions"},
		fixed:   func(name string) bool { return name == sluice.AdminName },
		kept:    func(role map[string]any) bool { return role["builtIn"] == "unchanged" },
	},
	{
		path: "/clients", Title: "Clients", One: "client", Key: "clientId",
		About: "Programs that get tokens by OAuth 2.0, for themselves or for people who let them in. The secret is shown once, when it is made.",
		Empty: "A client lets a program call the API without a person’s password.",
		get:   "iam.client.get", put: "iam.client.put", remove: "iam.client.delete",
		Effect:  "Its secret and its tokens are refused from then on.",
		columns: []column{{"roles", "Roles"}, {"grants", "Grants"}, {"lastUsed", "Last used"}, {"updated", "Changed"}},
		labels:  map[string]string{"clientId": "Client id", "roles": "Roles", "grants": "Grants", "redirectUris": "Redirect URIs", "public": "Public, without a secret", "renew": "New secret"},
		choices: map[string]func(*Portal, *http.Request) ([]string, error){"roles": roleNames, "grants": grantNames},
		without: []string{"renew"},
	},
	{
		path: "/secrets", Title: "Secrets", One: "secret", Key: "name",
		About: "Values that pipelines use, such as passwords of other systems. They are stored encrypted, and never shown again.",
		Empty: "Store a password or an API key here, and pipelines use it without anyone reading it.",
		get:   "secret.get", put: "secret.put", remove: "secret.delete", secret: true,
		Effect:  "Pipelines that use it fail from then on.",
		columns: []column{{"lastUsed", "Last used"}, {"updated", "Changed"}},
		labels:  map[string]string{"name": "Name", "value": "Value"},
	},
}

func (p *Portal) routeAdministration() {
	for _, k := range kinds {
		p.page("GET "+k.path, p.of(k, p.kindList))
		p.page("GET "+k.path+"/new", p.of(k, p.kindNew))
		p.page("POST "+k.path+"/new", p.of(k, p.kindPut))
		p.page("GET "+k.path+"/{item}", p.of(k, p.kindPage))
		p.page("POST "+k.path+"/{item}", p.of(k, p.kindPut))
		p.page("GET "+k.path+"/{item}/delete", p.of(k, p.kindConfirm))
		p.page("POST "+k.path+"/{item}/delete", p.of(k, p.kindDelete))
	}
	p.page("GET /audit", p.auditPage)
	p.page("GET /deadletters", p.letterList)
	p.page("POST /deadletters/selected", p.lettersSelected)
	p.page("POST /deadletters/group", p.lettersOfGroup)
	p.page("GET /deadletters/{letter}", p.letterPage)
	p.page("POST /deadletters/{letter}/replay", p.letterReplay)
	p.page("GET /deadletters/{letter}/delete", p.letterConfirm)
	p.page("POST /deadletters/{letter}/delete", p.letterDelete)
	p.page("GET /me", p.me)
	p.page("POST /me", p.setPassword)
}

// of makes an endpoint of a function about a kind.
func (p *Portal) of(k *kind, serve func(http.ResponseWriter, *http.Request, *kind) error) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error { return serve(w, r, k) }
}

func roleNames(p *Portal, r *http.Request) ([]string, error) {
	roles, err := ask[[]sluice.Role](p, r, "iam.role.get", nil)
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = role.Name
	}
	return names, err
}

func grantNames(*Portal, *http.Request) ([]string, error) {
	return []string{"client_credentials", "authorization_code", "password", "refresh_token"}, nil
}
