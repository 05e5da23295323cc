package terminal

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice"
	"sluice/config"
)

// A Verb is one of the command line, as people see it. What it does is a function.
type Verb struct {
	Name, Short, Long, Example string

	Args      string   // their names
	Needs     string   // what they are, in words
	Completes string   // what they are completed with: profiles, commands, or a command and the field of what it lists
	Also      []string // what other programs call it
	Group     string   // in the help of the program
	Shares    []Flag   // flags of it and of the verbs below it

	Does     string   // the name of what it does; "" means its path, such as webhook url
	Offline  bool     // that needs no server
	Command  string   // of the server, whose parameters are flags
	Takes    []string // parameters that its arguments are
	Without  []string // further parameters that are no flags
	Flags    []Flag
	Settings []string // of a server that are flags

	About   *Resource // what it and the verbs below it are about; nil means the same as the verb above
	None    string    // says that a list is empty
	Things  string    // the plural of what is listed; "" if the text above fits selections, too
	Page    string    // of the portal
	Columns []string  // of the list; none means those of what it is about
	Did     string    // what was done, and the field with the number of things: replayed
	Counts  string    // command that counts what the flags select, if there is one

	Verbs []*Verb
}

// A Flag is one that is no parameter of a command.
type Flag struct {
	Name, Letter, Default, Doc string

	Type      string   // text, list, number or duration; "" means one that is on or off
	Choices   []string // that complete it
	Completes string   // as with arguments
}

// A Resource is a sort of thing that a server keeps, in the words of people.
type Resource struct {
	sluice.Resource `yaml:",inline"`

	Thing   string   // its name in sentences; "" means Name
	Word    string   // what people call the key
	Like    string   // an example of a key
	Handle  string   // field and parameter by which edit and delete find it; "" means the key
	Direct  bool     // it can be deleted without a look at it
	Single  string   // parameter of get that makes sense for one thing only, if there is one
	None    string   // says that there are none
	Columns []string // of a list
}

// words are what stands in verbs for a resource.
func (r *Resource) words() []string {
	return []string{
		"$KEY", strings.ToUpper(r.Key), "$key", r.Key, "$name", r.Name, "$thing", r.Thing, "$word", r.Word,
		"$like", r.Like, "$handle", r.Handle, "$single", r.Single, "$none", r.None, "$page", r.Page, "$get", r.Get,
		"$put", r.Put,
	}
}

// A Do does what a verb says.
type Do = func(ctx context.Context) error

// Line makes the command line of a verb and those below it. Words stand in the texts of verbs, each followed
// by what it means.
func (t *Terminal) Line(v *Verb, does map[string]Do, words ...string) *cobra.Command {
	root := t.line(v, "", &Resource{}, does, words)
	root.Args, root.RunE, root.PersistentPreRunE = nil, nil, t.begin // cobra knows what to say of no verb
	addHelp(root)
	return root
}

