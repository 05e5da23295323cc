package missed

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// A provider says how a sender is asked: an entry of providers.yaml.
type provider struct {
	Paths      []string
	List, Thin *listing
	Resend     string
	Names      string
	Hooks      map[string]shape
}

//go:embed providers.yaml
var table []byte

// providers are the senders that can be asked, by the names of their presets.
var providers = sync.OnceValue(func() (all map[string]provider) {
	if err := yaml.Unmarshal(table, &all); err != nil {
		panic(err)
	}
	return all
})

// logins get hold of the bearer token, where the secret is none.
var logins = map[string]func(ctx context.Context, a *api) error{
	"github": loginGitHub, "microsoft-graph": loginGraph, "paypal": loginPayPal, "stripe": loginStripe,
}

// renewals let subscriptions that end go on, for as long as they were renewed for last, and
// return when they end then.
var renewals = map[string]func(ctx context.Context, a *api, lasts time.Duration) (until time.Time, err error){
	"microsoft-graph": renewGraph,
}

// Asks reports whether a sender can be asked what it has sent.
func Asks(sender string) bool { return providers()[sender].List != nil }

// Checks reports whether a sender can be asked whether it still calls.
func Checks(sender string) bool { return providers()[sender].Hooks != nil }

// Senders lists the senders that can be asked what they have sent, for people.
func Senders() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(providers())),
		func(name string) bool { return !Asks(name) }), ", ")
}

// Checkers lists the senders that can be asked whether they still call, for people.
func Checkers() string { return strings.Join(slices.Sorted(maps.Keys(providers())), ", ") }

// fill returns an address of providers.yaml for a webhook.
func (a *api) fill(address, ref string, from, to time.Time) string {
	return strings.NewReplacer(
		"{hook}", a.hook, "{base}", a.base, "{id}", a.id, "{ref}", url.PathEscape(ref),
		"{from}", url.QueryEscape(stamp(from)), "{to}", url.QueryEscape(stamp(to)),
		"{since}", strconv.FormatInt(from.Unix(), 10), "{until}", strconv.FormatInt(to.Unix(), 10),
	).Replace(address)
}

func stamp(t time.Time) string { return cmp.Or(t, time.Now()).UTC().Format(time.RFC3339) }
