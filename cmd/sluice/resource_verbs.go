package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
)

// newCommand makes the command of a resource. Without a verb it lists.
func (r *resource) newCommand() *cobra.Command {
	things := terminal.List{
		Command: r.Get, Without: []string{r.Key, r.handle, r.single}, None: r.none, Things: r.called() + "s",
		Page: r.Page, Columns: r.columns,
	}
	cmd := r.ListVerb(things, r.Name, r.short)
	cmd.AddCommand(r.ListVerb(things, "list", "List the "+r.called()+"s"))
	if _, err := r.Declaration(r.Get).Param(r.Key); err == nil {
		cmd.AddCommand(r.showVerb())
	}
	if r.Put != "" && !r.own {
		cmd.AddCommand(r.createVerb(), r.editVerb())
	}
	if r.Remove != "" && !r.own {
		cmd.AddCommand(r.deleteVerb())
	}
	cmd.AddCommand(r.verbs...)
	return cmd
}

func (r *resource) showVerb() *cobra.Command {
	cmd := r.about("show", "Show a "+r.called(), false, r.Connected(func(ctx context.Context, args []string) error {
		if r.Opens {
			return r.Open(ctx, r.Page, args[0])
		}
		document, err := r.one(ctx, args[0])
		if err != nil {
			return err
		}
		return r.Show(document)
	}))
	if r.Page != "" {
		r.AddOpen(cmd)
	}
	return cmd
}

func (r *resource) createVerb() *cobra.Command {
	cmd := r.about("create", "Create a "+r.called(), false, nil)
	return r.Calling(cmd, r.Put, func(ctx context.Context, values url.Values, args []string) error {
		if err := r.Need(cmd, r.Put); err != nil {
			return err
		}
		if r.handle == "" { // the command would edit the existing one
			if _, err := r.one(ctx, args[0]); err == nil {
				return r.keyTaken("taken", args[0])
			} else if !sluice.NotFound.Is(err) {
				return err
			}
		}
		values.Set(r.Key, args[0])
		if r.prefer != nil {
			r.prefer(values)
		}
		r.ShowTokens = true // people need it now, to set up the sender
		return r.putThing(ctx, values)
	}, r.Key, r.handle, "renew")
}

func (r *resource) editVerb() *cobra.Command {
	without := []string{r.Key}
	if r.handle != "" { // then the key can be changed
		without = []string{r.handle, "token"}
	}
	cmd := r.about("edit", "Change a "+r.called()+"; what is not given keeps its value", false, nil)
	return r.Calling(cmd, r.Put, func(ctx context.Context, values url.Values, args []string) error {
		if len(values) == 0 {
			return exit.Usage("Nothing is to be changed; give at least one flag.").Help(cmd)
		}
		field, handle, err := r.handleOf(ctx, args[0])
		if err != nil {
			return err
		}
		values.Set(field, handle)
		return r.putThing(ctx, values)
	}, without...)
}

// keyTaken is the error for a key that is in use.
func (r *resource) keyTaken(code, key string) error {
	return sluice.Errorf(sluice.Code{Word: code, Kind: sluice.Conflict},
		"There is a %s %s already; sluice %s edit %s changes it.", r.called(), key, r.Name, key)
}

// putThing stores a thing and shows it.
func (r *resource) putThing(ctx context.Context, values url.Values) error {
	answer, err := r.Server.Command(ctx, r.Put, values, nil)
	switch {
	case sluice.CodeEventKeyTaken.Is(err):
		return r.keyTaken("event-key-taken", values.Get(r.Key))
	case err != nil:
		return err
	}
	if err := r.Show(answer.Body); err != nil {
		return err
	}
	if root, err := view.Parse(answer.Body); err == nil && view.TextOf(root, "secret") != "" {
		r.Notef("The secret is not shown again.")
	}
	return nil
}

func (r *resource) deleteVerb() *cobra.Command {
	cmd := r.about("delete", "Delete "+r.called()+"s", true,
		r.Connected(func(ctx context.Context, args []string) error {
			if len(args) == 1 { // don't ask about what isn't there
				if _, _, err := r.handleOf(ctx, args[0]); err != nil {
					return err
				}
			}
			return r.deleteThings(ctx, args, r.Effect, url.Values{})
		}))
	r.AddYes(cmd)
	return cmd
}

// deleteThings deletes things if the person agrees, who is told of the effect. The parameters
// say how.
func (r *resource) deleteThings(ctx context.Context, keys []string, effect string, how url.Values) error {
	what := r.called() + " " + keys[0]
	if len(keys) > 1 {
		what = view.Counted(len(keys), r.called())
	}
	if err := r.Confirm(ctx, "Delete the "+what+"? "+effect); err != nil {
		return err
	}
	return r.ForEach(keys, "Deleted the "+r.called()+" %s.", func(key string) (client.Answer, error) {
		field, handle, err := r.handleOf(ctx, key)
		if err != nil {
			return client.Answer{}, err
		}
		how.Set(field, handle)
		answer, err := r.Server.Command(ctx, r.Remove, how, nil)
		return answer, r.missing(ctx, key, err)
	})
}
