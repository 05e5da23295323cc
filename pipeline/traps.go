package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"sluice"
	"sluice/pipeline/source"
	"sluice/spelling"
)

// traps warns of what is written correctly, and yet can't do what its author means.
func (r *Runner) traps(ctx context.Context, p *source.Program) (found []sluice.Finding) {
	base64Key := ""
	if pattern, listens := p.Listens(""); listens && r.Base64Key != nil {
		base64Key = r.Base64Key(sluice.UserFrom(ctx).HintCover("webhook.get"), pattern)
	}
	work := r.Limits.Computing.Work(ctx, sluice.UserFrom(ctx).Name, "")
	names, told, inXML := p.Names(), map[string]bool{}, fromXML(p)
	for _, use := range p.Uses() {
		text := lengthOfText(use.Template.Lengths, inXML[use.Step])
		if err := cmp.Or(use.Template.ConstantError(work), text); err != nil {
			found = append(found, trap(use, sluice.AsError(err)))
		}
		for _, read := range use.Template.Reads {
			if base64Key != "" && use.Event && isMemberOfPayload(read) {
				found = append(found, trap(use, payloadIsBase64(read, base64Key)))
				base64Key = "" // once is enough
			}
			if p.Trigger != nil && use.Template == p.Trigger.Where {
				found = append(found, noMember(use, read)...)
			}
			if name := nameIn(read); p.Trigger != nil && name != "" && !names[name] && !told[name] {
				told[name] = true
				found = append(found, trap(use, nameUnset(name, names)))
			}
		}
	}
	return append(found, stepTraps(p)...)
}

func trap(use source.Use, e *sluice.Error) sluice.Finding {
	return finding(use.Step, e.At(use.Template.Position()))
}

// finding shows an error of a step, at its own position if it has one.
func finding(s *source.Step, e *sluice.Error) sluice.Finding {
	f := sluice.Finding{
		Line: s.Line, Column: s.Column, Step: s.Label(), Command: s.Name, Code: e.Code, Parameter: e.Parameter,
		Message: e.Message,
	}
	if e.Position.Line > 0 {
		f.Line, f.Column = e.Position.Line, e.Position.Column
	}
	return f
}

// isMemberOfPayload reports whether a name is that of a member of a raw payload.
func isMemberOfPayload(read string) bool {
	rest, ok := strings.CutPrefix(read, "body.payload")
	if !ok || rest == "" {
		return false
	}
	member := firstName(strings.TrimPrefix(rest, "."))
	return !slices.Contains([]string{"origin", "files", "fields"}, member)
}

func payloadIsBase64(read, key string) *sluice.Error {
	return sluice.CodePayloadIsBase64.Errorf(
		"%s is always null: the webhook %s passes payloads on as base64, in body.payload.origin. To read members, "+
			"try: sluice webhook edit %s --payload-type raw", read, key, key)
}

// eventMembers are the members that events have.
var eventMembers = sync.OnceValue(func() (names []string) {
	fields := reflect.VisibleFields(reflect.TypeFor[sluice.Event]())
	names = append(make([]string, 0, len(fields)+2), "correlationId", "deliveryCount")
	for _, f := range fields {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
})

// noMember warns of a member that no event has.
func noMember(use source.Use, read string) []sluice.Finding {
	path, ofBody := strings.CutPrefix(read, "body.")
	name := firstName(path)
	if !ofBody || slices.Contains(eventMembers(), name) {
		return nil
	}
	return []sluice.Finding{trap(use, sluice.CodeNameUnset.Errorf("Events have no %s, so that it is always "+
		"null; %s", name, spelling.Hint(name, eventMembers(), "what a sender sends is in body.payload.")))}
}

// nameIn returns the variable or header that a name begins with, "" if there is none.
func nameIn(read string) string {
	section, rest, _ := strings.Cut(read, ".")
	if section != "vars" && section != "headers" {
		return ""
	}
	return section + "." + firstName(rest)
}

// firstName returns a path of members up to its first dot or bracket.
func firstName(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

func nameUnset(name string, names map[string]bool) *sluice.Error {
	hint := "."
	if near := spelling.Nearest(name, slices.Sorted(maps.Keys(names))); near != "" {
		hint = "; did you mean " + near + "?"
	} else if section, header, _ := strings.Cut(name, "."); section == "headers" {
		hint = fmt.Sprintf("; those of the call are in body.headers[%q].", header)
	}
	return sluice.CodeNameUnset.Errorf("Nothing sets %s, so that it is always null%s", name, hint)
}
