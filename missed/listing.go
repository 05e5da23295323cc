package missed

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/value"
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
	URL    string // of the first page
	Search string // what is posted there, in JSON; "": it is only read
	Items  string // the deliveries in a page; "": it is a list of them
	Whole  bool   // they are the events themselves
	Fetch  string // where the event of a delivery is, otherwise

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
		page, header, err := l.page(ctx, a, address, from, to)
		if err != nil {
			return err
		}
		given := member(page, l.Items)
		if len(given) > 0 && given[0] != '[' && string(given) != "null" {
			return a.refused("its reply can't be read", nil)
		}
		items := slices.Collect(value.Elements(given))
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

// page asks for a page. A search has the parameters behind the address in its body.
func (l *listing) page(ctx context.Context, a *api, address string, from, to time.Time) ([]byte, http.Header, error) {
	if l.Search == "" {
		return a.ask(ctx, http.MethodGet, address, nil)
	}
	filled := strings.NewReplacer("{from}", stamp(from), "{to}", stamp(to)).Replace(l.Search)
	search, err := value.DecodeObject([]byte(filled))
	if err != nil {
		return nil, nil, err
	}
	own, query, _ := strings.Cut(address, "?")
	if given, err := url.ParseQuery(query); err == nil && given.Has(l.As) {
		search[l.As] = given.Get(l.As)
	}
	return a.ask(ctx, http.MethodPost, own, search)
}

func (l *listing) delivery(item []byte) delivery {
	d := delivery{id: text(item, l.ID), ref: text(item, l.Ref)}
	if l.Whole {
		d.event = item
	}
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
func (l *listing) next(address string, page []byte, header http.Header, items [][]byte, number string) string {
	cursor := number
	switch {
	case l.More != "" && string(member(page, l.More)) != "true", l.Done != "" && string(member(page, l.Done)) == "true":
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
func linkIn(given []byte) string {
	for link := range value.Elements(given) {
		if text(link, "rel") == "next" {
			return text(link, "href")
		}
	}
	return value.Scalar(given)
}

// member returns a member of a reply, nil if there is none; "" is the reply itself.
func member(of []byte, path string) []byte {
	if path == "" {
		return bytes.TrimSpace(of)
	}
	return value.Lookup(of, strings.Split(path, ".")...)
}

// text returns a member that is a text or a number, "" if there is none.
func text(of []byte, path string) string { return value.Scalar(member(of, path)) }

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
