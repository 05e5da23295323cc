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

// calling gives a verb a flag for each parameter of a command, except those in without,
// and makes it do run with what they hold. The flags are those that this program declares;
// see learn for others.
func (t *terminal) calling(cmd *cobra.Command, command string, run func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error, without ...string) *cobra.Command {
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		values, err := p.values()
		if err != nil {
			return err
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		return run(cmd, c, values, args)
	}
	return cmd
}

// declaresCommand marks the verbs whose flags come from a command.
const declaresCommand = "command"

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

// need refuses a command line without the flags that a command requires.
func (t *terminal) need(cmd *cobra.Command, command string) error {
	for _, param := range t.declaration(command).Params {
		if flag := cmd.Flags().Lookup(kebab(param.Name)); param.Required && flag != nil && !flag.Changed {
			return usage("%s needs --%s: %s", cmd.CommandPath(), flag.Name, param.Doc)
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

// A span is a span of time, from flags.
type span struct {
	from, to, since string
}

func (s *span) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.since, "since", "", "from then until now: 30m, 2h, 1d, today, yesterday, or a time")
	cmd.Flags().StringVar(&s.from, "from", "", "earliest time, such as 2030-01-31 12:00 here, or 2030-01-31T12:00:00Z")
	cmd.Flags().StringVar(&s.to, "to", "", "latest time")
}

// set sets the parameters from and to.
func (s *span) set(params url.Values) error {
	if s.since != "" && s.from != "" {
		return usage("Give --since, such as 1h, or --from; not both.")
	}
	now := time.Now()
	for _, flag := range []struct{ name, text, param string }{{"since", s.since, "from"}, {"from", s.from, "from"}, {"to", s.to, "to"}} {
		if flag.text == "" {
			continue
		}
		at, err := parseMoment(flag.text, now)
		if err != nil {
			return usage("--%s: %q is no time; give one such as 2h, 1d, yesterday, 2030-01-31 12:00 or 2030-01-31T12:00:00Z.", flag.name, flag.text)
		}
		params.Set(flag.param, at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

var moments = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly}

// parseMoment reads a time: how long ago it was, the name of a day, or a date, in
// local time unless it has a zone.
func parseMoment(text string, now time.Time) (at time.Time, err error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if ago, err := sluice.ParseAge(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range moments {
		if at, err = time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return at, err
}
