package sluice

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sluice/value"
)

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

// HideRuns takes from a call the runs of pipelines that are not covered.
func (c Cover) HideRuns(call *Call) {
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
		r.Value = marshal(values)
	}
}

// fingerprints are the members of an event by which a repetition is found out. They are made of
// what a webhook may not store, and are nobody's business.
var fingerprints = []string{"delivery", "bodyHash"}

// HideInternals takes from an event's JSON the names of pipelines that are not covered, and its
// fingerprints.
func (c Cover) HideInternals(event map[string]any) {
	for _, member := range fingerprints {
		delete(event, member)
	}
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

// HideInternalsJSON is HideInternals for an event that is not decoded.
func (c Cover) HideInternalsJSON(event json.RawMessage) json.RawMessage {
	if c.Whole() || event == nil {
		return value.Without(event, fingerprints...)
	}
	fields, err := value.DecodeObject(event)
	if err != nil {
		return nil // another program's
	}
	c.HideInternals(fields)
	return marshal(fields)
}
