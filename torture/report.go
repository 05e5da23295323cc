package main

import (
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
)

// figures returns what the ledger says in one line.
func (t *trial) figures() string {
	l := t.ledger
	results, repeated := l.results()
	return fmt.Sprintf("%d calls acked, %d lost, %d duplicated, %d not found by trace id; %d results, %d lost, %d "+
		"runs repeated; %d changes of webhooks, %d lost",
		len(l.receipts), len(l.lostCalls), t.duplicated, len(l.lostTraces), results, len(l.lostResults), repeated,
		l.hooks.answers, l.hooks.lost)
}

// verdict says in a few words what a trial has shown; its error says that this
// is wrong.
func (t *trial) verdict() (string, error) {
	lost := losses{
		calls: len(t.ledger.lostCalls) > 0, results: len(t.ledger.lostResults) > 0,
		traces: len(t.ledger.lostTraces) > 0,
	}
	switch {
	case t.done == t.cycles && !lost.cover(t.mustLose):
		return "BLIND", fmt.Errorf("%s: nothing was lost: the test can't detect loss", t.name)
	case lost != losses{} && t.mustLose.cover(lost):
		return "ok: loss is noticed", nil
	case lost != losses{} || t.ledger.hooks.lost > 0:
		return "LOST", fmt.Errorf("%s: acknowledged data was lost", t.name)
	case t.duplicated > 0 || t.ledger.twice > 0:
		return "TWICE", fmt.Errorf("%s: %d calls are there more than once, %d were taken for new ones when they were "+
			"made again", t.name, t.duplicated, t.ledger.twice)
	case t.done < t.cycles:
		return "FAILED", nil // run has told why
	default:
		return "ok", nil
	}
}

// printTable prints a line for each trial. Its error tells which of them are
// not as they should be.
func printTable(trials []*trial) error {
	var failed error
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\n\tcycles\tacked\tlost\tduplicated\tnot found\tresults\tresults lost\truns "+
		"repeated\tchanges\tchanges lost\t")
	for _, t := range trials {
		verdict, err := t.verdict()
		failed = errors.Join(failed, err)
		l := t.ledger
		results, repeated := l.results()
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n",
			t.name, t.done, len(l.receipts), len(l.lostCalls), t.duplicated, len(l.lostTraces), results,
			len(l.lostResults), repeated, l.hooks.answers, l.hooks.lost, verdict)
	}
	return errors.Join(failed, w.Flush())
}
