package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/terminal"
	"sluice/serve"
)

// TestEveryVerbDoesSomething: each verb has what it does or verbs below it, no word is left to be filled in, and each
// function is what some verb does.
func TestEveryVerbDoesSomething(t *testing.T) {
	t.Parallel()
	c := &cli{Terminal: &terminal.Terminal{Commands: serve.Commands()}}
	does, described := c.verbs(), string(verbsFile)
	for name := range does {
		last := regexp.MustCompile(`\S+$`).FindString(name)
		if !regexp.MustCompile(`(does|name): (` + name + `|` + last + `)\b`).MatchString(described) {
			t.Errorf("no verb does %q", name)
		}
	}
	unfilled := regexp.MustCompile(`\$[a-zA-Z]`)
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.RunE == nil && cmd.HasParent() && cmd.Name() != "exit-codes" && cmd.Name() != "help" {
			t.Errorf("%s does nothing", cmd.CommandPath())
		}
		if text := cmd.Use + cmd.Short + cmd.Long; unfilled.MatchString(text) {
			t.Errorf("%s: %s", cmd.CommandPath(), text)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" && !f.Hidden {
				t.Errorf("%s --%s says nothing of itself", cmd.CommandPath(), f.Name)
			}
		})
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(c.rootCommand())
}

// TestFlagsAreDescribed: a flag that a verb reads is one that the file describes, or a parameter of a command.
func TestFlagsAreDescribed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	more, moreErr := filepath.Glob("terminal/*.go")
	if err != nil || moreErr != nil {
		t.Fatal(err, moreErr)
	}
	known := make(map[string]bool)
	for _, cmd := range serve.Commands().All() {
		for _, p := range cmd.Params {
			known[terminal.FlagOf(p.Name)] = true
		}
	}
	for _, flag := range regexp.MustCompile(`name: "?([a-z-]+)`).FindAllStringSubmatch(string(verbsFile), -1) {
		known[flag[1]] = true
	}
	for _, name := range append(files, more...) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range regexp.MustCompile(`\.(?:On|Texts?|Duration)\("([^"]*)"\)`).FindAllSubmatch(source, -1) {
			if !known[string(read[1])] {
				t.Errorf("%s reads the flag %s, which nothing describes", name, read[1])
			}
		}
	}
}
