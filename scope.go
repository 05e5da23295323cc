package sluice

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"sluice/value"
)

// A Grant is what a role with a scope allows: its permissions, on names that begin with
// one of the prefixes. A prefix ends where a group of a name ends: partner covers partner
// and partner.orders, and not partners.
type Grant struct {
	Permissions []string `json:"permissions"`
	Scope       []string `json:"scope"`
}

// Grants are those of all roles that a user has.
type Grants struct {
	All []Grant

	prefixes sync.Map // by permission: computing them anew for each call would take long
}

// of returns the prefixes of the names on which a permission is granted, nil if it is on
// none.
func (g *Grants) of(permission string) map[string]bool {
	if g == nil {
		return nil
	}
	if known, ok := g.prefixes.Load(permission); ok {
		return known.(map[string]bool)
	}
	var found map[string]bool
	for _, grant := range g.All {
		if !allows(grant.Permissions, permission) {
			continue
		}
		if found == nil {
			found = make(map[string]bool)
		}
		for _, prefix := range grant.Scope {
			found[prefix] = true
		}
	}
	if found != nil { // nobody can fill the memory with permissions that are not granted
		g.prefixes.Store(permission, found)
	}
	return found
}

// A Cover is the part of all names that a user has a permission for. The zero value is
// everything.
type Cover struct {
	parts []map[string]bool // prefixes; a name must be in each part
	self  string            // the user, who may see the runs of sources that they have not stored
}

// Whole reports whether the cover is everything.
func (c Cover) Whole() bool { return len(c.parts) == 0 }

// Name reports whether a pipeline or a secret is covered.
func (c Cover) Name(name string) bool {
	return !slices.ContainsFunc(c.parts, func(prefixes map[string]bool) bool { return !hasPrefixOf(prefixes, name) })
}

func hasPrefixOf(prefixes map[string]bool, name string) bool {
	for end := range len(name) {
		if name[end] == '.' && prefixes[name[:end]] {
			return true
		}
	}
	return prefixes[name]
}

// String returns the cover for people.
func (c Cover) String() string {
	if c.Whole() {
		return "everything"
	}
	var parts []string
	for _, prefixes := range c.parts {
		parts = append(parts, strings.Join(slices.Sorted(maps.Keys(prefixes)), ", "))
	}
	return strings.Join(parts, " and ")
}

// Within reports whether all that is covered is covered by another as well.
func (c Cover) Within(other Cover) bool {
	for _, prefixes := range other.parts {
		if !slices.ContainsFunc(c.parts, func(mine map[string]bool) bool {
			for prefix := range mine {
				if !hasPrefixOf(prefixes, prefix) {
					return false
				}
			}
			return true
		}) {
			return false
		}
	}
	return true
}

// WebhookPrefix is what event keys begin with by convention. Scopes are written without it.
const WebhookPrefix = "webhook."

// Event reports whether an event key, or all keys that a pattern matches, are covered.
// Events about alerts are covered by what each is about, see Cover.Alert.
func (c Cover) Event(key string) bool { return c.Name(strings.TrimPrefix(key, WebhookPrefix)) }

// Message reports whether a message key, or all keys that a pattern matches, are covered.
func (c Cover) Message(key string) bool {
	if event, ok := strings.CutPrefix(key, EventPrefix); ok {
		return c.Event(event)
	}
	return c.Name(key)
}

// Alert reports whether an alert is covered. Those that are about the server are covered
// by everything only.
func (c Cover) Alert(kind AlertKind, subject string) bool {
	if kind.AboutPipeline() {
		return c.Name(subject)
	}
	return c.Whole() || kind.AboutWebhook() && c.Event(subject)
}

// Stored reports whether an event is covered, by its key and its JSON.
func (c Cover) Stored(key string, event []byte) bool {
	kind, isAlert := strings.CutPrefix(key, AlertPrefix)
	if c.Whole() || !isAlert {
		return c.Event(key)
	}
	var about struct {
		Payload struct {
			Subject string `json:"subject"`
		} `json:"payload"`
	}
	return json.Unmarshal(event, &about) == nil && c.Alert(AlertKind(kind), about.Payload.Subject)
}

// Call reports whether a call is covered. One without a known webhook is covered by
// everything only.
func (c Cover) Call(call *Call) bool {
	switch {
	case c.Whole():
		return true
	case call.EventKey != "":
		return c.Event(call.EventKey)
	case call.Key != "":
		return c.Message(call.Key)
	}
	return len(call.Runs) > 0 && c.run(call.Runs[0].Pipeline, call.User)
}

// run reports whether a run of a pipeline is covered, or of a source by a user.
func (c Cover) run(pipeline, user string) bool {
	return c.Name(pipeline) || pipeline == "" && user != "" && user == c.self
}

