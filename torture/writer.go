package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"sluice"
)

// fewest is how many webhooks a writer has before it deletes any.
const fewest = 20

// A writer creates, edits and deletes webhooks of its own.
type writer struct {
	client *client
	hooks  *hookLedger
	own    []*hook
}

// run changes webhooks until ctx ends.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.change(ctx); err != nil {
			sleep(ctx, pause)
		}
	}
}

// change makes one change. A webhook whose change was not answered is left
// alone until a check has told what became of it.
func (w *writer) change(ctx context.Context) error {
	choice := rand.IntN(10)
	if choice == 0 || len(w.own) < fewest {
		h, err := w.create(ctx)
		if err == nil {
			w.own = append(w.own, h)
		}
		return err
	}
	i := rand.IntN(len(w.own))
	h := w.own[i]
	var err error
	if choice > 1 {
		w.hooks.asking(func() { h.asked++ })
		err = w.put(ctx, h, map[string]any{"uuid": h.uuid})
	} else {
		err = w.delete(ctx, h)
	}
	if err != nil || h.deleted {
		w.own = slices.Delete(w.own, i, i+1)
	}
	return err
}

func (w *writer) create(ctx context.Context) (*hook, error) {
	h := w.hooks.create()
	return h, w.put(ctx, h, map[string]any{"eventKey": h.key, "dedupe": "query:id"})
}

// put asks for the version h.asked of a webhook.
func (w *writer) put(ctx context.Context, h *hook, params map[string]any) error {
	params["maxPayloadLength"] = maxPayloadLength(h.asked)
	params["payloadType"] = payloadType(h.asked)
	var answer sluice.Webhook
	if err := w.client.command(ctx, "webhook.put", params, &answer); err != nil {
		return err
	}
	w.hooks.answered(func() { h.uuid, h.version = answer.UUID, h.asked })
	return nil
}

func (w *writer) delete(ctx context.Context, h *hook) error {
	w.hooks.asking(func() { h.deleting = true })
	var answer struct{ Deleted bool }
	if err := w.client.command(ctx, "webhook.delete", map[string]any{"uuid": h.uuid}, &answer); err != nil {
		return err
	}
	w.hooks.answered(func() { h.deleted = answer.Deleted })
	return nil
}
