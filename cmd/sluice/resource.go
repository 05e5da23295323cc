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
	columns []column
	own     bool                                            // verbs has those that store and delete
	verbs   func(t *terminal, n *resource) []*cobra.Command // further ones
}

func (n *resource) called() string { return cmp.Or(n.thing, n.Name) }

// arg returns the placeholder for the key in usage lines.
func (n *resource) arg() string { return strings.ToUpper(strings.ReplaceAll(kebab(n.Key), "-", "")) }

// resourceCommand makes the command of a resource. Without a verb it lists.
func resourceCommand(t *terminal, n *resource) *cobra.Command {
	things := list{n.Get, []string{n.Key, n.handle, n.single}, n.none, n.called() + "s", n.Page, n.columns}
	cmd := things.verb(t, n.Name, n.short)
	cmd.Args = orVerb
	cmd.AddCommand(things.verb(t, "list", "List the "+n.called()+"s"))
	if hasParam(t.declaration(n.Get), n.Key) {
		cmd.AddCommand(resourceShow(t, n))
	}
	if n.Put != "" && !n.own {
		cmd.AddCommand(resourceCreate(t, n), resourceEdit(t, n))
	}
	if n.Remove != "" && !n.own {
		cmd.AddCommand(resourceDelete(t, n))
	}
	if n.verbs != nil {
		cmd.AddCommand(n.verbs(t, n)...)
	}
	return cmd
}

func resourceNamed(name string) *resource {
	for _, n := range resources() {
		if n.Name == name {
			return n
		}
	}
	panic("there is no resource " + name) // a mistake in the program
}

// about makes a verb whose argument is the key of a thing, or of several things
// with many.
func (n *resource) about(t *terminal, verb, short string, many bool, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	most, use := 1, verb+" "+n.arg()
	if many {
		most, use = -1, use+"..."
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  sluice " + n.Name + " " + verb + " " + n.example,
		Args: arguments(1, most, "the "+n.word+" of a "+n.called()), RunE: run,
	}
	if verb != "create" {
		cmd.ValidArgsFunction = t.completeNames(n.Get, n.Key, noFiles)
	}
	return cmd
}

func resourceShow(t *terminal, n *resource) *cobra.Command {
	var open bool
	cmd := n.about(t, "show", "Show a "+n.called(), false, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		if open {
			return t.open(cmd.Context(), c, n.Page, args[0])
		}
		document, err := n.one(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		return t.show(document)
	}))
	if n.Page != "" {
		t.addOpen(cmd, &open)
	}
	return cmd
}

func resourceCreate(t *terminal, n *resource) *cobra.Command {
	var params *parameters
	cmd := n.about(t, "create", "Create a "+n.called(), false, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		if err := params.need(); err != nil {
			return err
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		if n.handle == "" { // the command would edit the existing one
			if _, err := n.one(cmd.Context(), c, args[0]); err == nil {
				return n.taken("taken", args[0])
			} else if sluice.AsError(err).Kind != sluice.NotFound {
				return err
			}
		}
		values.Set(n.Key, args[0])
		t.showTokens = true // people need it now, to set up the sender
		return n.store(cmd.Context(), t, c, values)
	})
	params = t.declare(cmd, n.Put, n.Key, n.handle, "renew")
	return cmd
}

func resourceEdit(t *terminal, n *resource) *cobra.Command {
	var params *parameters
	cmd := n.about(t, "edit", "Change a "+n.called()+"; what is not given keeps its value", false, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		if len(values) == 0 {
			return usage("Nothing is to be changed; give at least one flag.").help(cmd)
		}
		c, err := t.connect()
		if err != nil {
			return err
		}
		field, handle, err := n.handleOf(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		values.Set(field, handle)
		return n.store(cmd.Context(), t, c, values)
	})
	without := []string{n.Key}
	if n.handle != "" { // then the key can be changed
		without = []string{n.handle}
	}
	params = t.declare(cmd, n.Put, without...)
	return cmd
}

