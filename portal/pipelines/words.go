package pipelines

import (
	"net/http"
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/value"
)

// editorCheck returns the mistakes in a source while it is typed.
func editorCheck(v *page.Visit) error {
	found, _, err := v.Document("pipeline.lint", "source", v.Entered("source"), "name", v.Query("name"))
	if err != nil {
		return err
	}
	writeJSON(v.W, found)
	return nil
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
		Sections: sluice.SourceSections(), Common: sluice.StepParameters(), Functions: slices.Clone(v.Functions),
		EventKeys: []string{}, Secrets: []string{}, Users: []string{},
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
	const most = "1000"
	for _, list := range []struct {
		command, key string
		to           *[]string
	}{
		{"webhook.get", "eventKey", &words.EventKeys}, {"secret.get", "name", &words.Secrets},
		{"iam.user.get", "username", &words.Users},
	} {
		if !v.May(list.command) {
			continue
		}
		items, _, err := page.Read[[]map[string]any](v, list.command, "limit", most)
		if err != nil {
			return err
		}
		for _, item := range items {
			name, _ := item[list.key].(string)
			*list.to = append(*list.to, name)
		}
	}
	content, err := value.Marshal(words)
	if err != nil {
		return err
	}
	writeJSON(v.W, content)
	return nil
}

func writeJSON(w http.ResponseWriter, content []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content) // an error means that the browser has gone
}
