package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/cmd/sluice/view"
	"sluice/spelling"
)

// A resource is a sort of thing that a server keeps. Its commands at the server
// become its verbs (list, show, create, edit, delete), and their parameters the
// flags.
type resource struct {
	*cli
	sluice.Resource

	thing   string // its name in sentences; "" means Name
	short   string
	word    string // what people call the key
	example string // of a key
	handle  string // field and parameter by which edit and delete find it; "" means the key
	single  string // parameter of get that makes sense for one thing only, if there is one
	none    string // text for an empty list
	columns []view.Column
	prefer  func(values url.Values) // sets what this program creates things with, if the user does not; may be nil
	own     bool                    // verbs has those that store and delete
	verbs   []*cobra.Command        // further ones
}

// resourceNamed returns enough of a resource to find its things.
func (t *cli) resourceNamed(name string) *resource {
	return &resource{cli: t, Resource: sluice.ResourceNamed(name)}
}

func (r *resource) called() string { return cmp.Or(r.thing, r.Name) }

// placeholder returns the placeholder for the key in usage lines.
func (r *resource) placeholder() string { return strings.ToUpper(r.Key) }

// about makes a verb whose argument is the key of a thing, or of several things
// with many.
func (r *resource) about(
	verb, short string, many bool, run func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	use := verb + " " + r.placeholder()
	if many {
		use += "..."
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  sluice " + r.Name + " " + verb + " " + r.example,
		Args: terminal.Needs("the " + r.word + " of a " + r.called()), RunE: run,
	}
	if verb != "create" {
		cmd.ValidArgsFunction = r.CompleteNames(r.Get, r.Key, terminal.NoFiles)
	}
	return cmd
}

// one returns the document of a thing.
func (r *resource) one(ctx context.Context, key string) (json.RawMessage, error) {
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
		return nil, r.missing(ctx, key, sluice.Errorf(r.unknown(), "There is no %s %s.", r.called(), key))
	}
	return page.Items[0], nil
}

// handleOf returns the parameter that tells edit and delete which thing is meant,
// and its value.
func (r *resource) handleOf(ctx context.Context, key string) (field, handle string, err error) {
	if r.handle == "" && (r.Put == "" || r.own) {
		return r.Key, key, nil
	}
	document, err := r.one(ctx, key) // putting an unknown one would create it
	if err != nil || r.handle == "" {
		return r.Key, key, err
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
func (r *resource) missing(ctx context.Context, key string, err error) error {
	if !sluice.NotFound.Is(err) {
		return err
	}
	names := r.NamesOf(ctx, r.Get, r.Key) // without them there is less to say
	return sluice.Errorf(r.unknown(), "There is no %s %s; %s", r.called(), key,
		spelling.Hint(key, names, "sluice "+r.Name+" list lists those there are."))
}
