package portal

import (
	"net/http"
	"net/url"
	"slices"
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

// A commandGroup is a chapter of the list of commands.
type commandGroup struct {
	chapter

	Commands []listedCommand
}

type commandLine struct {
	Name, Summary string
	Allowed       bool
}

type listedCommand struct {
	commandLine

	Step bool // it makes sense only in a pipeline
}

func (p *Portal) commandList(w http.ResponseWriter, r *http.Request) error {
	view := commandList{Search: r.URL.Query().Get("search")}
	wanted := strings.ToLower(view.Search)
	user := sluice.UserFrom(r.Context())
	found, lines := make(map[string]bool), make(map[string][]listedCommand)
	for _, cmd := range p.Commands.All() {
		if !strings.Contains(strings.ToLower(cmd.Name+" "+cmd.Summary), wanted) {
			continue
		}
		name := chapterOf(cmd.Name)
		found[name] = true
		lines[name] = append(lines[name], listedCommand{commandLine{cmd.Name, cmd.Summary, cmd.Endpoint != nil || cmd.Allows(user)}, cmd.Trigger || cmd.InRun})
	}
	for _, c := range inOrder(found) {
		view.Groups = append(view.Groups, commandGroup{c, lines[c.Name]})
	}
	return p.render(w, r, http.StatusOK, "commands", "Commands", view)
}

// A commandView is the page of one command.
type commandView struct {
	form

	Name, Summary string
	Tag           string // of the API reference
	ReadOnly      bool
	Step          bool // it makes sense only in a pipeline, or over HTTP
	Allowed       bool
	Lines         []string // to call it in a terminal
	Ran           bool
	Answer        []answerPart
	More          bool // there is another page, which the form asks for
}

// Secrets reports whether the answer has something to hide.
func (v commandView) Secrets() bool {
	return slices.ContainsFunc(v.Answer, func(part answerPart) bool { return part.Mask != "" })
}

func (p *Portal) commandPage(w http.ResponseWriter, r *http.Request) error {
	cmd, err := p.command(r)
	if err != nil {
		return err
	}
	view, err := p.commandView(r, cmd, r.URL.Query(), nil)
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "command", cmd.Name, view)
}

// command returns the command that the path names.
func (p *Portal) command(r *http.Request) (command.Command, error) {
	cmd, ok := p.Commands.Find(r.PathValue("name"))
	if !ok {
		return cmd, sluice.Errorf(sluice.CodeCommandUnknown, "There is no such command.")
	}
	return cmd, nil
}

func (p *Portal) commandView(r *http.Request, cmd command.Command, entered url.Values, failure error) (commandView, error) {
	user := sluice.UserFrom(r.Context())
	view := commandView{
		form: formOf(cmd, entered, failure),
		Name: cmd.Name, Summary: cmd.Summary, Tag: chapterOf(cmd.Name), ReadOnly: cmd.ReadOnly,
		Step:    cmd.HTTPOnly() || cmd.Trigger || cmd.InRun,
		Allowed: cmd.Allows(user),
		Lines:   []string{verbOf(cmd), "curl -u " + user.Name + " " + curlOf(cmd, p.BaseURL+sluice.CommandPath+cmd.Name)},
	}
	const notGiven = "not given"
	for i := range view.Fields {
		at := &view.Fields[i]
		switch {
		case at.Kind == "select":
			at.Choices[0].Label = notGiven
		case at.Hint == "" && !at.Required:
			at.Hint = notGiven
		}
	}
	if at := view.find("provider"); at != nil {
		known, err := p.providers(r)
		if err != nil || known == nil {
			return view, err
		}
		at.Kind, at.Choices = "select", []choice{{Label: notGiven}}
		for _, sender := range known {
			at.Choices = append(at.Choices, choice{Value: sender.Provider, Label: sender.Title})
		}
	}
	return view, nil
}

// verbOf returns the line that calls a command with the program, with its required
// parameters.
func verbOf(cmd command.Command) string {
	line := []string{"sluice command", cmd.Name}
	for _, param := range cmd.Params {
		switch {
		case !param.Required:
		case param.Body == command.BodyOnly:
			line = append(line, "--body", param.Name+".yaml")
		default:
			line = append(line, param.Name+"=…")
		}
	}
	return strings.Join(line, " ")
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
	view, failure := p.commandView(r, cmd, r.PostForm, err)
	if failure != nil {
		return failure
	}
	if err != nil {
		return p.render(w, r, problem.Status(err), "command", cmd.Name, view)
	}
	view.Ran, view.Answer = true, partsOf(prettyUpTo(output, maxOutput))
	if at := view.find("after"); at != nil && next != "" {
		view.More, at.Value = true, next
	}
	return p.render(w, r, http.StatusOK, "command", cmd.Name, view)
}