// taken is the error for a key that is in use.
func (n *resource) taken(code, key string) error {
	return sluice.Errorf(sluice.Code{Word: code, Kind: sluice.Conflict}, "There is a %s %s already; sluice %s edit %s changes it.", n.called(), key, n.Name, key)
}

// store stores a thing and shows it.
func (n *resource) store(ctx context.Context, t *terminal, c *client.Client, values url.Values) error {
	answer, err := c.Command(ctx, n.Put, values, nil)
	switch {
	case sluice.CodeEventKeyTaken.Is(err):
		return n.taken("event-key-taken", values.Get(n.Key))
	case err != nil:
		return err
	}
	if err := t.show(answer.Body); err != nil {
		return err
	}
	if root, err := parseJSON(answer.Body); err == nil && textOf(root, "secret") != "" {
		t.note("The secret is not shown again.")
	}
	return nil
}

func resourceDelete(t *terminal, n *resource) *cobra.Command {
	var yes bool
	cmd := n.about(t, "delete", "Delete "+n.called()+"s", true, t.connected(func(cmd *cobra.Command, c *client.Client, args []string) error {
		what := n.called() + " " + args[0]
		if len(args) > 1 {
			what = counted(len(args), n.called())
		} else if _, _, err := n.handleOf(cmd.Context(), c, args[0]); err != nil { // don't ask about what isn't there
			return err
		}
		if err := t.confirm(cmd.Context(), yes, "Delete the "+what+"? "+n.Effect); err != nil {
			return err
		}
		return t.forEach(args, "Deleted the "+n.called()+" %s.", func(key string) (client.Answer, error) {
			field, handle, err := n.handleOf(cmd.Context(), c, key)
			if err != nil {
				return client.Answer{}, err
			}
			answer, err := c.Command(cmd.Context(), n.Remove, url.Values{field: {handle}}, nil)
			return answer, n.missing(cmd.Context(), c, key, err)
		})
	}))
	addYes(cmd, &yes)
	return cmd
}

// one returns the thing with a key.
func (n *resource) one(ctx context.Context, c *client.Client, key string) (json.RawMessage, error) {
	answer, err := c.Command(ctx, n.Get, url.Values{n.Key: {key}}, nil)
	if err != nil {
		return nil, n.missing(ctx, c, key, err)
	}
	var page sluice.List[json.RawMessage]
	_ = json.Unmarshal(answer.Body, &page) // most commands answer with the thing itself, which has no items
	if page.Items == nil {
		return answer.Body, nil
	}
	if len(page.Items) == 0 {
		return nil, n.missing(ctx, c, key, sluice.Errorf(n.unknown(), "There is no %s %s.", n.called(), key))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter that tells edit and delete which thing is meant,
// and its value.
func (n *resource) handleOf(ctx context.Context, c *client.Client, key string) (field, handle string, err error) {
	if n.handle == "" {
		if n.Put == "" || n.own {
			return n.Key, key, nil
		}
		_, err := n.one(ctx, c, key) // putting an unknown one would create it
		return n.Key, key, err
	}
	document, err := n.one(ctx, c, key)
	if err != nil {
		return "", "", err
	}
	root, err := parseJSON(document)
	if err != nil {
		return "", "", err
	}
	handle = textOf(root, n.handle)
	if strings.HasPrefix(handle, "…") {
		return "", "", sluice.NotPermitted(sluice.MaySeeTokens)
	}
	return n.handle, handle, nil
}

// unknown is the code of errors about a thing that does not exist.
func (n *resource) unknown() sluice.Code {
	return sluice.Code{Word: n.Name + "-unknown", Kind: sluice.NotFound}
}

// missing adds to a NotFound error the name that was probably meant.
func (n *resource) missing(ctx context.Context, c *client.Client, key string, err error) error {
	if err == nil || sluice.AsError(err).Kind != sluice.NotFound {
		return err
	}
	names, _ := namesOf(ctx, c, n.Get, n.Key) // without them there is less to say
	return sluice.Errorf(n.unknown(), "There is no %s %s; %s", n.called(), key,
		spelling.Hint(key, names, "sluice "+n.Name+" list lists those there are."))
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
			fmt.Fprintf(t.out, sentence+"\n", printable(name))
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
