package terminal

import (
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

// addParams gives a verb a flag for each parameter of its command: --payload-type is payloadType. The
// function returns what they hold.
func (t *Terminal) addParams(cmd *cobra.Command, v *Verb) func() (url.Values, error) {
	values := url.Values{}
	if v.Command == "" {
		return func() (url.Values, error) { return values, nil }
	}
	declared := t.Declaration(v.Command)
	if _, err := declared.Param("from"); err == nil {
		addSpan(cmd.Flags())
	}
	var params []command.Param
	for _, p := range declared.Params {
		flag := FlagOf(p.Name)
		if p.Body == command.BodyOnly || cmd.Flags().Lookup(flag) != nil || slices.Contains(v.Without, p.Name) {
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
	return func() (url.Values, error) {
		err := setSpan(values, t.Text)
		for _, p := range params {
			if err == nil {
				err = t.setParam(values, p, cmd.Flag(FlagOf(p.Name)))
			}
		}
		return values, err
	}
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

// Complete refuses a command line without a flag that its command requires.
func (t *Terminal) Complete() error {
	for _, p := range t.Declaration(t.Verb.Command).Params {
		if flag := t.Cmd.Flag(FlagOf(p.Name)); p.Required && flag != nil && !flag.Changed {
			return exit.Usage("%s needs --%s: %s", t.Cmd.CommandPath(), flag.Name, p.Doc)
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
