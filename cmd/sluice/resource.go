package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/spelling"
)

// A resource is a sort of thing that a server keeps, and the way to it.
type resource struct {
	*terminal.Terminal
	*terminal.Resource
}

// about returns what the verb is about.
func (t *cli) about() resource { return resource{t.Terminal, t.Resource} }

// webhooks returns enough of a resource to find webhooks, for verbs that are about something else.
func (t *cli) webhooks() resource {
	return resource{t.Terminal, &terminal.Resource{Resource: sluice.ResourceNamed("webhook"), Thing: "webhook"}}
}

// one returns the document of a thing.
func (r resource) one(ctx context.Context, key string) (json.RawMessage, error) {
	answer, err := r.Server.Command(ctx, r.Get, url.Values{r.Key: {key}}, nil)
	if err != nil {
		return nil, r.missing(ctx, key, err)
	}
	var page sluice.List[json.RawMessage]
	_ = json.Unmarshal(answer.Body, &page) // most commands answer with the thing itself, which has no items
	if page.Items == nil {
		return answer.Body, nil
	}
	if len(page.Items) == 0 {
		return nil, r.missing(ctx, key, r.unknown(key, "."))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter that tells edit and delete which thing is meant,
// and its value.
func (r resource) handleOf(ctx context.Context, key string) (field, handle string, err error) {
	if r.Direct {
		return r.Key, key, nil
	}
	document, err := r.one(ctx, key) // putting an unknown one would create it
	if err != nil || r.Handle == "" {
		return r.Key, key, err
	}
	root, err := view.Parse(document)
	if err != nil {
		return "", "", err
	}
	handle = view.TextOf(root, r.Handle)
	if strings.HasPrefix(handle, "…") {
		return "", "", sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return r.Handle, handle, nil
}

// unknown is the error of a thing that does not exist.
func (r resource) unknown(key, more string) *sluice.Error {
	return sluice.Code(r.Name+"-unknown").Errorf("There is no %s %s%s", r.Thing, key, more).OfKind(sluice.NotFound)
}

// missing adds to a NotFound error the name that was probably meant.
func (r resource) missing(ctx context.Context, key string, err error) error {
	if !sluice.NotFound.Is(err) {
		return err
	}
	names := r.NamesOf(ctx, r.Get, r.Key) // without them there is less to say
	return r.unknown(key, "; "+spelling.Hint(key, names, "sluice "+r.Name+" list lists those there are."))
}
