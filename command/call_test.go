package command_test

import (
	"context"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
)

// TestLongListsInTheAuditLog: an entry has the first names of a list, and how many
// there are beside.
func TestLongListsInTheAuditLog(t *testing.T) {
	type params struct {
		Names []string `json:"names" audit:"yes" doc:"Whom to greet."`
	}
	greetAll := command.New("test.greet.all", "Greet some.", func(context.Context, params) (bool, error) { return true, nil })
	for names, end := range map[string]string{
		"ada,bob":                           "ada,bob",
		strings.Repeat("ada,", 99) + "bob":  ",ada,bob",
		strings.Repeat("ada,", 299) + "bob": ",ada,(200 more)",
	} {
		target := ""
		set := command.NewSet(func(_ context.Context, e sluice.AuditEntry) { target = e.Target }, []command.Command{greetAll})
		if _, err := set.Call(as("*"), greetAll, command.Args{{Name: "names", Value: command.Text(names)}}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(target, end) || len(target) > 600 {
			t.Errorf("the entry names %q, want it to end with %q", target, end)
		}
	}
}
