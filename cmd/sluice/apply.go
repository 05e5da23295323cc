package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

// An applying is how a folder is applied.
type applying struct {
	manifest.Options

	dryRun, check bool

	tokens string // file
}

func applyCommand(t *cli) *cobra.Command {
	var a applying
	cmd := &cobra.Command{
		Use:   "apply DIR",
		Short: "Make the server as files say",
		Long: `Make the server as files say that sluice export wrote, or you did. What differs is shown, and changed
			if you agree. The name of a file is the event key of the webhook, or the name of the pipeline, role or
			client; what a file does not say is as it is by default. Kinds without a folder in DIR are left alone, as
			are built-in roles, users and secrets. Nothing is changed if anything would be refused. The URLs of new
			webhooks and the secrets of new clients are printed. With --tokens webhooks get the tokens that sluice
			export --tokens wrote, and so their URLs at another server.`,
		Example: "  sluice apply config\n  sluice apply config --prune --yes\n  sluice apply config --check",
		Args:    terminal.Needs("the folder with the files"),
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			return t.applyFolder(ctx, args[0], a)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&a.Prune, "prune", false, "delete what is in no file, of the kinds that have a folder")
	flags.BoolVar(&a.dryRun, "dry-run", false, "show what would be changed, and change nothing")
	flags.BoolVar(&a.check, "check", false,
		"show what would be changed, and end with exit code 7 if there is something")
	flags.BoolVar(&a.Force, "force", false, "store pipelines although steps would be refused when they run")
	flags.StringVar(&a.tokens, "tokens", "", "give webhooks the tokens in this file")
	t.AddYes(cmd)
	return cmd
}

// An applied is what programs see of apply.
type applied struct {
	*manifest.Plan

	Applied bool `json:"applied"`
}

func (t *cli) applyFolder(ctx context.Context, dir string, a applying) error {
	var err error
	if a.tokens != "" {
		if a.Tokens, err = manifest.ReadTokens(dir, a.tokens); err != nil {
			return err
		}
	}
	plan, err := manifest.Compare(ctx, t.Server, dir, a.Options)
	if err != nil {
		return t.explainRefusals(dir, err)
	}
	t.explainPlan(dir, plan)
	switch {
	case len(plan.Changes) == 0:
		return t.Report(applied{Plan: plan}, "Nothing has changed.")
	case a.check:
		if err := t.showPlan(plan); err != nil {
			return err
		}
		return exit.Errorf(exit.Conflict, "The server is not as the files say: %s.", tally(plan))
	case a.dryRun:
		return t.showPlan(plan)
	}
	if err := t.Confirm(ctx, "Make these changes ("+tally(plan)+")?"); err != nil {
		return err
	}
	return fromFolder(dir, t.carryOut(ctx, plan))
}

// explainRefusals shows people all that a plan is refused for.
func (t *cli) explainRefusals(dir string, err error) error {
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil || len(joined.Unwrap()) < 2 {
		return fromFolder(dir, err)
	}
	refused := joined.Unwrap()
	for _, e := range refused {
		t.Sayf("%s", fromHere(dir, e.Error()))
	}
	return exit.Errorf(exit.CodeOf(refused[0]), "%d things would be refused, so nothing is changed.", len(refused))
}

// fromFolder puts the folder before the names of its files in an error, so that
// editors find them.
func fromFolder(dir string, err error) error {
	e, ok := errors.AsType[*sluice.Error](err)
	if !ok {
		return err
	}
	return e.Saying(fromHere(dir, e.Message))
}

var fileName = regexp.MustCompile(`(?i)[^\s:"]+\.(ya?ml|json)\b`)

// fromHere puts the folder before the names of its files in a text.
func fromHere(dir, text string) string {
	return fileName.ReplaceAllStringFunc(text, func(name string) string {
		reached := filepath.Join(dir, name)
		if _, err := os.Stat(reached); err != nil {
			return name // the folder has no such file
		}
		return reached
	})
}

// explainPlan shows people what the changes of a plan are about.
func (t *cli) explainPlan(dir string, plan *manifest.Plan) {
	for _, change := range plan.Changes {
		if change.Tokens > 0 && change.Action == manifest.Update {
			t.Sayf("%s of the webhook %s to open or close.", view.Counted(change.Tokens, "token"), change.Name)
		}
		if before, after := change.Sources(); before != after {
			fmt.Fprint(t.Err, view.Diff(change.Resource+" "+change.Name, before, after, terminal.Colours(t.Err)))
		}
		for i, warning := range change.Warnings {
			change.Warnings[i] = fromHere(dir, warning)
			t.Sayf("warning: %s", change.Warnings[i])
		}
	}
	if n := len(plan.Left); n > 0 {
		t.Notef("The server has %s in no file; --prune deletes what is in none.", view.Counted(n, "thing"))
	}
}

func (t *cli) showPlan(plan *manifest.Plan) error {
	return t.Report(applied{Plan: plan}, "To be done: %s.", tally(plan))
}

// carryOut makes the changes of a plan. If one fails, those that stay are shown all the same: the
// server shows their secrets only once.
func (t *cli) carryOut(ctx context.Context, plan *manifest.Plan) error {
	made, failed := plan.Apply(ctx, t.Server)
	if failed != nil && len(made) == 0 {
		return failed
	}
	done := applied{&manifest.Plan{Changes: made, Left: plan.Left}, true}
	err := t.Present(done, func(w io.Writer) {
		for _, change := range made {
			fmt.Fprintln(w, view.Printable(describeChange(change)))
		}
	})
	return cmp.Or(failed, err)
}

func describeChange(change *manifest.Change) string {
	done := map[string]string{
		manifest.Create: "Created", manifest.Update: "Changed", manifest.Delete: "Deleted",
	}[change.Action]
	text := fmt.Sprintf("%s the %s %s.", done, change.Resource, change.Name)
	switch {
	case change.WebhookURL != "":
		text += " Its URL: " + change.WebhookURL
	case change.Secret != "":
		text += " Its secret, which is not shown again: " + change.Secret
	}
	return text
}

// tally counts the changes of a plan, as in 2 to create, 1 to delete.
func tally(plan *manifest.Plan) string {
	counts := make(map[string]int)
	for _, change := range plan.Changes {
		counts[change.Action]++
	}
	var parts []string
	for _, action := range []string{manifest.Create, manifest.Update, manifest.Delete} {
		if n := counts[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", n, action))
		}
	}
	return strings.Join(parts, ", ")
}
