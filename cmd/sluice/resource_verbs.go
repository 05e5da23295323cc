package main

import (
	"context"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
)

func (t *cli) list(ctx context.Context) error {
	columns := t.Verb.Columns
	if columns == nil {
		columns = t.Resource.Columns
	}
	return t.ShowList(ctx, view.Columns(columns...))
}

func (t *cli) show(ctx context.Context) error {
	document, err := t.one(ctx, t.Args[0])
	if err != nil {
		return err
	}
	return t.Show(document)
}

func (t *cli) create(ctx context.Context) error {
	if err := t.Complete(); err != nil {
		return err
	}
	if t.Resource.Handle == "" { // the command would edit the existing one
		if _, err := t.one(ctx, t.Args[0]); err == nil {
			return t.keyTaken("taken", t.Args[0])
		} else if !sluice.NotFound.Is(err) {
			return err
		}
	}
	if t.Resource.Name == "webhook" && !t.Params.Has("payloadType") && !t.Params.Has("payloadHandling") {
		t.Params.Set("payloadType", string(sluice.Raw)) // as the portal does
		t.Notef("Pipelines see its payloads as they are; with --payload-type base64 they get every byte.")
	}
	t.ShowTokens = true // people need it now, to set up the sender
	return t.put(ctx)
}

func (t *cli) edit(ctx context.Context) error {
	if len(t.Params) == 0 {
		return exit.Usage("Nothing is to be changed; give at least one flag.").Help(t.Cmd)
	}
	field, handle, err := t.handleOf(ctx, t.Args[0])
	if err != nil {
		return err
	}
	t.Params.Set(field, handle)
	return t.put(ctx)
}

// keyTaken is the error for a key that is in use.
func (t *cli) keyTaken(code, key string) error {
	r := t.Resource
	return sluice.Code(code).Errorf("There is a %s %s already; sluice %s edit %s changes it.", r.Thing, key,
		r.Name, key).OfKind(sluice.Conflict)
}

// put stores a thing and shows it.
func (t *cli) put(ctx context.Context) error {
	answer, err := t.Call(ctx)
	switch {
	case sluice.CodeEventKeyTaken.Is(err):
		return t.keyTaken("event-key-taken", t.Params.Get(t.Resource.Key))
	case err != nil:
		return err
	}
	if err := t.Show(answer.Body); err != nil {
		return err
	}
	if root, err := view.Parse(answer.Body); err == nil && view.TextOf(root, "secret") != "" {
		t.Notef("The secret is not shown again.")
	}
	return nil
}

func (t *cli) delete(ctx context.Context) error {
	if len(t.Args) == 1 { // don't ask about what isn't there
		if _, _, err := t.handleOf(ctx, t.Args[0]); err != nil {
			return err
		}
	}
	return t.remove(ctx, t.Resource.Effect)
}

// remove deletes the named things as the parameters say, if the person agrees, who is told of the effect.
func (t *cli) remove(ctx context.Context, effect string) error {
	r := t.Resource
	what := r.Thing + " " + t.Args[0]
	if len(t.Args) > 1 {
		what = view.Counted(len(t.Args), r.Thing)
	}
	if err := t.Confirm(ctx, "Delete the "+what+"? "+effect); err != nil {
		return err
	}
	return t.each(ctx, r.Remove, "Deleted the "+r.Thing+" %s.")
}

// each calls a command with the parameters for each of the named things. People see the sentence.
func (t *cli) each(ctx context.Context, command, sentence string) error {
	return t.ForEach(t.Args, sentence, func(key string) (client.Answer, error) {
		field, handle, err := t.handleOf(ctx, key)
		if err != nil {
			return client.Answer{}, err
		}
		t.Params.Set(field, handle)
		answer, err := t.Server.Command(ctx, command, t.Params, nil)
		return answer, t.missing(ctx, key, err)
	})
}
