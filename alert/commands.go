package alert

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about alerts.
func Commands(w *Alerts) []command.Command {
	return []command.Command{
		command.New("alert.get", "Show alerts, newest first: what is wrong now, and what was in the last 30 days.",
			w.get, command.ReadOnly, command.Listed),
		command.New("alert.mute", "Send nothing of an alert for a while, neither that it is raised nor that it is "+
			"resolved. If it is raised meanwhile and still open afterwards, that is sent then.", w.mute),
		command.New("alert.put", "Say when alerts of a kind are raised. The most exact rule for a subject counts, "+
			"alone; one that says nothing but its kind and subject is deleted.", w.put),
		command.New("alert.rules", "List the rules by which alerts are raised, and what holds where there is none.",
			w.rules, command.ReadOnly, command.Listed),
	}
}

type getParams struct {
	Open  *bool            `json:"open" doc:"true: only those that are open; false: only those that are over. Default: all."`
	Kind  sluice.AlertKind `json:"kind" doc:"Only alerts of this kind."`
	From  time.Time        `json:"from" doc:"Only alerts that were open at this time or later."`
	Limit int              `json:"limit" min:"1" max:"1000" doc:"At most this many. Default 100."`
}

const defaultLimit = 100

func (w *Alerts) get(ctx context.Context, p getParams) (sluice.List[sluice.Alert], error) {
	cover := sluice.CoverFrom(ctx)
	found := w.find(func(a *sluice.Alert) bool {
		return cover.Alert(a.Kind, a.Subject) && (p.Open == nil || *p.Open == a.Open()) &&
			(p.Kind == "" || p.Kind == a.Kind) && (a.Open() || !a.Until.Before(p.From))
	})
	return sluice.List[sluice.Alert]{Items: found[:min(len(found), cmp.Or(p.Limit, defaultLimit))]}, nil
}

type muteParams struct {
	ID  string         `json:"id" required:"true" audit:"yes" names:"listed" doc:"Id of the alert."`
	For *time.Duration `json:"for" required:"true" max:"720h" audit:"yes" doc:"How long, such as 1h; 0s ends it."`
}

func (w *Alerts) mute(ctx context.Context, p muteParams) (sluice.Alert, error) {
	unknown := sluice.CodeAlertUnknown.Errorf(
		"There is no alert with that id; alert.get lists those there are.").About("id")
	after, err := sluice.Edit(ctx, w.Records, p.ID, unknown, func(a *sluice.AlertRecord) error {
		if !sluice.CoverFrom(ctx).Alert(a.Kind, a.Subject) {
			return unknown
		}
		a.MutedUntil = time.Time{}
		if *p.For > 0 {
			a.MutedUntil = w.Now().UTC().Add(*p.For).Truncate(time.Millisecond)
		}
		return nil
	})
	if err != nil {
		return sluice.Alert{}, err
	}
	return w.view(after.Alert), nil
}

// Open returns the open alerts, those that began last first.
func (w *Alerts) Open() []sluice.Alert { return w.find(func(a *sluice.Alert) bool { return a.Open() }) }

func (w *Alerts) find(fits func(*sluice.Alert) bool) []sluice.Alert {
	found := []sluice.Alert{}
	for _, a := range w.Records.All() {
		if fits(&a.Alert) {
			found = append(found, w.view(a.Alert))
		}
	}
	slices.SortFunc(found,
		func(a, b sluice.Alert) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID)) })
	return found
}
