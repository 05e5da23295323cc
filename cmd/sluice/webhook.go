package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"sluice"
	"sluice/cmd/sluice/view"
)

func (t *cli) webhookURL(ctx context.Context) error {
	hook, err := t.Server.Webhook(ctx, t.Args[0])
	if err != nil {
		return t.missing(ctx, t.Args[0], err)
	}
	if t.FormGiven {
		return t.ShowValue(map[string]string{"eventKey": t.Args[0], "webhookUrl": hook.WebhookURL})
	}
	_, err = fmt.Fprintln(t.Out, view.Printable(hook.WebhookURL))
	return err
}

func (t *cli) tokenAdd(ctx context.Context) error {
	t.ShowTokens = true // people need it now
	answer, err := t.Call(ctx)
	return t.ShowAnswer(answer, t.missing(ctx, t.Args[0], err))
}

func (t *cli) tokenDelete(ctx context.Context) error {
	token := "token " + sluice.Last6(t.Args[1]) + " of " + t.Args[0]
	if err := t.Confirm(ctx, "Close the "+token+"? Calls with it are refused at once."); err != nil {
		return err
	}
	return t.Do(ctx, "Closed the %s.", token)
}

// webhookMissed gets what was missed from the sender.
func (t *cli) webhookMissed(ctx context.Context) error {
	var found sluice.Missed
	if err := t.ask(ctx, &found); err != nil {
		return err
	}
	return t.Present(found, func(w io.Writer) {
		for _, item := range found.Items {
			if item.State != sluice.MissedHad {
				line := item.Time.Format(time.RFC3339) + "  " + item.State + "  " + item.ID
				fmt.Fprintln(w, view.Printable(line))
			}
		}
		fmt.Fprintf(w, "asked %d, had %d, missed %d\n", found.Asked, found.Had, found.Missed)
	})
}

// webhookCheck asks the sender whether it still calls.
func (t *cli) webhookCheck(ctx context.Context) error {
	var found sluice.Subscription
	if err := t.ask(ctx, &found); err != nil {
		return err
	}
	return t.Present(found, func(w io.Writer) {
		fmt.Fprintln(w, view.Printable(found.State+": "+found.Message))
		if !found.Expires.IsZero() {
			fmt.Fprintln(w, "expires "+found.Expires.Format(time.RFC3339))
		}
	})
}

// webhookTypes shows the kinds of events that came, and who takes them.
func (t *cli) webhookTypes(ctx context.Context) error {
	if _, err := t.one(ctx, t.Args[0]); err != nil {
		return err
	}
	found := []sluice.WebhookStats{{}}
	if err := t.ask(ctx, &found); err != nil {
		return err
	}
	if len(found) == 0 || found[0].Types == nil {
		t.Notef("No event with a type came; sluice webhook show %s says where calls name theirs (eventType).",
			t.Args[0])
		return t.ShowValue([]sluice.TypeStats{})
	}
	return t.ShowValue(found[0].Types)
}

// ask calls the command of the verb about the named thing.
func (t *cli) ask(ctx context.Context, into any) error {
	return t.missing(ctx, t.Args[0], t.Decode(ctx, into))
}
