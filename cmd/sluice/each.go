package main

import (
	"bytes"
	"encoding/json"

	"sluice/client"
)

// forEach does something with each of several things, as far as it goes, and
// shows what was answered. One thing alone stands for itself.
func (t *terminal) forEach(names []string, do func(string) (client.Answer, error)) error {
	bar := t.progress(len(names), "")
	defer bar.end()
	var answers []json.RawMessage
	var failed []error
	for _, name := range names {
		answer, err := do(name)
		if err != nil {
			failed = append(failed, err)
		} else {
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
