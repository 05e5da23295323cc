package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sluice/client"
	"sluice/cmd/sluice/view"
)

// forEach calls do for each name, even if some fail, and shows the answers. People
// see the sentence instead, if there is one. A single answer is not shown as a list.
func (t *terminal) forEach(names []string, sentence string, do func(string) (client.Answer, error)) error {
	briefly := t.forPeople() && sentence != ""
	bar := t.progress(len(names), "")
	defer bar.end()
	var answers []json.RawMessage
	var failed []error
	for _, name := range names {
		answer, err := do(name)
		switch {
		case err != nil:
			failed = append(failed, err)
		case briefly:
			fmt.Fprintf(t.out, sentence+"\n", view.Printable(name))
		default:
			answers = append(answers, bytes.TrimSpace(answer.Body))
		}
		bar.step()
	}
	bar.end()
	if len(names) == 1 && len(answers) == 1 {
		return t.show(answers[0])
	}
	if len(answers) > 0 {
		if err := t.showValue(answers); err != nil {
			return err
		}
	}
	return failures(failed)
}
