package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
)

// readEvents reads which events go where: an argument that can't be an event key is a URL.
func readEvents(to *client.Position, args []string) error {
	for _, arg := range args {
		_, notNumber := strconv.Atoi(arg)
		switch isURL := strings.ContainsAny(arg, ":/") || notNumber == nil; {
		case isURL && to.Forward != "":
			return exit.Usage("Events go to one URL, and %q is another; start it twice.", arg)
		case isURL:
			to.Forward = arg
		case to.Pattern != "":
			return exit.Usage("%q is a second event key; a pattern such as webhook.# stands for several.", arg)
		default:
			to.Pattern = arg
		}
	}
	to.Pattern = cmp.Or(to.Pattern, "#")
	return nil
}

// knows refuses to wait for the events of a key that no webhook has.
func (t *cli) knows(ctx context.Context, pattern string) error {
	if t.On("wait") || strings.ContainsAny(pattern, "*#") {
		return nil
	}
	_, err := t.one(ctx, pattern)
	if e := sluice.AsError(err); err != nil && e.Kind == sluice.NotFound {
		return e.Saying(e.Message + " With --wait it is listened to all the same.")
	}
	return nil // other errors appear when the events are read
}

func (t *cli) listen(ctx context.Context) error {
	at := client.Position{URL: t.Server.URL(), Type: t.Text("type"), Forward: t.Text("forward")}
	if err := readEvents(&at, t.Args); err != nil {
		return err
	}
	l := &listener{cli: t}
	if at.Forward != "" {
		var err error
		if l.forwarder, err = client.NewForwarder(at.Forward); err != nil {
			return err
		}
		at.Forward = l.forwarder.URL()
	}
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	if err := t.knows(ctx, at.Pattern); err != nil {
		return err
	}
	if !t.On("new") {
		if at, err = profiles.Resume(at); err != nil {
			return err
		}
	}
	if at.After == "" {
		if _, at.After, err = t.Server.Events(ctx, at, 1, 0); err != nil {
			return err
		}
		if err := profiles.Keep(at); err != nil {
			return err
		}
		t.Sayf("Waiting for events of %s.", at.Pattern)
	} else {
		t.Sayf("Going on with events of %s where it ended; --new begins anew.", at.Pattern)
	}
	err = t.Server.Listen(ctx, at, l.deliver, func(cursor string) error {
		at.After = cursor
		return profiles.Keep(at)
	})
	if sluice.CodeCursorGone.Is(err) {
		return sluice.CodeCursorGone.Errorf(
			"The server no longer has the place where this ended; start with --new.")
	}
	return err
}