func (t *Terminal) line(v *Verb, path string, about *Resource, does map[string]Do, words []string) *cobra.Command {
	if v.About != nil {
		if about = v.About; about.Get == "" {
			about.Resource = sluice.ResourceNamed(about.Name)
		}
		about.Thing = cmp.Or(about.Thing, about.Name)
	}
	v.fill(strings.NewReplacer(slices.Concat(about.words(), words)...))
	cmd := &cobra.Command{
		Use: strings.TrimSpace(v.Name + " " + v.Args), Short: v.Short, Long: wrapped(v.Long), GroupID: v.Group,
		Args: needs(v.Needs), ValidArgsFunction: t.completes(v.Completes), SuggestFor: v.Also,
		SuggestionsMinimumDistance: 2,
	}
	if v.Example != "" {
		cmd.Example = "  " + strings.ReplaceAll(v.Example, "\n", "\n  ")
	}
	t.addFlags(cmd, cmd.Flags(), v.Flags)
	t.addFlags(cmd, cmd.PersistentFlags(), v.Shares)
	v.addSettings(cmd.Flags())
	params := t.addParams(cmd, v)
	if do := does[cmp.Or(v.Does, path)]; do != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
			t.Verb, t.Resource, t.Args = v, about, args
			if t.Params, err = params(); err == nil && !v.Offline {
				err = t.Connect()
			}
			for i, name := range v.Takes[:min(len(v.Takes), len(args))] {
				t.Params.Set(name, args[i])
			}
			switch {
			case err != nil:
				return err
			case t.On("open"):
				return t.Open(cmd.Context(), v.Page, args...)
			}
			return do(cmd.Context())
		}
	}
	for _, below := range v.Verbs {
		cmd.AddCommand(t.line(below, strings.TrimSpace(path+" "+below.Name), about, does, words))
	}
	if len(v.Verbs) > 0 {
		cmd.Args = orVerb
		if cmd.RunE == nil {
			cmd.RunE = help
		}
	}
	return cmd
}

// fill replaces words in what people read of a verb, and in its names of commands and parameters.
func (v *Verb) fill(words *strings.Replacer) {
	for _, text := range []*string{
		&v.Args, &v.Needs, &v.Completes, &v.Short, &v.Long, &v.Example, &v.Command, &v.None, &v.Things, &v.Page,
	} {
		*text = words.Replace(*text)
	}
	v.Without = slices.Concat(v.Without, v.Takes)
	for _, names := range [][]string{v.Takes, v.Without} {
		for i := range names {
			names[i] = words.Replace(names[i])
		}
	}
}

// addFlags gives a verb flags.
func (t *Terminal) addFlags(cmd *cobra.Command, flags *pflag.FlagSet, list []Flag) {
	for _, f := range list {
		switch f.Type {
		case "text":
			flags.StringP(f.Name, f.Letter, f.Default, f.Doc)
		case "list":
			flags.StringArray(f.Name, nil, f.Doc)
		case "number":
			flags.Int(f.Name, 0, f.Doc)
		case "duration":
			usual, _ := time.ParseDuration(f.Default) // without one there is no bound
			flags.Duration(f.Name, usual, f.Doc)
		default:
			flags.BoolP(f.Name, f.Letter, false, f.Doc)
		}
		if f.Choices != nil {
			complete(cmd, f.Name, cobra.FixedCompletions(f.Choices, noFiles))
		} else if f.Completes != "" {
			complete(cmd, f.Name, t.completes(f.Completes))
		}
	}
}

// addSettings gives a verb the settings of a server as flags.
func (v *Verb) addSettings(flags *pflag.FlagSet) {
	all := slices.Contains(v.Settings, "all")
	for _, s := range config.Settings() {
		if all || slices.Contains(v.Settings, s.Name) {
			flags.String(s.Name, s.Default, s.Doc)
			if s.Switch {
				flags.Lookup(s.Name).NoOptDefVal = "true"
			}
		}
	}
	if all {
		for name := range config.Former { // to be refused with a word on what there is instead
			flags.String(name, "", "")
			_ = flags.MarkHidden(name) // it is there
		}
	}
}

// Text returns what a flag of the verb holds, "" if it has no such flag.
func (t *Terminal) Text(flag string) string {
	if f := t.Cmd.Flag(flag); f != nil {
		return f.Value.String()
	}
	return ""
}

// On reports whether a flag of the verb is set.
func (t *Terminal) On(flag string) bool { return t.Text(flag) == "true" }

// Texts returns what a flag holds that may be repeated.
func (t *Terminal) Texts(flag string) []string {
	texts, _ := t.Cmd.Flags().GetStringArray(flag) // as declared
	return texts
}

// Duration returns the duration in a flag.
func (t *Terminal) Duration(flag string) time.Duration {
	duration, _ := t.Cmd.Flags().GetDuration(flag) // as declared
	return duration
}
