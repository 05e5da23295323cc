package trust

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/sender"
	"sluice/spelling"
)

// A Trust checks the calls of one webhook. It does not change.
type Trust struct {
	sluice.Trust
	*sender.Verifier // accepts everything if calls are not signed

	IDs     *sender.Dedupe // nil: calls have no ids
	Where   string         // where calls have their ids, as the parameter dedupe has it
	Missing error          // why a secret is left out; nil: all are there

	computing *limit.Computing // see Options
	eventKey  string           // of the webhook

	version time.Time      // of the webhook
	secrets []string       // that calls are signed with; those stored elsewhere as they were then
	schema  *schema        // nil: every payload will do
	origin  origin         // where calls must come from
	answers sender.Answers // that the sender demands
	kinds   string         // where the sender names the kinds of its events
}

// Build makes a trust. It leaves out signing secrets that are gone. Errors name the
// parameter at fault.
func (g *Trusts) Build(ctx context.Context, t sluice.Trust) (*Trust, error) {
	secrets, missing, err := g.resolve(ctx, t.Signing)
	if err != nil {
		return nil, err
	}
	made := &Trust{Trust: t, Verifier: new(sender.Verifier), secrets: secrets, Where: t.Dedupe, Missing: missing}
	preset, err := PresetOf(t)
	if err == nil && made.HasSender() {
		made.Verifier, err = sender.New(preset, secrets, g.Keys)
	}
	if err != nil {
		return nil, err
	}
	made.Where, made.answers = cmp.Or(made.Where, preset.Dedupe), preset.Answers
	made.kinds = preset.EventType
	if made.origin, err = newOrigin(t); err != nil {
		return nil, err
	}
	return made, made.complete()
}

// HasSender reports whether it is said who calls.
func (g *Trust) HasSender() bool { return g.Provider != "" || g.Signature != nil }

// complete prepares what does not depend on the sender.
func (g *Trust) complete() (err error) {
	if g.Where != "" && g.Where != "off" {
		ids, err := sender.ParseDedupe(g.Where)
		if err != nil {
			return err
		}
		g.IDs = &ids
	}
	if g.Schema != nil {
		g.schema, err = newSchema(g.Schema)
	}
	return err
}

// PresetOf returns the preset of the sender that is trusted, known or not, an empty one if none is.
func PresetOf(t sluice.Trust) (p sender.Preset, err error) {
	switch {
	case t.Provider != "":
		return FindPreset(t.Provider)
	case t.Signature != nil:
		return sender.ParseScheme(t.Signature)
	}
	return p, nil
}

// FindPreset returns a known sender. The error for an unknown one suggests the closest.
func FindPreset(name string) (sender.Preset, error) {
	preset, ok := sender.Find(name)
	if ok {
		return preset, nil
	}
	var names []string
	for _, p := range sender.Presets() {
		names = append(names, p.Name)
	}
	hint := "provider.get lists those there are."
	if near := spelling.Nearest(name, names); near != "" {
		hint = "Did you mean " + near + "?"
	}
	return preset, sluice.InvalidParameter("provider", "There is no provider of that name. %s", hint)
}

// DemandsOf returns what a webhook, if there is one, demands of its calls.
func DemandsOf(hook *sluice.Webhook) sluice.Trust {
	if hook == nil || hook.Trust == nil {
		return sluice.Trust{}
	}
	return *hook.Trust
}

// LongestPayload returns how many bytes the payload of a webhook may have: as it says, otherwise
// as many as its sender sends.
func LongestPayload(hook *sluice.Webhook) int {
	return cmp.Or(hook.MaxPayloadLength, sender.Of(hook).MaxPayloadLength, sluice.DefaultPayloadLength)
}

// Secrets returns how many secrets a call may be signed with.
func (g *Trust) Secrets() int { return len(g.secrets) }

// AnswersOf returns how calls of a webhook are answered: as it says, otherwise as its
// provider demands.
func (g *Trust) AnswersOf(hook *sluice.Webhook) (a sender.Answers) {
	a = g.answers
	if hook.Answer != "" && hook.Answer != a.Form {
		a = sender.Answers{Form: hook.Answer}
	}
	a.Form, a.Type = cmp.Or(a.Form, sluice.AnswerResult), cmp.Or(hook.AnswerType, a.Type)
	return a
}

// EventTypeOf returns where calls of a webhook name the kind of their event: as it says, otherwise
// as its provider does.
func (g *Trust) EventTypeOf(hook *sluice.Webhook) string {
	return cmp.Or(hook.EventType, g.kinds)
}
