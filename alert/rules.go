package alert

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
)

type putParams struct {
	Kind    sluice.AlertKind `json:"kind" required:"true" audit:"yes" doc:"Which alerts it is about."`
	Subject string           `json:"subject" names:"listed" audit:"yes" doc:"The pipeline's name, the event key or the host; with a * at its end, all that begin so. Default *."`
	After   *time.Duration   `json:"after" max:"24h" audit:"yes" doc:"How long the condition must hold, from 10s. Default 1m."`
	AtLeast string           `json:"atLeast" audit:"yes" doc:"From how many on: events that wait (backlog), dead letters (dead-letters), failed runs (pipeline-failing) or refused calls (quarantine) of the last 5 minutes; the latter two also as a percentage, such as 20%."`
	Off     bool             `json:"off" audit:"yes" doc:"Raise no such alert, and tell nothing of it."`
}

const shortestAfter = 10 * time.Second

var validSubject = regexp.MustCompile(`^[A-Za-z0-9._-]{0,200}\*?$`)

func (w *Alerts) put(ctx context.Context, p putParams) (sluice.AlertRule, error) {
	rule := sluice.AlertRule{
		Kind: p.Kind, Subject: cmp.Or(p.Subject, "*"), AtLeast: p.AtLeast, Off: p.Off,
	}
	if p.After != nil {
		rule.After = sluice.Period(*p.After)
	}
	if err := check(&rule, p.After != nil); err != nil {
		return rule, err
	}
	if !sluice.CoverFrom(ctx).Alert(rule.Kind, rule.Subject) {
		return rule, sluice.NotCovered("alert.put", rule.Subject).About("subject")
	}
	key := string(p.Kind) + " " + rule.Subject
	if p.After == nil && p.AtLeast == "" && !p.Off {
		return w.usual(rule.Kind, rule.Subject), sluice.Remove(ctx, w.Rules, key)
	}
	rule.After = cmp.Or(rule.After, sluice.Period(w.After))
	return rule, sluice.Put(ctx, w.Rules, key, &rule)
}

// check refuses a rule that means nothing.
func check(r *sluice.AlertRule, hasAfter bool) error {
	switch {
	case !validSubject.MatchString(r.Subject):
		return sluice.InvalidParameter("subject", "The parameter subject must be a name, perhaps with a * at its end.")
	case hasAfter && (r.Kind == sluice.AlertClosed || time.Duration(r.After) < shortestAfter):
		return sluice.InvalidParameter("after", "The parameter after must be a duration from 10s to 24h; alerts of "+
			"the kind closed are told at once.")
	case !regexp.MustCompile("^(" + r.Kind.Words("").Least + ")?$").MatchString(r.AtLeast):
		return sluice.InvalidParameter("atLeast", "The parameter atLeast does not fit %s: backlog and dead-letters "+
			"take a number such as 10, pipeline-failing and quarantine also a percentage such as 20%%, others nothing.",
			r.Kind)
	}
	return nil
}

func (w *Alerts) rules(ctx context.Context, _ struct{}) (sluice.List[sluice.AlertRule], error) {
	cover := sluice.CoverFrom(ctx)
	all := []sluice.AlertRule{}
	for _, r := range w.Rules.All() {
		all = append(all, *r)
	}
	for _, kind := range sluice.AlertKind("").Enum() {
		if r := w.rule(sluice.AlertKind(kind), "*"); r.Default {
			all = append(all, r)
		}
	}
	all = slices.DeleteFunc(all, func(r sluice.AlertRule) bool {
		ofAll := r.Subject == "*" && !ofServer(r.Kind)
		return !ofAll && !cover.Alert(r.Kind, r.Subject)
	})
	slices.SortStableFunc(all, func(a, b sluice.AlertRule) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return sluice.List[sluice.AlertRule]{Items: all}, nil
}

// usual returns what holds where there is no rule.
func (w *Alerts) usual(kind sluice.AlertKind, subject string) sluice.AlertRule {
	return sluice.AlertRule{Kind: kind, Subject: subject, After: sluice.Period(w.After), Default: true}
}

// rule returns what holds for a kind and subject.
func (w *Alerts) rule(kind sluice.AlertKind, subject string) sluice.AlertRule {
	found, best := w.usual(kind, subject), 0
	for _, r := range w.Rules.All() {
		if fits := r.Exactness(subject); r.Kind == kind && fits > best {
			found, best = *r, fits
		}
	}
	return found
}

// counting returns the conditions that count by the rules.
func (w *Alerts) counting(conditions []Condition, now time.Time) (counting []Condition) {
	if len(w.Rules.All()) > 0 {
		w.recent.note(w.Hours(recentHours), now)
	}
	for _, c := range conditions {
		rule := w.rule(c.Kind, c.Subject)
		if !rule.Off && w.enough(c, rule.AtLeast) {
			c.after = time.Duration(rule.After)
			counting = append(counting, c)
		}
	}
	return counting
}

// enough reports whether a condition is about as many things as a rule says.
func (w *Alerts) enough(c Condition, atLeast string) bool {
	least, isShare := strings.CutSuffix(atLeast, "%")
	wanted, _ := strconv.Atoi(least) // nothing is 0
	figures := w.recent.figures(c.key())
	amount := c.amount
	if c.Kind == sluice.AlertPipelineFailing {
		amount = figures.Errors
	}
	switch {
	case c.Kind == sluice.AlertPipelineFailing && figures.Runs == 0:
		return true // it failed before this server started, and has not run since
	case isShare:
		return amount*100 >= wanted*max(amount, figures.Runs)
	}
	return amount >= wanted
}
