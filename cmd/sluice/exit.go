package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/spelling"
)

// Exit codes. Scripts rely on them: they keep their meaning.
const (
	exitOther        = 1
	exitUsage        = 2
	exitLogin        = 3
	exitForbidden    = 4
	exitNotFound     = 5
	exitUnavailable  = 6
	exitConflict     = 7
	exitThrottled    = 8
	exitFailed       = 9
	exitTimeout      = 10
	exitInterrupted  = 130
	hintLogin        = "Log in with sluice login."
	exitCodesSummary = `Exit codes:

    0  all is well
    1  another failure
    2  the command line or a parameter is wrong
    3  not logged in, or wrong credentials
    4  not allowed, or not signed as the webhook demands
    5  not found, or no longer there
    6  the server can't be reached, or is not ready
    7  it clashes with what is stored, or differs from it
    8  too many requests; try again later
    9  a pipeline has mistakes, failed, or failed its tests
   10  the time to wait was over
  130  interrupted
`
)

// exitOf maps kinds of failure to exit codes.
var exitOf = map[sluice.Kind]int{
	sluice.Internal:         exitOther,
	sluice.Invalid:          exitUsage,
	sluice.Unauthenticated:  exitLogin,
	sluice.Forbidden:        exitForbidden,
	sluice.NotFound:         exitNotFound,
	sluice.MethodNotAllowed: exitUsage,
	sluice.Timeout:          exitUnavailable,
	sluice.Conflict:         exitConflict,
	sluice.Gone:             exitNotFound,
	sluice.TooLarge:         exitUsage,
	sluice.Unsupported:      exitUsage,
	sluice.Throttled:        exitThrottled,
	sluice.Unavailable:      exitUnavailable,
	sluice.Loop:             exitOther,
	sluice.Unprocessable:    exitUsage,
	sluice.Outdated:         exitConflict,
	sluice.HeadTooLarge:     exitUsage,
	sluice.Full:             exitConflict,
}

// A failure is an error with an exit code of its own.
type failure struct {
	code    int
	message string
	hint    string // in a line of its own
}

// Error implements error.
func (f *failure) Error() string { return f.message }

// usage makes the error for a command line that makes no sense.
func usage(format string, args ...any) *failure {
	return &failure{code: exitUsage, message: fmt.Sprintf(format, args...)}
}

// help adds a hint to the verb's help.
func (f *failure) help(cmd *cobra.Command) *failure {
	return &failure{f.code, f.message, cmd.CommandPath() + " --help explains it."}
}

// exitCode returns the code that the program ends with.
func exitCode(err error) int {
	own, isOwn := errors.AsType[*failure](err)
	e, isError := errors.AsType[*sluice.Error](err)
	switch {
	case err == nil:
		return 0
	case isOwn:
		return own.code
	case isError && (e.Position.Line > 0 || e.Position.Step != ""):
		return exitFailed
	case isError && isOfSignature(e):
		return exitForbidden // whoever is logged in
	case isError:
		return exitOf[e.Kind]
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	return exitOther
}

// isOfSignature reports whether a webhook refused a call because of its signature, or of the
// certificate that it came with.
func isOfSignature(e *sluice.Error) bool {
	return e.Kind == sluice.Unauthenticated && (strings.HasPrefix(e.Code, "signature-") || strings.HasPrefix(e.Code, "certificate-"))
}

// isOfLogin reports whether another login may help. It does not with webhooks, which
// know no logins.
func isOfLogin(e *sluice.Error) bool {
	return e.Kind == sluice.Unauthenticated && !isOfSignature(e) && e.Code != sluice.CodeTokenInvalid.Word
}

// explain returns an error in one line, with what to do next.
func explain(err error) string {
	text := err.Error()
	e, ok := errors.AsType[*sluice.Error](err)
	switch {
	case ok:
		text = withHint(e)
	case errors.Is(err, context.Canceled):
		text = "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		text = "The time to wait is over; try again with a longer --timeout."
	}
	return view.Printable(strings.Join(strings.Fields(text), " "))
}

func withHint(e *sluice.Error) string {
	text := e.Message
	switch {
	case e.Code == sluice.CodeInvalidGrant.Word:
		text += " Check both and try again."
	case isOfLogin(e) && !strings.Contains(text, "Log in") && !strings.Contains(text, "SLUICE_"):
		text += " " + hintLogin
	case e.Kind == sluice.Throttled && e.RetryAfter > 0:
		text += fmt.Sprintf(" Try again in %s.", e.RetryAfter)
	}
	if e.TraceID != "" {
		text += " (trace id " + e.TraceID + ")"
	}
	return text
}

// failures joins several errors into one, with the exit code of the first.
func failures(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return &failure{code: exitCode(errs[0]), message: fmt.Sprintf("%s (and %d more)", explain(errs[0]), len(errs)-1)}
}

// arguments refuses fewer than least and more than most arguments, and says what
// the verb needs. A most of -1 means any number.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("%s needs %s, as in: %s", cmd.CommandPath(), what, exampleOf(cmd))
		case most == 0 && len(args) > 0:
			return usage("%s takes no argument, and %q is one.", cmd.CommandPath(), args[0])
		case most > 0 && len(args) > most:
			return usage("%s takes %s, and %q is one argument too many.", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// exampleOf returns the first example of a verb, or how it is used.
func exampleOf(cmd *cobra.Command) string {
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return cmp.Or(example, cmd.UseLine())
}

// orVerb refuses arguments of a command that has verbs: they can only be unknown
// verbs.
func orVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownVerb(cmd, args[0])
	}
	return nil
}

