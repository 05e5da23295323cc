package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

// ForEach calls do for each name, even if some fail, and shows the answers. People
// see the sentence instead, if there is one. A single answer is not shown as a list.
func (t *Terminal) ForEach(names []string, sentence string, do func(string) (client.Answer, error)) error {
	briefly := t.ForPeople() && sentence != ""
	bar := t.Progress(len(names), "")
	defer bar.End()
	var answers []json.RawMessage
	var failed []error
	for _, name := range names {
		answer, err := do(name)
		switch {
		case err != nil:
			failed = append(failed, err)
		case briefly:
			fmt.Fprintf(t.Out, sentence+"\n", view.Printable(name))
		default:
			answers = append(answers, bytes.TrimSpace(answer.Body))
		}
		bar.Steps(1)
	}
	bar.End()
	if len(names) == 1 && len(answers) == 1 {
		return t.Show(answers[0])
	}
	if len(answers) > 0 {
		if err := t.ShowValue(answers); err != nil {
			return err
		}
	}
	return exit.Failures(failed)
}
