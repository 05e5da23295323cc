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

	"sluice"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/manifest"
)

func (t *cli) apply(ctx context.Context) error {
	dir, o := t.Args[0], manifest.Options{Prune: t.On("prune"), Force: t.On("force")}
	var err error
	if file := t.Text("tokens"); file != "" {
		if o.Tokens, err = manifest.ReadTokens(dir, file); err != nil {
			return err
		}
	}
	plan, err := manifest.Compare(ctx, t.Server, dir, o)
	if err != nil {
		return t.explainRefusals(dir, err)
	}
	t.explainPlan(dir, plan)
	switch {
	case len(plan.Changes) == 0:
		return t.Report(applied{Plan: plan}, "Nothing has changed.")
	case t.On("check"):
		if err := t.showPlan(plan); err != nil {
			return err
		}
		return exit.Errorf(exit.Conflict, "The server is not as the files say: %s.", tally(plan))
	case t.On("dry-run"):
		return t.showPlan(plan)
	}
	if err := t.Confirm(ctx, "Make these changes ("+tally(plan)+")?"); err != nil {
		return err
	}
	return fromFolder(dir, t.carryOut(ctx, plan))
}

// An applied is what programs see of apply.
type applied struct {
	*manifest.Plan

	Applied bool `json:"applied"`
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
	made, failed := plan.Apply(ctx)
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
