package page

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"sluice"
	"sluice/command"
)

// TestAPageFailsWithItsFirstError: from then on it runs no command, shows nothing and leads nowhere. What it only
// tries, or can do without, lets it go on.
func TestAPageFailsWithItsFirstError(t *testing.T) {
	t.Parallel()
	ran, first := 0, sluice.CodeCallUnknown.Errorf("There is no such call.")
	none := func(context.Context, struct{}) (int, error) { return 0, first }
	works := func(context.Context, struct{}) (int, error) { ran++; return 7, nil }
	commands := command.NewSet(func(context.Context, sluice.AuditEntry) {}, []command.Command{
		command.New("trace.get", "Fails.", none, command.ReadOnly), command.New("webhook.put", "Works.", works),
	})
	user := sluice.User{Name: "ada", Permissions: []string{"*"}}
	answer := httptest.NewRecorder()
	v := &Visit{Site: &Site{Options: Options{Commands: commands}}, W: answer, User: user}
	v.R = httptest.NewRequestWithContext(sluice.WithUser(t.Context(), user), "POST", "/", nil)
	if _, err := Try[int](v, "trace.get"); !errors.Is(err, first) || v.Failed() || Glance[int](v, "trace.get") != 0 {
		t.Fatalf("a try fails with %v, and the page: %v", err, v.Failed())
	}
	if Ask[int](v, "webhook.put") != 7 || v.Failed() {
		t.Fatal("the page does not go on")
	}
	if Ask[int](v, "trace.get"); !v.Failed() {
		t.Fatal("the page goes on without what it needs")
	}
	v.Fail(sluice.CodeLetterUnknown.Errorf("Another error."))
	_, err := v.Run("webhook.put")
	for _, err := range []error{err, v.Show("call", "Call", nil), v.Redirect("/"), v.RunThen("/", "webhook.put")} {
		if !errors.Is(err, first) {
			t.Errorf("it fails with %v, not with the first error", err)
		}
	}
	if ran != 1 || answer.Header().Get("Location") != "" || answer.Body.Len() > 0 {
		t.Errorf("%d commands ran; %v %s", ran, answer.Header(), answer.Body)
	}
}
