package missed

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// A delivery is what a sender says it has sent.
type delivery struct {
	id    string    // the delivery id, as calls have it
	time  time.Time // zero: the sender does not say
	ref   string    // by which the sender knows it
	busy  bool      // the sender still tries, and can't be told to send it
	event []byte    // if the list has it
}

// A provider says how a sender is asked.
type provider struct {
	paths []string // before the id of a webhook in its address; none if it is not needed

	// login gets hold of the bearer token, where the secret is none; nil where it is.
	login func(ctx context.Context, a *api) error

	// list shows deliveries to see, as long as that returns true. It may show some that are
	// not between from and to.
	list func(ctx context.Context, a *api, from, to time.Time, see func(delivery) bool) error

	// resend returns the address by which the sender is told to send a delivery once more, and
	// what is posted there.
	resend func(a *api, d delivery) (address string, body any)

	// renew lets a subscription that ends go on, for as long as it was renewed for last, and
	// returns when it ends then; nil where subscriptions don't end.
	renew func(ctx context.Context, a *api, lasts time.Duration) (until time.Time, err error)

	// fetch returns the event of a delivery, where a sender can't be told to send it.
	fetch func(ctx context.Context, a *api, d delivery) ([]byte, error)
}

// providers are the senders that can be asked, by the names of their presets.
var providers = map[string]provider{
	"github": github, "gitlab": gitlab, "paddle": paddle, "paypal": paypal, "square": square, "stripe": stripe,
	"svix": svix, "microsoft-graph": graph,
}

// Asks reports whether a sender can be asked what it has sent.
func Asks(sender string) bool {
	return providers[sender].list != nil
}

// Checks reports whether a sender can be asked whether it still calls.
func Checks(sender string) bool {
	_, known := providers[sender]
	return known
}

// Senders lists the senders that can be asked what they have sent, for people.
func Senders() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(providers)),
		func(name string) bool { return !Asks(name) }), ", ")
}

// Checkers lists the senders that can be asked whether they still call, for people.
func Checkers() string { return strings.Join(slices.Sorted(maps.Keys(providers)), ", ") }

// subscribed reports whether a webhook gets events of a type. * stands for all.
func subscribed(types []string, of string) bool {
	return slices.Contains(types, "*") || slices.Contains(types, of)
}

func stamp(t time.Time) string { return cmp.Or(t, time.Now()).UTC().Format(time.RFC3339) }
