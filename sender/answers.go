package sender

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"sluice"
	"sluice/value"
)

// Answers are how calls are answered.
type Answers struct {
	Form  sluice.AnswerForm `yaml:"form"`  // "": as usual
	Type  string            `yaml:"type"`  // content type of values; "": as usual
	None  string            `yaml:"none"`  // body where there is no value
	Texts bool              `yaml:"texts"` // only texts are values
	Late  bool              `yaml:"late"`  // there is no value, rather than a result, where pipelines are late
	Words string            `yaml:"words"` // what a sender demands, for people
}

// Of returns the answer to a call, and sets its content type; a nil body means that the answer
// is the result itself.
func (a Answers) Of(result *sluice.Result, header http.Header) (status int, body []byte) {
	late := result.Status == sluice.StatusProcessing
	switch {
	case a.Form == sluice.AnswerEmpty || a.Form == sluice.AnswerValue && late && a.Late:
		return a.none(header)
	case a.Form != sluice.AnswerValue:
		return http.StatusOK, nil
	case late:
		return http.StatusAccepted, nil
	case result.Error != nil:
		text, err := value.Marshal(result.Error)
		if err != nil {
			panic(err) // it has texts and numbers alone
		}
		header["Content-Type"] = []string{"application/problem+json"}
		return result.Error.Status, text
	case result.Unheard || len(result.Value) == 0 || bytes.Equal(result.Value, []byte("null")):
		return a.none(header)
	}
	var text string
	if result.Value[0] == '"' && json.Unmarshal(result.Value, &text) == nil {
		header["Content-Type"] = []string{cmp.Or(a.Type, "text/plain; charset=utf-8")}
		return http.StatusOK, []byte(text)
	}
	if a.Texts {
		return a.none(header)
	}
	header["Content-Type"] = []string{cmp.Or(a.Type, "application/json")}
	return http.StatusOK, result.Value
}

// none is the answer where there is no value.
func (a Answers) none(header http.Header) (status int, body []byte) {
	if a.None != "" {
		header["Content-Type"] = []string{cmp.Or(a.Type, "text/plain; charset=utf-8")}
	}
	return http.StatusOK, []byte(a.None)
}
