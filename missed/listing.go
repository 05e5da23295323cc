package missed

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A delivery is what a sender says it has sent.
type delivery struct {
	id    string    // the delivery id, as calls have it
	time  time.Time // zero: the sender does not say
	ref   string    // by which the sender knows it
	busy  bool      // the sender still tries, and can't be told to send it
	event []byte    // if the list has it, or
	at    string    // where it is fetched
}

// A listing says how a sender lists what it has sent. Members of replies are paths.
type listing struct {
	URL   string // of the first page
	Items string // the deliveries in a page; "": it is a list of them
	Fetch string // where the event of a delivery is

	ID, Ref     string              // of a delivery
	Time        string              // of it, or several of which one is there
	Type        string              // of its event, where the list has those of other webhooks
	Resendable  map[string][]string // the values that its members must have for it to be sent once more
	NewestFirst bool                `yaml:"newestFirst"`

	// The next page is where a link leads, in a header Link or in the page. Otherwise the parameter As has a cursor:
	// a member of the page, one of the last delivery, or else the number of the page.
	Next, As, Cursor, Last string
	More, Done             string // whether there is another page
}

// list shows deliveries to see, as long as that returns true. types are those of the webhook.
func (l *listing) list(
	ctx context.Context, a *api, types []string, from, to time.Time, see func(delivery) bool,
) error {
	address := a.fill(l.URL, "", from, to)
	for number := 2; address != ""; number++ {
		var page any
		header, err := a.get(ctx, address, &page)
		if err != nil {
			return err
		}
		given := member(page, l.Items)
		items, isList := given.([]any)
		if given != nil && !isList {
			return a.refused("its reply can't be read", nil)
		}
		for _, item := range items {
			d := l.delivery(item)
			d.at = a.fill(l.Fetch, d.ref, from, to)
			if l.NewestFirst && d.time.Before(from) {
				return nil
			}
			if (l.Type == "" || subscribed(types, text(item, l.Type))) && !see(d) {
				return nil
			}
		}
		address = l.next(address, page, header, items, strconv.Itoa(number))
	}
	return nil
}

func (l *listing) delivery(item any) delivery {
	d := delivery{id: text(item, l.ID), ref: text(item, l.Ref)}
	for path := range strings.FieldsSeq(l.Time) {
		if d.time.IsZero() {
			d.time = instant(text(item, path))
		}
	}
	for path, values := range l.Resendable {
		d.busy = d.busy || !slices.Contains(values, text(item, path))
	}
	return d
}

// next returns the address of the next page, "" if there is none.
func (l *listing) next(address string, page any, header http.Header, items []any, number string) string {
	cursor := number
	switch {
	case l.More != "" && member(page, l.More) != true, l.Done != "" && member(page, l.Done) == true:
		return ""
	case l.Next == "Link":
		return next(address, linked(header))
	case l.Next != "":
		return next(address, linkIn(member(page, l.Next)))
	case l.Cursor != "":
		cursor = text(page, l.Cursor)
	case len(items) == 0:
		return ""
	case l.Last != "":
		cursor = text(items[len(items)-1], l.Last)
	}
	own, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil || cursor == "" {
		return ""
	}
	values.Set(l.As, cursor)
	return own + "?" + values.Encode()
}

// linkIn returns a link in a page: a text, or of a list of links that to the next page.
func linkIn(given any) string {
	links, _ := given.([]any)
	for _, link := range links {
		if text(link, "rel") == "next" {
			return text(link, "href")
		}
	}
	link, _ := given.(string)
	return link
}

// member returns a member of a reply, nil if there is none; "" is the reply itself.
func member(of any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		if path != "" {
			object, _ := of.(map[string]any)
			of = object[name]
		}
	}
	return of
}

// text returns a member that is a text or a number, "" if there is none.
func text(of any, path string) string {
	switch v := member(of, path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// instant reads a time as senders write it, zero if it is none.
func instant(text string) (at time.Time) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, _ = http.ParseTime(text)
	}
	return at
}

// subscribed reports whether a webhook gets events of a type. * stands for all.
func subscribed(types []string, of string) bool {
	return slices.Contains(types, "*") || slices.Contains(types, of)
}
