package portal

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
)

// areas are what people look after.
var areas = []struct {
	name, see string
	manage    []string // all permissions to change it; nil if nothing can be changed
}{
	{"webhooks", "webhook.get", []string{"webhook.put", "webhook.delete"}},
	{"pipelines", "pipeline.get", []string{"pipeline.put", "pipeline.delete"}},
	{"calls", "trace.get", nil},
	{"dead letters", "deadletter.get", []string{"deadletter.replay", "deadletter.delete"}},
	{"the quarantine", "quarantine.get", []string{"quarantine.admit", "quarantine.delete"}},
	{"secrets", "secret.get", []string{"secret.put", "secret.delete"}},
	{"users", "iam.user.get", []string{"iam.user.put", "iam.user.delete"}},
	{"roles", "iam.role.get", []string{"iam.role.put", "iam.role.delete"}},
	{"clients", "iam.client.get", []string{"iam.client.put", "iam.client.delete"}},
	{"the audit log", "audit.get", nil},
	{"the figures of the server", "server.stats", nil},
}

// abilities are what other permissions allow.
var abilities = []struct{ permission, words string }{
	{sluice.MaySeePayload, "read what callers have sent"},
	{sluice.MaySeeTokens, "see the tokens of webhooks"},
	{"event.replay", "replay events"},
	{"event.send", "send events"},
	{"pipeline.run", "run pipelines by hand"},
	{"http.request", "call other systems from pipelines"},
	{sluice.MayUseSecrets, "use secrets in pipelines"},
	{"server.backup", "take backups"},
	{sluice.MaySeeMetrics, "read metrics"},
}

// permissionChoices returns all permissions by area, with what each allows.
func permissionChoices(p *Portal, _ *http.Request) ([]choice, error) {
	const everywhere = "Everywhere"
	choices := []choice{
		{Value: sluice.MayRead, Label: sluice.MayRead, Help: "Run every command that changes nothing.", Area: everywhere},
		{Value: "*", Label: "*", Help: "Everything.", Area: everywhere},
	}
	byArea := make(map[string][]choice)
	add := func(name, help string) {
		area, _, _ := strings.Cut(name, ".")
		byArea[area] = append(byArea[area], choice{Value: name, Label: name, Help: help, Area: area})
	}
	for _, cmd := range p.Commands.All() {
		if cmd.Endpoint == nil {
			add(cmd.Name, typographic(cmd.Summary))
		}
	}
	for _, a := range abilities {
		if _, isCommand := p.Commands.Find(a.permission); !isCommand {
			add(a.permission, strings.ToUpper(a.words[:1])+a.words[1:]+".")
		}
	}
	for _, area := range slices.Sorted(maps.Keys(byArea)) {
		if of := byArea[area]; len(of) > 1 {
			choices = append(choices, choice{Value: area + ".*", Label: area + ".*", Help: "All of these, and what later versions add.", Area: area})
		}
		choices = append(choices, byArea[area]...)
	}
	return choices, nil
}

// inWords describes what someone with these permissions can do.
func (p *Portal) inWords(permissions []string) string {
	if slices.Contains(permissions, "*") {
		return "Everything."
	}
	holder := sluice.User{Permissions: permissions}
	var managed, seen, also []string
	for _, a := range areas {
		switch {
		case a.manage != nil && !slices.ContainsFunc(a.manage, func(name string) bool { return !p.may(holder, name) }):
			managed = append(managed, a.name)
		case p.may(holder, a.see):
			seen = append(seen, a.name)
		}
	}
	for _, a := range abilities {
		if holder.May(a.permission) {
			also = append(also, a.words)
		}
	}
	var sentences []string
	for _, part := range []struct {
		verb  string
		words []string
	}{{"Manage ", managed}, {"See ", seen}, {"", also}} {
		if part.words != nil {
			sentence := part.verb + enumeration(part.words) + "."
			sentences = append(sentences, strings.ToUpper(sentence[:1])+sentence[1:])
		}
	}
	switch {
	case sentences != nil:
		return strings.Join(sentences, " ")
	case permissions != nil:
		return "Nothing in the portal; only " + enumeration(permissions) + "."
	}
	return "Nothing."
}

// enumeration joins words by commas and "and".
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// A teamForm is the page where people make a team: a role with a scope, and its members.
type teamForm struct {
	form

	External bool // an external provider has the users
}

