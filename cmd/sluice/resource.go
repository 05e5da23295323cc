package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

// A noun is a kind of thing that a server keeps. Its verbs follow from the
// commands for it: list and show, create and edit, delete. Their flags are those
// commands' parameters.
type noun struct {
	sluice.Resource

	thing   string // in sentences; "" means the same
	short   string
	word    string // what people call the key
	example string // of a key
	handle  string // field and parameter by which edit and delete find it; "" means the key
	single  string // parameter of get that is about one thing alone; "" means that there is none
	none    string // text for an empty list
	columns []column
	own     bool                                        // storing and deleting are verbs of its own
	verbs   func(t *terminal, n *noun) []*cobra.Command // further ones
}

// called returns the name of one in sentences.
func (n *noun) called() string { return firstOf(n.thing, n.Name) }

// arg returns what stands for the key in usage lines.
func (n *noun) arg() string { return strings.ToUpper(strings.ReplaceAll(kebab(n.Key), "-", "")) }

// keyed returns in words what the argument of a verb is.
func (n *noun) keyed() string { return "the " + n.word + " of a " + n.called() }

// nounCommand makes the command of a noun with its verbs. The noun alone lists.
func nounCommand(t *terminal, n *noun) *cobra.Command {
	things := list{n.Get, []string{n.Key, n.handle, n.single}, n.none, n.called() + "s", n.Page, n.columns}
	cmd := things.verb(t, n.Name, n.short)
	cmd.Args = orVerb
	cmd.AddCommand(things.verb(t, "list", "List the "+n.called()+"s"))
	if hasParam(t.declaration(n.Get), n.Key) {
		cmd.AddCommand(nounShow(t, n))
	}
	if n.Put != "" && !n.own {
		cmd.AddCommand(nounCreate(t, n), nounEdit(t, n))
	}
	if n.Remove != "" && !n.own {
		cmd.AddCommand(nounDelete(t, n))
	}
	if n.verbs != nil {
		cmd.AddCommand(n.verbs(t, n)...)
	}
	return cmd
}

// nounNamed returns a noun by its name.
func nounNamed(name string) *noun {
	for _, n := range nouns() {
		if n.Name == name {
			return n
		}
	}
	panic("there is no noun " + name) // a mistake in the program
}

// about makes a verb with the key of a thing as its argument, or with many the
// keys of several.
func (n *noun) about(t *terminal, verb, short string, many bool, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	most, use := 1, verb+" "+n.arg()
	if many {
		most, use = -1, use+"..."
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  sluice " + n.Name + " " + verb + " " + n.example,
		Args: arguments(1, most, n.keyed()), RunE: run,
	}
	if verb != "create" {
		cmd.ValidArgsFunction = t.completeNames(n.Get, n.Key, noFiles)
	}
	return cmd
}

func nounShow(t *terminal, n *noun) *cobra.Command {
	var open bool
	cmd := n.about(t, "show", "Show a "+n.called(), false, func(cmd *cobra.Command, args []string) error {
		c, err := t.connect()
		if err != nil {
			return err
		}
		if open {
			return t.open(cmd.Context(), c, n.Page, args[0])
		}
		document, err := n.one(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		return t.show(document)
	})
	if n.Page != "" {
		t.addOpen(cmd, &open)
	}
	return cmd
}

func nounCreate(t *terminal, n *noun) *cobra.Command {
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
		t.showTokens = true // this is when they are needed
		return n.store(cmd.Context(), t, c, values)
	})
	params = t.declare(cmd, n.Put, n.Key, n.handle, "renew")
	return cmd
}

func nounEdit(t *terminal, n *noun) *cobra.Command {
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

// taken is the error for a key that another thing has.
func (n *noun) taken(code, key string) error {
	return sluice.Errorf(sluice.Code{Word: code, Kind: sluice.Conflict}, "There is a %s %s already; sluice %s edit %s changes it.", n.called(), key, n.Name, key)
}

// store stores a thing and shows it.
func (n *noun) store(ctx context.Context, t *terminal, c *client.Client, values url.Values) error {
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

func nounDelete(t *terminal, n *noun) *cobra.Command {
	var yes bool
	cmd := n.about(t, "delete", "Delete "+n.called()+"s", true, func(cmd *cobra.Command, args []string) error {
		c, err := t.connect()
		if err != nil {
			return err
		}
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
	})
	addYes(cmd, &yes)
	return cmd
}

// one returns the thing with a key.
func (n *noun) one(ctx context.Context, c *client.Client, key string) (json.RawMessage, error) {
	answer, err := c.Command(ctx, n.Get, url.Values{n.Key: {key}}, nil)
	if err != nil {
		return nil, n.missing(ctx, c, key, err)
	}
	var page sluice.List[json.RawMessage]
	_ = json.Unmarshal(answer.Body, &page) // not a list, but the thing itself: it has no items
	if page.Items == nil {
		return answer.Body, nil
	}
	if len(page.Items) == 0 {
		return nil, n.missing(ctx, c, key, sluice.Errorf(n.unknown(), "There is no %s %s.", n.called(), key))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter by which a thing is changed, with its value.
func (n *noun) handleOf(ctx context.Context, c *client.Client, key string) (field, handle string, err error) {
	if n.handle == "" {
		if n.Put == "" || n.own {
			return n.Key, key, nil
		}
		_, err := n.one(ctx, c, key) // a put would make one
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

// unknown is the code of errors about a thing that is not there.
func (n *noun) unknown() sluice.Code {
	return sluice.Code{Word: n.Name + "-unknown", Kind: sluice.NotFound}
}

// missing returns the error for an unknown thing, with what may be meant.
func (n *noun) missing(ctx context.Context, c *client.Client, key string, err error) error {
	if err == nil || sluice.AsError(err).Kind != sluice.NotFound {
		return err
	}
	names, _ := namesOf(ctx, c, n.Get, n.Key) // without them there is less to say
	return sluice.Errorf(n.unknown(), "There is no %s %s; %s", n.called(), key,
		didYouMean(key, names, fmt.Sprintf("sluice %s list lists those there are.", n.Name)))
}

// forEach does something with each of several things, even if some fail, and
// shows the answers; people see a sentence for each, if there is one. A single
// thing is shown alone, not as a list.
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
