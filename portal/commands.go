package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

type commandList struct {
	Search string
	Groups []commandGroup
}

// A commandGroup is a chapter of the list of commands.
type commandGroup struct {
	chapter

	Commands []listedCommand
}

type listedCommand struct {
	commandLine

	Step bool // it works only in a pipeline
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

type commandView struct {
	form

	Name, Summary string
	Tag           string // of the API reference
	ReadOnly      bool
	Step          bool // it works only in a pipeline, or over HTTP
	Allowed       bool
	Lines         []string // commands for a terminal
	Ran           bool
	Output        []outputPart
	More          bool // the form asks for the next page
}

// Secrets reports whether the output has secrets.
func (v commandView) Secrets() bool {
	return slices.ContainsFunc(v.Output, func(part outputPart) bool { return part.Mask != "" })
}

func (p *Portal) commandPage(w http.ResponseWriter, r *http.Request, cmd command.Command) error {
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
		case at.Input == "select":
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
		at.Input, at.Choices = "select", []choice{{Label: notGiven}}
		for _, sender := range known {
			at.Choices = append(at.Choices, choice{Value: sender.Provider, Label: sender.Title})
		}
	}
	return view, nil
}

// verbOf returns a line for the sluice program that calls a command with its required
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

// curlOf returns the end of a curl line that calls a command with its required
// parameters. If the body is one of them, the others are in the query.
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

// commandRun calls a command with what was entered, and shows its output.
func (p *Portal) commandRun(w http.ResponseWriter, r *http.Request, cmd command.Command) error {
	output, next, err := p.document(r, cmd.Name, argsOf(cmd, r.PostForm))
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
	view.Ran, view.Output = true, partsOf(prettyUpTo(output, maxOutput))
	if at := view.find("after"); at != nil && next != "" {
		view.More, at.Value = true, next
	}
	return p.render(w, r, http.StatusOK, "command", cmd.Name, view)
}

type outputPart struct {
	Text string
	Mask string // shown in its place until people ask for it; "" if it is no secret
}

// secretInOutput matches tokens and secrets.
var secretInOutput = regexp.MustCompile(`"(?:uuid|token|secret|verifyToken)": "([^"]+)"|(?:[?&]token=|/hook/)([\w-]+)`)

// partsOf splits an output at its secrets, so that nobody reads them over a shoulder or
// in a screenshot.
func partsOf(output string) (parts []outputPart) {
	done := 0
	for _, found := range secretInOutput.FindAllStringSubmatchIndex(output, -1) {
		begin, end := found[2], found[3]
		if begin < 0 {
			begin, end = found[4], found[5]
		}
		secret := outputPart{Text: output[begin:end], Mask: "••••••••"}
		if sluice.IsToken(secret.Text) { // people know tokens by their ends
			secret.Mask = hiddenToken(secret.Text)
		}
		parts = append(parts, outputPart{Text: output[done:begin]}, secret)
		done = end
	}
	return append(parts, outputPart{Text: output[done:]})
}