// Shown takes from a call the runs of pipelines that are not covered.
func (c Cover) Shown(call *Call) {
	if !c.Whole() {
		call.Runs = slices.DeleteFunc(call.Runs, func(r RunReport) bool { return !c.run(r.Pipeline, call.User) })
	}
}

// Result takes from a result what pipelines made that are not covered.
func (c Cover) Result(r *Result) {
	if c.Whole() || !slices.ContainsFunc(r.Listeners, func(name string) bool { return !c.Name(name) }) {
		return
	}
	if r.Failed != "" && !c.Name(r.Failed) {
		r.Error, r.StatusCode = nil, 500
	}
	var values map[string]json.RawMessage
	if len(r.Listeners) > 1 {
		_ = json.Unmarshal(r.Value, &values) // there are none before all are done
	}
	maps.DeleteFunc(values, func(name string, _ json.RawMessage) bool { return !c.Name(name) })
	r.Value = nil
	if len(values) > 0 {
		r.Value = appendJSON(nil, values)
	}
}

// Heard takes from an event's JSON the names of pipelines that are not covered.
func (c Cover) Heard(event map[string]any) {
	if c.Whole() {
		return
	}
	names, _ := event["listeners"].([]any)
	event["listeners"] = slices.DeleteFunc(slices.Clone(names), func(name any) bool {
		text, _ := name.(string)
		return !c.Name(text)
	})
	for _, field := range []string{"to", "except"} {
		if name, _ := event[field].(string); name != "" && !c.Name(name) {
			delete(event, field)
		}
	}
}

// HeardJSON is Heard for an event that is not decoded.
func (c Cover) HeardJSON(event json.RawMessage) json.RawMessage {
	if c.Whole() || event == nil {
		return event
	}
	fields, err := value.DecodeObject(event)
	if err != nil {
		return nil // another program's
	}
	c.Heard(fields)
	return appendJSON(nil, fields)
}

// And returns what both cover.
func (c Cover) And(other Cover) Cover { return Cover{slices.Concat(c.parts, other.parts), c.self} }

// Cover returns where the user has a permission.
func (u User) Cover(permission string) Cover { return u.CoverOf(permission, false) }

// CoverOf returns where the user may run a command. See MayCall.
func (u User) CoverOf(command string, readOnly bool) (c Cover) {
	c.self = u.Name
	add := func(permissions []string, scoped *Grants) {
		if !allowsCall(permissions, command, readOnly) {
			c.parts = append(c.parts, scoped.of(command))
		}
	}
	add(u.Permissions, u.Scoped)
	for _, b := range u.Bounds {
		add(b.Permissions, b.Scoped)
	}
	return c
}

// Sees returns what a hint may tell the user of, of what a command shows: what is covered,
// or everything if there are no scopes.
func (u User) Sees(command string) Cover {
	if !u.IsScoped() {
		return Cover{}
	}
	return u.CoverOf(command, true)
}

// IsScoped reports whether what the user may do depends on the names of things.
func (u User) IsScoped() bool {
	return u.Scoped != nil || slices.ContainsFunc(u.Bounds, func(b Bound) bool { return b.Scoped != nil })
}

type coverKey struct{}

// WithCover returns a context for a command that shows and changes only what is covered.
func WithCover(ctx context.Context, c Cover) context.Context {
	return context.WithValue(ctx, coverKey{}, c)
}

// CoverFrom returns what the command of ctx may show and change.
func CoverFrom(ctx context.Context) Cover {
	if !UserFrom(ctx).IsScoped() {
		return Cover{}
	}
	if c, ok := ctx.Value(coverKey{}).(Cover); ok {
		return c
	}
	return Cover{parts: []map[string]bool{nil}} // no command asked for it
}

// UsingSecrets returns a context in which only the secrets are there that a user may use.
func UsingSecrets(ctx context.Context, u User) context.Context {
	if !u.IsScoped() {
		return Unscoped(ctx)
	}
	return WithCover(WithUser(ctx, u), u.Cover(MayUseSecrets))
}

// Unscoped returns a context in which everything is covered, for what a command needs and
// does not show.
func Unscoped(ctx context.Context) context.Context {
	if !UserFrom(ctx).IsScoped() {
		return ctx
	}
	return WithUser(ctx, User{Name: UserFrom(ctx).Name})
}

// NotCovered is the error of a caller who would make something outside of their scope.
func NotCovered(permission, name string) *Error {
	return Errorf(CodeForbidden, "Your roles have the permission %s, but not for %s; ask an administrator for a role whose scope covers it.", permission, Quote(name))
}
