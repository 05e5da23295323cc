package pipelines

import (
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/value"
)

// editorCheck returns the mistakes in a source while it is typed.
func editorCheck(v *page.Visit) error {
	found, _, err := v.Document("pipeline.lint", "source", v.Entered("source"), "name", v.Query("name"))
	v.Fail(err)
	return sendJSON(v, found)
}

// words are what the editor completes.
type words struct {
	Sections  []sluice.Word `json:"sections"`
	Common    []sluice.Word `json:"common"` // parameters of every step
	Commands  []wordCommand `json:"commands"`
	EventKeys []string      `json:"eventKeys"`
	Secrets   []string      `json:"secrets"`
	Users     []string      `json:"users"`
	Functions []sluice.Word `json:"functions"`
}

type wordCommand struct {
	Name    string      `json:"name"`
	Summary string      `json:"summary"`
	Allowed bool        `json:"allowed"`
	Params  []wordParam `json:"params"`
}

type wordParam struct {
	sluice.Word

	Required bool     `json:"required,omitempty"`
	Values   []string `json:"values,omitempty"` // the allowed ones, if they are few
}

// wordList sends the words that the user can use.
func wordList(v *page.Visit) error {
	words := words{
		Sections: sluice.SourceWords().Sections, Common: sluice.SourceWords().Parameters,
		Functions: slices.Clone(v.Functions),
	}
	for _, cmd := range v.Commands.All() {
		if cmd.Endpoint != nil {
			continue
		}
		word := wordCommand{Name: cmd.Name, Summary: cmd.Summary, Allowed: cmd.Allows(v.User), Params: []wordParam{}}
		for _, param := range cmd.Params {
			values := param.Enum
			if param.Type == "boolean" {
				values = []string{"true", "false"}
			}
			word.Params = append(word.Params, wordParam{
				sluice.Word{Name: param.Name, Doc: param.Doc}, param.Required, values,
			})
		}
		words.Commands = append(words.Commands, word)
		if group, _, _ := strings.Cut(cmd.Name, "."); group == "convert" || group == "crypto" {
			words.Functions = append(words.Functions, sluice.Word{Name: cmd.Name, Doc: cmd.Summary})
		}
	}
	words.EventKeys = namesIn(v, "webhook.get", func(w sluice.WebhookView) string { return w.EventKey })
	words.Secrets = namesIn(v, "secret.get", func(s sluice.SecretView) string { return s.Name })
	words.Users = namesIn(v, "iam.user.get", func(u sluice.UserView) string { return u.Username })
	content, err := value.Marshal(words)
	v.Fail(err)
	return sendJSON(v, content)
}

// namesIn returns the names of what a command lists, if the user may see them.
func namesIn[T any](v *page.Visit, list string, name func(T) string) []string {
	const most = "1000"
	found := page.AskIfAllowed[[]T](v, list, "limit", most)
	names := make([]string, len(found))
	for i, item := range found {
		names[i] = name(item)
	}
	return names
}

// sendJSON answers with a document, unless the page has failed.
func sendJSON(v *page.Visit, content []byte) error {
	if !v.Failed() {
		v.W.Header().Set("Content-Type", "application/json")
		_, _ = v.W.Write(content) // an error means that the browser has gone
	}
	return nil
}