// otherVerbs are what other programs call our verbs. Of several suggestions, the
// first one that the typed command has is made.
var otherVerbs = map[string][]string{
	"ls": {"list"}, "get": {"show"}, "describe": {"show"}, "add": {"create"}, "new": {"create"}, "set": {"edit"}, "update": {"edit"},
	"rm": {"delete"}, "remove": {"delete"}, "del": {"delete"}, "create": {"put"}, "edit": {"put"}, "check": {"lint"}, "validate": {"lint"},
	"release": {"admit"}, "accept": {"admit"}, "allow": {"admit"}, "retry": {"replay", "admit"}, "resend": {"replay"}, "redrive": {"replay"},
	"disable": {"edit --disabled", "pause"}, "enable": {"edit --disabled=false", "resume"}, "rotate": {"edit --renew", "put"},
	"tail": {"trace --follow"}, "log": {"trace --follow"}, "logs": {"trace --follow"}, "follow": {"trace --follow"}, "watch": {"trace --follow"},
	"events": {"trace"}, "calls": {"trace"}, "history": {"trace"}, "whoami": {"command iam.whoami"},
}

// irreversible are verbs that are never suggested for a slip, only for another word
// that means the same.
var irreversible = []string{"delete", "rekey", "restore"}

// unknownVerb is the error for a verb that a command does not have.
func unknownVerb(cmd *cobra.Command, name string) error {
	hint := ""
	for _, verb := range otherVerbs[name] {
		if hint == "" && takesVerb(cmd, verb) {
			hint = "did you mean " + verb + "?"
		}
	}
	if hint == "" {
		var names []string
		for _, verb := range cmd.Commands() {
			if !verb.Hidden && !slices.Contains(irreversible, verb.Name()) {
				names = append(names, verb.Name())
			}
		}
		hint = spelling.Hint(name, names, cmd.CommandPath()+" --help lists those there are.")
	}
	return usage("There is no command %q; %s", cmd.CommandPath()+" "+name, hint)
}

// takesVerb reports whether a command has the verb that a line begins with, and the
// flag that may follow.
func takesVerb(cmd *cobra.Command, line string) bool {
	name, rest, _ := strings.Cut(line, " ")
	flag, isFlag := strings.CutPrefix(rest, "--")
	flag, _, _ = strings.Cut(flag, "=")
	return slices.ContainsFunc(cmd.Commands(), func(verb *cobra.Command) bool {
		return verb.Name() == name && !verb.Hidden && (!isFlag || verb.Flags().Lookup(flag) != nil)
	})
}

// usageError says what is wrong with a command line.
func usageError(root, cmd *cobra.Command, args []string, err error) error {
	if own, ok := errors.AsType[*failure](err); ok {
		if strings.Contains(own.message, " --help ") {
			return own // it mentions the help already
		}
		return own.help(cmd)
	}
	if _, _, unknown := root.Find(args); unknown != nil {
		return unknownVerb(root, firstWord(args))
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := wrong.GetFlag()
		return usage("--%s must be %s, not %q.", flag.Name, wanted(flag.Value.Type()), wrong.GetValue()).help(cmd)
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	switch given := cmd.Flags().Args(); {
	case !ok:
		return usage("%v.", err).help(cmd)
	case cmd.HasSubCommands() && len(given) > 0:
		return unknownVerb(cmd, given[0])
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := missing.GetSpecifiedName()
	if short := missing.GetSpecifiedShortnames(); short != "" {
		return usage("%s has no flag -%s.", cmd.CommandPath(), name).help(cmd)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return usage("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, near)
	}
	return usage("%s has no flag --%s.", cmd.CommandPath(), name).help(cmd)
}

// wanted returns in words what a flag of a type takes.
func wanted(flagType string) string {
	words := map[string]string{
		"bool": "true or false", "duration": "a duration such as 30s or 5m",
		"int": "a whole number", "int64": "a whole number", "uint": "a whole number", "uint64": "a whole number", "float64": "a number",
	}
	return cmp.Or(words[flagType], "a "+flagType)
}

// firstWord returns the first argument that is not a flag.
func firstWord(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// helpCommand replaces cobra's help, which suggests nothing for unknown commands.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return unknownVerb(cmd.Root(), args[0])
			case len(rest) > 0 && about.HasSubCommands():
				return unknownVerb(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, noFiles
			}
			for _, verb := range about.Commands() {
				if !verb.Hidden {
					names = append(names, cobra.CompletionWithDesc(verb.Name(), verb.Short))
				}
			}
			return names, noFiles
		},
	}
}