func (p *Portal) teamForm(r *http.Request, entered url.Values, failure error) (view teamForm, err error) {
	view.External = p.Provider != nil
	view.Fields = []field{
		{Name: "team", Label: "Name", Help: "Such as partner. It becomes the first part of the role’s name.", Input: "text", Value: entered.Get("team"), Required: true, Focus: failure == nil},
		{Name: "scope", Label: "What is theirs", Help: "First groups of names, separated by commas: with partner it is the webhooks webhook.partner and webhook.partner.…, and the messages, pipelines and secrets partner and partner.…. Left empty, it is the name. All else is as if it were not there for them.", Input: "text", Value: entered.Get("scope")},
		{Name: "like", Label: "What members may do with it", Help: "What the role allows, without what is about the whole server.", Input: "select", Value: cmp.Or(entered.Get("like"), "developer")},
	}
	roles, _, err := read[[]sluice.Role](p, r, "iam.role.get", nil)
	if err != nil {
		return view, err
	}
	for _, role := range roles {
		if role.Name != sluice.AdminName && role.Name != sluice.AnonymousRole && len(role.Scope) == 0 {
			view.Fields[2].Choices = append(view.Fields[2].Choices, choice{Value: role.Name, Label: role.Name})
		}
	}
	if !view.External && p.allows(r, "iam.user.put") {
		users, _, err := read[[]sluice.Account](p, r, "iam.user.get", nil)
		if err != nil {
			return view, err
		}
		var offered []choice
		for _, user := range users {
			if user.Username != sluice.AnonymousName {
				offered = append(offered, choice{Value: user.Username, Label: user.Username, Help: "now " + cmp.Or(strings.Join(user.Roles, ", "), "without a role")})
			}
		}
		view.Fields = append(view.Fields, field{Name: "members", Label: "Members", Help: "They keep the roles that they have: take away those that allow more than the team is to see."})
		view.choose("members", offered, entered["members"])
	}
	view.blame(failure)
	return view, nil
}

func (p *Portal) teamNew(w http.ResponseWriter, r *http.Request) error {
	view, err := p.teamForm(r, url.Values{}, nil)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "team", "New team", view)
}

// teamPut makes the role of a team, and gives it to the members.
func (p *Portal) teamPut(w http.ResponseWriter, r *http.Request) error {
	role, err := p.makeTeam(r, r.PostForm)
	if err == nil {
		return p.redirect(w, r, "/roles/"+url.PathEscape(role)+"?done=saved")
	}
	if !isMistake(err) {
		return err
	}
	view, failed := p.teamForm(r, r.PostForm, err)
	if failed != nil {
		return failed
	}
	return p.render(w, r, problem.Status(err), "team", "New team", view)
}

func (p *Portal) makeTeam(r *http.Request, entered url.Values) (role string, err error) {
	team := strings.TrimSpace(entered.Get("team"))
	if team == "" {
		return "", sluice.Errorf(sluice.CodeParameterMissing, "A team needs a name.").About("team")
	}
	role = team + "-" + entered.Get("like")
	if _, err := p.run(r, "iam.role.get", args("role", role)); err == nil {
		return "", sluice.Errorf(sluice.Code{Word: "role-taken", Kind: sluice.Conflict}, "There is a role %s already. Choose another name, or open that role to change it.", role).About("team")
	}
	if _, err := p.run(r, "iam.role.put", args("role", role, "like", entered.Get("like"), "scope", cmp.Or(strings.TrimSpace(entered.Get("scope")), team))); err != nil {
		if e := sluice.AsError(err); e.Parameter == "role" {
			return "", e.About("team")
		}
		return "", err
	}
	for _, name := range entered["members"] {
		if name == "" {
			continue
		}
		member, _, err := read[sluice.Account](p, r, "iam.user.get", args("username", name))
		if err == nil {
			_, err = p.run(r, "iam.user.put", args("username", name, "roles", strings.Join(append(slices.Clone(member.Roles), role), ",")))
		}
		if err != nil {
			return "", sluice.AsError(err).Saying(fmt.Sprintf("The role %s is made, but %s does not have it: %s", role, name, sluice.AsError(err).Message)).About("members")
		}
	}
	return role, nil
}
