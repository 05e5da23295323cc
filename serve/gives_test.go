package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sluice/command"
	"sluice/serve"
)

// TestEachCommandHasATrueExample: it is called with parameters that the command has, the answer has
// the members of its type and no others, and is what the command gives where it needs nothing but
// its parameters.
func TestEachCommandHasATrueExample(t *testing.T) {
	t.Parallel()
	s := start(t)
	document := description(t, s)
	for _, cmd := range serve.Commands().All() {
		t.Run(cmd.Name, func(t *testing.T) {
			example := cmd.Example()
			var given map[string]any
			if err := yaml.Unmarshal([]byte(example.Call), &given); err != nil || example.Call == "" {
				t.Fatalf("the call is %q: %v", example.Call, err)
			}
			body, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			checkGiven(t, cmd, given)
			typed := slices.ContainsFunc(cmd.Results, func(r reflect.Type) bool { return r.Kind() != reflect.Interface })
			if typed == (example.Gives != "") && cmd.Name != "server.settings" && !cmd.Download {
				t.Errorf("what it gives is said by its type, or by the example: %q", example.Gives)
			}
			if example.Answer == "" {
				if typed && !cmd.Download {
					t.Error("it has no answer")
				}
				return
			}
			var answer any
			if err := json.Unmarshal([]byte(example.Answer), &answer); err != nil {
				t.Fatal(err)
			}
			content := document.Paths.Value("/api/v3/command/" + cmd.Name).Post.Responses.Value("200").Value.Content["application/json"]
			if err := content.Schema.Value.VisitJSON(answer); err != nil {
				t.Error(err)
			}
			if typed && !slices.ContainsFunc(cmd.Results, func(r reflect.Type) bool { return fits(r, example.Answer) }) {
				t.Error("the answer has a member that its type does not have")
			}
			if cmd.Pure && !cmd.InRun && !cmd.Trigger {
				got := s.send("POST", "/api/v3/command/"+cmd.Name, bytes.NewReader(body), asAdmin,
					header("Content-Type", "application/json")).wantStatus(t, http.StatusOK)
				var actual any
				if err := json.Unmarshal(got.body, &actual); err != nil || !reflect.DeepEqual(actual, answer) {
					t.Errorf("it gives %s", got.body)
				}
			}
		})
	}
}

// checkGiven checks the parameters of an example.
func checkGiven(t *testing.T, cmd command.Command, given map[string]any) {
	t.Helper()
	for _, p := range cmd.Params {
		arg, ok := given[p.Name]
		if delete(given, p.Name); !ok {
			if p.Required && p.Body == "" {
				t.Errorf("%s is required", p.Name)
			}
			continue
		}
		if text, isText := arg.(string); isText && !strings.Contains(text, "#{") || !isText {
			if _, err := p.Check(arg); err != nil {
				t.Error(err)
			}
		}
	}
	for name := range given {
		t.Errorf("there is no parameter %s", name)
	}
}

// fits reports whether a type has all members of an answer.
func fits(r reflect.Type, answer string) bool {
	decoder := json.NewDecoder(bytes.NewReader([]byte(answer)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(reflect.New(r).Interface()) == nil
}

// TestEachMemberOfAnAnswerIsExplained in the description.
func TestEachMemberOfAnAnswerIsExplained(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(start(t).send("GET", "/openapi.json", nil, asAdmin).body, &document); err != nil {
		t.Fatal(err)
	}
	for name, schema := range document.Components.Schemas {
		for member, of := range schema.Properties {
			if of.Description == "" {
				t.Errorf("nobody says what %s of %s is", member, name)
			}
		}
	}
}
