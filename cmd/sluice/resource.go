package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/view"
	"sluice/spelling"
)

// A resource is a sort of thing that a server keeps. Its commands at the server
// become its verbs (list, show, create, edit, delete), and their parameters the
// flags.
type resource struct {
	sluice.Resource

	thing   string // its name in sentences; "" means Name
	short   string
	word    string // what people call the key
	example string // of a key
	handle  string // field and parameter by which edit and delete find it; "" means the key
	single  string // parameter of get that makes sense for one thing only, if there is one
	none    string // text for an empty list
	columns []view.Column
	prefer  func(t *terminal, values url.Values)            // sets what this program creates things with, if the user does not; may be nil
	own     bool                                            // verbs has those that store and delete
	verbs   func(t *terminal, r *resource) []*cobra.Command // further ones
}

func (r *resource) called() string { return cmp.Or(r.thing, r.Name) }

// arg returns the placeholder for the key in usage lines.
func (r *resource) arg() string { return strings.ToUpper(strings.ReplaceAll(kebab(r.Key), "-", "")) }

// resourceCommand makes the command of a resource. Without a verb it lists.
func resourceCommand(t *terminal, r *resource) *cobra.Command {
	things := list{r.Get, []string{r.Key, r.handle, r.single}, r.none, r.called() + "s", r.Page, r.columns}
	cmd := things.verb(t, r.Name, r.short)
	cmd.Args = orVerb
	cmd.AddCommand(things.verb(t, "list", "List the "+r.called()+"s"))
	if hasParam(t.declaration(r.Get), r.Key) {
		cmd.AddCommand(resourceShow(t, r))
	}
	if r.Put != "" && !r.own {
		cmd.AddCommand(resourceCreate(t, r), resourceEdit(t, r))
	}
	if r.Remove != "" && !r.own {
		cmd.AddCommand(resourceDelete(t, r))
	}
	if r.verbs != nil {
		cmd.AddCommand(r.verbs(t, r)...)
	}
	return cmd
}

func resourceNamed(name string) *resource {
	for _, r := range resources() {
		if r.Name == name {
			return r
		}
	}
	panic("there is no resource " + name) // a mistake in the program
}

// about makes a verb whose argument is the key of a thing, or of several things
// with many.
func (r *resource) about(t *terminal, verb, short string, many bool, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	most, use := 1, verb+" "+r.arg()
	if many {
		most, use = -1, use+"..."
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  sluice " + r.Name + " " + verb + " " + r.example,
		Args: arguments(1, most, "the "+r.word+" of a "+r.called()), RunE: run,
	}
	if verb != "create" {
		cmd.ValidArgsFunction = t.completeNames(r.Get, r.Key, noFiles)
	}
	return cmd
}

func resourceShow(t *terminal, r *resource) *cobra.Command {
	var open bool
	cmd := r.about(t, "show", "Show a "+r.called(), false, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		if open {
			return t.open(cmd.Context(), c, r.Page, args[0])
		}
		document, err := r.one(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		return t.show(document)
	}))
	if r.Page != "" {
		t.addOpen(cmd, &open)
	}
	return cmd
}

func resourceCreate(t *terminal, r *resource) *cobra.Command {
	return t.calling(r.about(t, "create", "Create a "+r.called(), false, nil), r.Put, func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		if err := t.need(cmd, r.Put); err != nil {
			return err
		}
		if r.handle == "" { // the command would edit the existing one
			if _, err := r.one(cmd.Context(), c, args[0]); err == nil {
				return r.taken("taken", args[0])
			} else if sluice.AsError(err).Kind != sluice.NotFound {
				return err
			}
		}
		values.Set(r.Key, args[0])
		if r.prefer != nil {
			r.prefer(t, values)
		}
		t.showTokens = true // people need it now, to set up the sender
		return r.store(cmd.Context(), t, c, values)
	}, r.Key, r.handle, "renew")
}

