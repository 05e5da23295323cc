package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/api"
	"sluice/command"
	"sluice/limit"
)

type echoParams struct {
	Text  string `json:"text" required:"true" doc:"What to say."`
	Times int    `json:"times" min:"1" doc:"How often."`
}

type echoed struct {
	Said string `json:"said"`
}

// A command is declared once, like this one, and nowhere else.
func echoCommand() command.Command {
	return command.New("test.echo", "Say something again.",
		func(_ context.Context, p echoParams) (echoed, error) {
			return echoed{strings.Repeat(p.Text, max(1, p.Times))}, nil
		}, command.ReadOnly)
}

func noAudit(context.Context, sluice.AuditEntry) {}

// serveCommands serves commands to a user with the given permissions.
func serveCommands(t *testing.T, permissions []string, commands ...command.Command) string {
	t.Helper()
	server := httptest.NewServer(api.New(api.Options{
		Commands: command.NewSet(noAudit, commands),
		Authenticate: func(http.ResponseWriter, *http.Request) (sluice.User, error) {
			return sluice.User{Name: "someone", Permissions: permissions}, nil
		},
		Slots:  limit.NewSlots(10),
		Users:  limit.NewShares[string](10),
		Bodies: limit.NewBodies(limit.BodyOptions{Pace: limit.Pace{Idle: time.Minute, Total: time.Minute}, Known: 1 << 20, Strange: 1 << 20, Answers: 1 << 20, Unfinished: 10}),
		Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, url string) (status int, content string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

func TestOneDeclarationMakesEndpointPermissionAndDescriptions(t *testing.T) {
	url := serveCommands(t, []string{"test.echo"}, echoCommand())

	t.Run("endpoint", func(t *testing.T) {
		status, content := get(t, url+"/api/v3/command/test.echo?text=ab&times=2")
		if status != http.StatusOK || strings.TrimSpace(content) != `{"said":"abab"}` {
			t.Errorf("got %d %s", status, content)
		}
	})
	t.Run("checks", func(t *testing.T) {
		status, content := get(t, url+"/api/v3/command/test.echo?text=a&tims=2")
		if status != http.StatusBadRequest || !strings.Contains(content, "did you mean times?") {
			t.Errorf("got %d %s", status, content)
		}
	})
	t.Run("permission", func(t *testing.T) {
		status, content := get(t, serveCommands(t, nil, echoCommand())+"/api/v3/command/test.echo?text=a")
		if status != http.StatusForbidden || !strings.Contains(content, "test.echo") {
			t.Errorf("got %d %s", status, content)
		}
	})
	t.Run("OpenAPI", func(t *testing.T) {
		_, content := get(t, strings.Replace(url, "://", "://someone:x@", 1)+"/openapi.json")
		var document struct {
			Paths map[string]map[string]struct {
				Summary    string `json:"summary"`
				Permission string `json:"x-permission"`
				Parameters []struct {
					Name     string `json:"name"`
					Required bool   `json:"required"`
				} `json:"parameters"`
				Body struct {
					Required bool `json:"required"`
				} `json:"requestBody"`
			} `json:"paths"`
			Components struct {
				Schemas map[string]struct {
					Required []string `json:"required"`
				} `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal([]byte(content), &document); err != nil {
			t.Fatal(err)
		}
		for method, op := range document.Paths["/api/v3/command/test.echo"] {
			if op.Summary != "Say something again." || op.Permission != "test.echo" {
				t.Errorf("%s is described as %+v", method, op)
			}
		}
		op := document.Paths["/api/v3/command/test.echo"]["get"]
		if len(op.Parameters) != 2 || op.Parameters[0].Name != "text" || !op.Parameters[0].Required || op.Parameters[1].Required {
			t.Errorf("GET is described as %+v", op)
		}
		op = document.Paths["/api/v3/command/test.echo"]["post"]
		if required := document.Components.Schemas["TestEchoParameters"].Required; len(op.Parameters) != 0 || !op.Body.Required || len(required) != 1 || required[0] != "text" {
			t.Errorf("POST is described as %+v with %v", op, required)
		}
	})
}

type listParams struct {
	Names  []string       `json:"names" doc:"A list."`
	Object map[string]any `json:"object" doc:"An object."`
	Flag   *bool          `json:"flag" doc:"A flag."`
	Number int            `json:"number" doc:"A number."`
	Text   string         `json:"text" doc:"A text."`
	After  string         `json:"after" doc:"Where the page begins."`
}

// TestTheNextPageHasTheSameArguments: the Link to the next page says in a URL what
// the arguments of this one were, in whichever form they came.
func TestTheNextPageHasTheSameArguments(t *testing.T) {
	url := serveCommands(t, []string{"*"}, command.New("test.list", "List the parameters.",
		func(_ context.Context, p listParams) (any, error) {
			return command.Page[listParams]{Items: []listParams{p}, Next: "x"}, nil
		}, command.ReadOnly))
	const arguments = `"names":["a","b c"],"object":{"a":[1,"b"]},"flag":true,"number":7,"text":"a&b, [c]","after":`
	answer, err := http.Post(url+"/api/v3/command/test.list", "application/json", strings.NewReader("{"+arguments+"null}"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	link, _, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("Link"), "<"), ">")
	if _, content := get(t, url+link); strings.TrimSpace(content) != "[{"+arguments+`"x"}]` {
		t.Errorf("%s gives %s", link, content)
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	url := serveCommands(t, []string{"*"}, command.New("test.panic", "Panic.",
		func(context.Context, struct{}) (any, error) { panic("secret") }, command.ReadOnly))
	for range 2 {
		status, content := get(t, url+"/api/v3/command/test.panic")
		if status != http.StatusInternalServerError || strings.Contains(content, "secret") || !strings.Contains(content, `"code":"internal"`) {
			t.Errorf("got %d %s", status, content)
		}
	}
}
