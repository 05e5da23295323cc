package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"sluice"
	"sluice/cmd/sluice/view"
	"sluice/spelling"
)

// one returns the document of a thing.
func (t *cli) one(ctx context.Context, key string) (json.RawMessage, error) {
	answer, err := t.Server.Command(ctx, t.Resource.Get, url.Values{t.Resource.Key: {key}}, nil)
	if err != nil {
		return nil, t.missing(ctx, key, err)
	}
	var page sluice.List[json.RawMessage]
	_ = json.Unmarshal(answer.Body, &page) // most commands answer with the thing itself, which has no items
	if page.Items == nil {
		return answer.Body, nil
	}
	if len(page.Items) == 0 {
		return nil, t.missing(ctx, key, t.unknown(key, "."))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter that tells edit and delete which thing is meant,
// and its value.
func (t *cli) handleOf(ctx context.Context, key string) (field, handle string, err error) {
	r := t.Resource
	if r.Direct {
		return r.Key, key, nil
	}
	document, err := t.one(ctx, key) // putting an unknown one would create it
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
func (t *cli) unknown(key, more string) *sluice.Error {
	return sluice.Code(t.Resource.Name+"-unknown").Errorf("There is no %s %s%s", t.Resource.Thing, key, more).
		OfKind(sluice.NotFound)
}

// missing adds to a NotFound error the name that was probably meant.
func (t *cli) missing(ctx context.Context, key string, err error) error {
	if !sluice.NotFound.Is(err) {
		return err
	}
	r := t.Resource
	names := t.NamesOf(ctx, r.Get, r.Key) // without them there is less to say
	return t.unknown(key, "; "+spelling.Hint(key, names, "sluice "+r.Name+" list lists those there are."))
}
