package terminal

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/command"
	"sluice/spelling"
)

// An Asking is a verb that has the values of its flags, as parameters of a command, and is
// connected to the server.
type Asking func(ctx context.Context, values url.Values, args []string) error

// Calling gives a verb a flag for each parameter of a command, except those in without, and
// makes it do run with what they hold: --payload-type is payloadType.
func (t *Terminal) Calling(cmd *cobra.Command, name string, run Asking, without ...string) *cobra.Command {
	declared := t.Declaration(name)
	when := new(span)
	if _, err := declared.Param("from"); err == nil {
		when.addFlags(cmd)
	}
	var params []command.Param
	for _, p := range declared.Params {
		flag := FlagOf(p.Name)
		if p.Body == command.BodyOnly || cmd.Flags().Lookup(flag) != nil || slices.Contains(without, p.Name) {
			continue
		}
		params = append(params, p)
		switch p.Type {
		case "boolean":
			cmd.Flags().Bool(flag, false, p.Doc)
		case "array":
			cmd.Flags().StringArray(flag, nil, p.Doc)
		default:
			cmd.Flags().String(flag, "", p.Doc)
		}
		t.completeParam(cmd, flag, p)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		values := url.Values{}
		if err := when.set(values); err != nil {
			return err
		}
		for _, p := range params {
			if err := t.setParam(values, p, cmd.Flags().Lookup(FlagOf(p.Name))); err != nil {
				return err
			}
		}
		if err := t.Connect(); err != nil {
			return err
		}
		return run(cmd.Context(), values, args)
	}
	return cmd
}

// setParam sets a parameter to what its flag holds, if that was given.
func (t *Terminal) setParam(values url.Values, p command.Param, flag *pflag.Flag) error {
	if !flag.Changed {
		return nil
	}
	text := flag.Value.String()
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		text = strings.Join(list.GetSlice(), ",")
	}
	value, err := t.value(text)
	if strings.HasPrefix(text, "@") {
		value = strings.TrimRight(value, "\r\n") // files end with a line end, values don't
	}
	if err == nil && p.Name == "status" {
		value, err = statusOf(p, value)
	}
	values.Set(p.Name, value)
	return err
}

// statusOf returns the status that a word stands for. Unknown words are refused here,
// since the server would list statuses and not these words.
func statusOf(p command.Param, word string) (string, error) {
	status := string(sluice.StatusOf(word))
	if len(p.Enum) == 0 || slices.Contains(p.Enum, status) {
		return status, nil
	}
	words := choicesOf(p)
	refusal := exit.Usage("--status must be one of %s, not %q.", strings.Join(words, ", "), word)
	if near := spelling.Nearest(word, slices.Concat(words, p.Enum)); near != "" {
		refusal.Message += " Did you mean " + sluice.Status(near).Word() + "?"
	}
	return "", refusal
}

// Need refuses a command line without the flags that a command requires.
func (t *Terminal) Need(cmd *cobra.Command, name string) error {
	for _, p := range t.Declaration(name).Params {
		if flag := cmd.Flags().Lookup(FlagOf(p.Name)); p.Required && flag != nil && !flag.Changed {
			return exit.Usage("%s needs --%s: %s", cmd.CommandPath(), flag.Name, p.Doc)
		}
	}
	return nil
}

// FlagOf returns the flag of a parameter.
func FlagOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Declaration returns a command as this program declares it.
func (t *Terminal) Declaration(name string) command.Command {
	declared, ok := t.Commands.Find(name)
	if !ok {
		panic("there is no command " + name) // a mistake in the program
	}
	return declared
}

// choicesOf returns the values that a parameter can have, in the words of the command
// line.
func choicesOf(p command.Param) []string {
	choices := slices.Clone(p.Enum)
	for i := range choices {
		if p.Name == "status" {
			choices[i] = sluice.Status(choices[i]).Word()
		}
	}
	return choices
}
