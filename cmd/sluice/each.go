package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sluice/client"
)

// forEach does something with each of several things, even if some fail, and
// shows the answers; people see a sentence for each, if there is one. A single
// thing is shown alone, not as a list.
func (t *terminal) forEach(names []string, sentence string, do func(string) (client.Answer, error)) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	told := form == "table" && sentence != ""
	bar := t.progress(len(names), "")
	defer bar.end()
	var answers []json.RawMessage
	var failed []error
	for _, name := range names {
		answer, err := do(name)
		switch {
		case err != nil:
			failed = append(failed, err)
		case told:
			fmt.Fprintf(t.out, sentence+"\n", printable(name))
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