func resourceEdit(t *terminal, r *resource) *cobra.Command {
	without := []string{r.Key}
	if r.handle != "" { // then the key can be changed
		without = []string{r.handle, "token"}
	}
	cmd := r.about(t, "edit", "Change a "+r.called()+"; what is not given keeps its value", false, nil)
	return t.calling(cmd, r.Put, func(cmd *cobra.Command, c *client.Client, values url.Values, args []string) error {
		if len(values) == 0 {
			return usage("Nothing is to be changed; give at least one flag.").help(cmd)
		}
		field, handle, err := r.handleOf(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		values.Set(field, handle)
		return r.store(cmd.Context(), t, c, values)
	}, without...)
}

// taken is the error for a key that is in use.
func (r *resource) taken(code, key string) error {
	return sluice.Errorf(sluice.Code{Word: code, Kind: sluice.Conflict}, "There is a %s %s already; sluice %s edit %s changes it.", r.called(), key, r.Name, key)
}

// store stores a thing and shows it.
func (r *resource) store(ctx context.Context, t *terminal, c *client.Client, values url.Values) error {
	answer, err := c.Command(ctx, r.Put, values, nil)
	switch {
	case sluice.CodeEventKeyTaken.Is(err):
		return r.taken("event-key-taken", values.Get(r.Key))
	case err != nil:
		return err
	}
	if err := t.show(answer.Body); err != nil {
		return err
	}
	if root, err := view.Parse(answer.Body); err == nil && view.TextOf(root, "secret") != "" {
		t.note("The secret is not shown again.")
	}
	return nil
}

func resourceDelete(t *terminal, r *resource) *cobra.Command {
	var yes bool
	cmd := r.about(t, "delete", "Delete "+r.called()+"s", true, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		what := r.called() + " " + args[0]
		if len(args) > 1 {
			what = view.Counted(len(args), r.called())
		} else if _, _, err := r.handleOf(cmd.Context(), c, args[0]); err != nil { // don't ask about what isn't there
			return err
		}
		if err := t.confirm(cmd.Context(), yes, "Delete the "+what+"? "+r.Effect); err != nil {
			return err
		}
		return t.forEach(args, "Deleted the "+r.called()+" %s.", func(key string) (client.Answer, error) {
			field, handle, err := r.handleOf(cmd.Context(), c, key)
			if err != nil {
				return client.Answer{}, err
			}
			answer, err := c.Command(cmd.Context(), r.Remove, url.Values{field: {handle}}, nil)
			return answer, r.missing(cmd.Context(), c, key, err)
		})
	}))
	addYes(cmd, &yes)
	return cmd
}

func (r *resource) one(ctx context.Context, c *client.Client, key string) (json.RawMessage, error) {
	answer, err := c.Command(ctx, r.Get, url.Values{r.Key: {key}}, nil)
	if err != nil {
		return nil, r.missing(ctx, c, key, err)
	}
	var page sluice.List[json.RawMessage]
	_ = json.Unmarshal(answer.Body, &page) // most commands answer with the thing itself, which has no items
	if page.Items == nil {
		return answer.Body, nil
	}
	if len(page.Items) == 0 {
		return nil, r.missing(ctx, c, key, sluice.Errorf(r.unknown(), "There is no %s %s.", r.called(), key))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter that tells edit and delete which thing is meant,
// and its value.
func (r *resource) handleOf(ctx context.Context, c *client.Client, key string) (field, handle string, err error) {
	if r.handle == "" {
		if r.Put == "" || r.own {
			return r.Key, key, nil
		}
		_, err := r.one(ctx, c, key) // putting an unknown one would create it
		return r.Key, key, err
	}
	document, err := r.one(ctx, c, key)
	if err != nil {
		return "", "", err
	}
	root, err := view.Parse(document)
	if err != nil {
		return "", "", err
	}
	handle = view.TextOf(root, r.handle)
	if strings.HasPrefix(handle, "…") {
		return "", "", sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return r.handle, handle, nil
}

// unknown is the code of errors about a thing that does not exist.
func (r *resource) unknown() sluice.Code {
	return sluice.Code{Word: r.Name + "-unknown", Kind: sluice.NotFound}
}

// missing adds to a NotFound error the name that was probably meant.
func (r *resource) missing(ctx context.Context, c *client.Client, key string, err error) error {
	if err == nil || sluice.AsError(err).Kind != sluice.NotFound {
		return err
	}
	names, _ := namesOf(ctx, c, r.Get, r.Key) // without them there is less to say
	return sluice.Errorf(r.unknown(), "There is no %s %s; %s", r.called(), key,
		spelling.Hint(key, names, "sluice "+r.Name+" list lists those there are."))
}

// forEach calls do for each name, even if some fail, and shows the answers. People
// see the sentence instead, if there is one. A single answer is not shown as a list.
func (t *terminal) forEach(names []string, sentence string, do func(string) (client.Answer, error)) error {
	form, err := t.form()
	if err != nil {
		return err
	}
	told := form == "table" && sentence != ""
	bar := t.progress(len(names), "")
	defer bar.end()
	var answers []json.RawMessage
	var failed []error
	for _, name := range names {
		answer, err := do(name)
		switch {
		case err != nil:
			failed = append(failed, err)
		case told:
			fmt.Fprintf(t.out, sentence+"\n", view.Printable(name))
		default:
			answers = append(answers, bytes.TrimSpace(answer.Body))
		}
		bar.step()
	}
	bar.end()
	if len(names) == 1 && len(answers) == 1 {
		return t.show(answers[0])
	}
	if len(answers) > 0 {
		if err := t.showValue(answers); err != nil {
			return err
		}
	}
	return failures(failed)
}
