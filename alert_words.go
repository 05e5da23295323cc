package sluice

import (
	_ "embed"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// AlertWords are what people are told of alerts of a kind.
type AlertWords struct {
	Kind  AlertKind
	About string // what the subject is: pipeline, webhook or server
	Page  string // of the portal, on which it can be looked at
	Title string // what is wrong
	Over  string // that it is not any more
	Do    []Advice
	Least string // what atLeast of a rule can be, as a regular expression
}

// Advice is a sentence on what to do about an alert, for those who may run a command.
type Advice struct{ May, Text string }

// DoBy returns the advice for somebody who may run some commands.
func (w *AlertWords) DoBy(may func(command string) bool) string {
	var said []string
	for _, advice := range w.Do {
		if advice.May == "" || may(advice.May) {
			said = append(said, advice.Text)
		}
	}
	if len(said) < len(w.Do) {
		said = append(said, "The rest takes another role, such as developer.")
	}
	return strings.Join(said, " ")
}

//go:embed alerts.json
var alertTable []byte

// alertWords are those of each kind, with %s where the subject stands.
var alertWords = sync.OnceValue(func() []AlertWords { return table[[]AlertWords](alertTable) })

// Enum returns the kinds of alerts.
func (AlertKind) Enum() (kinds []string) {
	for _, w := range alertWords() {
		kinds = append(kinds, string(w.Kind))
	}
	return kinds
}

// words returns what people are told of alerts of this kind, nothing if there is no such kind.
func (k AlertKind) words() (words AlertWords) {
	for _, w := range alertWords() {
		if w.Kind == k {
			return w
		}
	}
	return words
}

// Words returns what people are told of alerts of this kind about a subject.
func (k AlertKind) Words(subject string) AlertWords {
	w := k.words()
	if w.About == "server" && subject != "" {
		w.Title += " (%s)"
		w.Over += " (%s)"
	}
	w.Page = strings.ReplaceAll(w.Page, "%s", url.QueryEscape(subject))
	fill := strings.NewReplacer("%s", subject).Replace
	w.Title, w.Over, w.Do = fill(w.Title), fill(w.Over), slices.Clone(w.Do)
	for i := range w.Do {
		w.Do[i].Text = fill(w.Do[i].Text)
	}
	return w
}

// An AlertRule says when a condition counts. Of several that fit a subject, the most exact one
// counts, and alone.
type AlertRule struct {
	Kind    AlertKind `json:"kind" doc:"Which alerts it is about."`
	Subject string    `json:"subject" doc:"A pipeline's name, an event key or a host; with a * at its end, all that begin so."`
	After   Period    `json:"after" doc:"How long the condition must hold."`
	AtLeast string    `json:"atLeast,omitempty" doc:"From how many calls, letters or events on, or from which percentage of the last five minutes."`
	Off     bool      `json:"off,omitempty" doc:"There is no such alert."`
	Default bool      `json:"default,omitempty" doc:"Nobody has stored it."`
}

// Exactness says how exactly the rule fits a subject: the greater the more, 0 not at all.
func (r *AlertRule) Exactness(subject string) int {
	start, open := strings.CutSuffix(r.Subject, "*")
	switch {
	case start == subject && !open:
		return 2*len(start) + 2
	case open && strings.HasPrefix(subject, start):
		return 2*len(start) + 1
	}
	return 0
}
