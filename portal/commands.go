package portal

import (
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

func (p *Portal) routeCommands() {
	p.page("GET /commands", p.commandList)
	p.page("GET /commands/{name}", p.commandPage)
	p.page("POST /commands/{name}", p.commandRun)
	p.page("GET /reference", p.referencePage)
	p.page("GET /reference/{tag}", p.referencePage)
}

type commandList struct {
	Search string
	Groups []commandGroup
}

// A commandGroup is the commands whose names begin alike.
type commandGroup struct {
	Name     string
	Commands []commandLine
}

type commandLine struct {
	Name, Summary string
	Allowed       bool
}

func (p *Portal) commandList(w http.ResponseWriter, r *http.Request) error {
	list := commandList{Search: r.URL.Query().Get("search")}
	wanted := strings.ToLower(list.Search)
	user := sluice.UserFrom(r.Context())
	for _, cmd := range p.Commands.All() {
		if !strings.Contains(strings.ToLower(cmd.Name+" "+cmd.Summary), wanted) {
			continue
		}
		group, _, dotted := strings.Cut(cmd.Name, ".")
		if !dotted {
			group = "steps"
		}
		list.add(group, commandLine{cmd.Name, cmd.Summary, cmd.Endpoint != nil || cmd.Allows(user)})
	}
	return p.render(w, r, http.StatusOK, "commands", "Commands", list)
}

func (l *commandList) add(group string, line commandLine) {
	for i := range l.Groups {
		if l.Groups[i].Name == group {
			l.Groups[i].Commands = append(l.Groups[i].Commands, line)
			return
		}
	}
	l.Groups = append(l.Groups, commandGroup{group, []commandLine{line}})
}

// A commandView is the page of one command.
type commandView struct {
	form

	Name, Summary string
	Tag           string // of the API reference
	ReadOnly      bool
	Step          bool // it makes sense only in a pipeline, or over HTTP
	Allowed       bool
	Line          string // to call it with curl
	Ran           bool
	Output        string
}

func (p *Portal) commandPage(w http.ResponseWriter, r *http.Request) error {
	cmd, err := p.command(r)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "command", cmd.Name, p.commandView(r, cmd, r.URL.Query(), nil))
}

// command returns the command that the path names.
func (p *Portal) command(r *http.Request) (command.Command, error) {
	cmd, ok := p.Commands.Find(r.PathValue("name"))
	if !ok {
		return cmd, sluice.Errorf(sluice.NotFound, "command-unknown", "There is no such command.")
	}
	return cmd, nil
}

func (p *Portal) commandView(r *http.Request, cmd command.Command, entered url.Values, err error) commandView {
	tag, _, _ := strings.Cut(cmd.Name, ".")
	view := commandView{
		form: formOf(cmd, entered, err),
		Name: cmd.Name, Summary: cmd.Summary, Tag: tag, ReadOnly: cmd.ReadOnly,
		Step:    cmd.HTTPOnly() || cmd.Trigger || cmd.InRun,
		Allowed: cmd.Allows(sluice.UserFrom(r.Context())),
		Line:    "curl -u " + sluice.UserFrom(r.Context()).Name + " " + curlOf(cmd, p.BaseURL+sluice.CommandPath+cmd.Name),
	}
	return view
}

// curlOf returns the end of a curl line that calls a command, with its required
// parameters. Where the body is a parameter, the others are in the query.
func curlOf(cmd command.Command, target string) string {
	body, _ := cmd.BodyParam()
	query, data := url.Values{}, ""
	for _, param := range cmd.Params {
		switch {
		case !param.Required:
		case param.Body == command.BodyOnly:
			data += " \\\n  --data-binary @" + param.Name
		case body.Body == command.BodyOnly:
			query.Set(param.Name, "")
		default:
			data += " \\\n  -d " + param.Name + "=…"
		}
	}
	if len(query) > 0 {
		target = "'" + target + "?" + strings.ReplaceAll(query.Encode(), "=", "=…") + "'"
	}
	if !cmd.ReadOnly && data == "" {
		data = " -X POST"
	}
	return target + data
}

// commandRun calls a command with what was entered, and shows what comes out.
func (p *Portal) commandRun(w http.ResponseWriter, r *http.Request) error {
	cmd, err := p.command(r)
	if err != nil {
		return err
	}
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	output, next, err := p.run(r, cmd.Name, argsOf(cmd, r.PostForm))
	if err != nil && !isMistake(err) {
		return err
	}
	view := p.commandView(r, cmd, r.PostForm, err)
	if err != nil {
		return p.render(w, r, problem.Status(err), "command", cmd.Name, view)
	}
	view.Ran, view.Output = true, prettyUpTo(output, maxOutput)
	if next != "" {
		view.Output += "\n\n(there are more: after=" + next + ")"
	}
	return p.render(w, r, http.StatusOK, "command", cmd.Name, view)
}
