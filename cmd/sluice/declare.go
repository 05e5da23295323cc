package main

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice"
	"sluice/client"
	"sluice/serve"
	"sluice/spelling"
	"sluice/stretch"
)

// parameters are the flags of a verb that stand for the parameters of a command:
// --payload-type is payloadType.
type parameters struct {
	t       *terminal
	cmd     *cobra.Command
	command client.Command
	names   map[string]string // of the parameters, by flag
	when    *span             // nil if the command takes no span of time
}

// declare gives a verb a flag for each parameter of a command, except those in
// without. The flags are those that this program declares; see learn for others.
func (t *terminal) declare(cmd *cobra.Command, command string, without ...string) *parameters {
	p := &parameters{t: t, cmd: cmd, command: t.declaration(command), names: make(map[string]string)}
	if hasParam(p.command, "from") {
		p.when = new(span)
		p.when.addFlags(cmd)
	}
	for _, param := range p.command.Params {
		flag := kebab(param.Name)
		if cmd.Flags().Lookup(flag) != nil || slices.Contains(without, param.Name) {
			continue
		}
		p.names[flag] = param.Name
		switch param.Type {
		case "boolean":
			cmd.Flags().Bool(flag, false, param.Doc)
		case "array":
			cmd.Flags().StringArray(flag, nil, param.Doc)
		default:
			cmd.Flags().String(flag, "", param.Doc)
		}
		t.completeParam(cmd, flag, param)
	}
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[declaresCommand] = command
	return p
}

// declaresCommand marks the verbs whose flags come from a command.
const declaresCommand = "command"

// connect returns what the flags hold, as values does, and a client of the server.
func (p *parameters) connect() (url.Values, *client.Client, error) {
	params, err := p.values()
	if err != nil {
		return nil, nil, err
	}
	c, err := p.t.connect()
	return params, c, err
}

// values returns what the flags hold, as parameters of the command.
func (p *parameters) values() (url.Values, error) {
	params := url.Values{}
	if p.when != nil {
		if err := p.when.set(params); err != nil {
			return nil, err
		}
	}
	var failed error
	p.cmd.Flags().Visit(func(f *pflag.Flag) {
		name := p.names[f.Name]
		if name == "" || failed != nil {
			return
		}
		text := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), ",")
		}
		value, err := p.t.value(text)
		if failed = err; strings.HasPrefix(text, "@") {
			value = strings.TrimRight(value, "\r\n") // files end with a line end, values don't
		}
		if name == "status" {
			if value, err = p.status(f.Name, value); failed == nil {
				failed = err
			}
		}
		params.Set(name, value)
	})
	return params, failed
}

// status returns the status that a word stands for. Unknown words are refused here,
// since the server would list statuses and not these words.
func (p *parameters) status(flag, word string) (string, error) {
	status := string(sluice.StatusOf(word))
	known := slices.IndexFunc(p.command.Params, func(param client.Param) bool { return param.Name == "status" })
	statuses := p.command.Params[known].Enum
	if len(statuses) == 0 || slices.Contains(statuses, status) {
		return status, nil
	}
	words := choicesOf(p.command.Params[known])
	refusal := usage("--%s must be one of %s, not %q.", flag, strings.Join(words, ", "), word)
	if near := spelling.Nearest(word, slices.Concat(words, statuses)); near != "" {
		refusal.message += " Did you mean " + sluice.Status(near).Word() + "?"
	}
	return "", refusal
}

// need refuses a command line without the parameters that the command requires.
func (p *parameters) need() error {
	for _, param := range p.command.Params {
		flag := kebab(param.Name)
		if param.Required && p.names[flag] != "" && !p.cmd.Flags().Changed(flag) {
			return usage("%s needs --%s: %s", p.cmd.CommandPath(), flag, param.Doc)
		}
	}
	return nil
}

// kebab returns the flag of a parameter.
func kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// declaration returns a command as this program declares it, or the server if it was
// asked.
func (t *terminal) declaration(name string) client.Command {
	if i := slices.IndexFunc(t.commands, func(c client.Command) bool { return c.Name == name }); i >= 0 {
		return t.commands[i]
	}
	panic("there is no command " + name) // a mistake in the program
}

// ownCommands are the commands as this program declares them.
func ownCommands() []client.Command {
	declared := serve.Commands().All()
	all := make([]client.Command, 0, len(declared))
	for _, known := range declared {
		c := client.Command{Name: known.Name, Summary: known.Summary, ReadOnly: known.ReadOnly}
		for _, p := range known.Params {
			if p.Body == "only" {
				c.InQuery = true
				continue
			}
			c.Params = append(c.Params, client.Param{Name: p.Name, Alias: p.Alias, Type: p.Type, Enum: p.Enum, Required: p.Required, Doc: p.Doc})
		}
		all = append(all, c)
	}
	return all
}

// learningTime bounds how long an unknown flag, perhaps a mistyped one, is looked up.
const learningTime = 5 * time.Second

// learn asks the server, which may be newer, for its own declarations of commands. It
// reports whether that was possible.
func (t *terminal) learn(ctx context.Context, cmd *cobra.Command, args []string) bool {
	name := cmd.Annotations[declaresCommand]
	if name == "" {
		return false
	}
	cmd.FParseErrWhitelist.UnknownFlags = true
	if _, rest, err := cmd.Root().Find(args); err != nil || cmd.ParseFlags(rest) != nil { // for the server's URL
		return false
	}
	c, err := t.connect()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stretch.Of(learningTime))
	defer cancel()
	described, err := c.Describe(ctx)
	if err != nil {
		return false
	}
	for i, own := range t.commands {
		if theirs, err := described.Find(own.Name); err == nil {
			t.commands[i] = theirs
		}
	}
	return true
}

// named is for parameters that name a thing: the command that lists such things,
// and the field with the name.
var named = map[string][2]string{
	"eventKey": {"webhook.get", "eventKey"}, "pipeline": {"pipeline.get", "name"},
	"roles": {"iam.role.get", "role"}, "username": {"iam.user.get", "username"}, "provider": {"provider.get", "provider"},
}

// changing returns the names of the commands whose calls stand in the audit log.
func (t *terminal) changing() (names []string) {
	for _, c := range t.commands {
		if !c.ReadOnly {
			names = append(names, c.Name)
		}
	}
	return names
}

// choicesOf returns the values that a parameter can have, in the words of the command
// line.
func choicesOf(param client.Param) []string {
	choices := slices.Clone(param.Enum)
	for i := range choices {
		if param.Name == "status" {
			choices[i] = sluice.Status(choices[i]).Word()
		}
	}
	return choices
}

func (t *terminal) completeParam(cmd *cobra.Command, flag string, param client.Param) {
	switch list, ok := named[param.Name]; {
	case len(param.Enum) > 0:
		complete(cmd, flag, cobra.FixedCompletions(choicesOf(param), noFiles))
	case param.Name == "command":
		complete(cmd, flag, cobra.FixedCompletions(t.changing(), noFiles))
	case ok:
		complete(cmd, flag, t.completeNames(list[0], list[1], noFiles))
	}
}
