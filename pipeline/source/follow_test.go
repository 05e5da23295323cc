package source_test

import (
	"testing"

	"sluice/pipeline/source"
)

// TestFollow: each step is visited with what holds before it, and behind a block, or a step that
// may be left out, holds what does on either way.
func TestFollow(t *testing.T) {
	p, err := parse(`
pipeline:
- pass: {id: a}
- pass: {id: b, if: "#{body.b}"}
- if: {id: c, true: "#{body.c}", then: [pass: {id: d}], else: [pass: {id: e}]}
- foreach: {id: f, in: [1], do: [pass: {id: g}]}
- pass: {id: h}
`)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	end := source.Follow(p.Steps, "", func(s *source.Step, state string) string {
		before[s.ID] = state
		return state + s.ID
	}, func(one, other string) string { return "(" + one + "|" + other + ")" })
	c, f := "(a|ab)", "((a|ab)d|(a|ab)e)"
	g := "(" + f + "|" + f + "g)"
	for id, want := range map[string]string{"a": "", "b": "a", "c": c, "d": c, "e": c, "f": f, "g": f, "h": g} {
		if before[id] != want {
			t.Errorf("before %s holds %s, want %s", id, before[id], want)
		}
	}
	if end != g+"h" {
		t.Errorf("at the end holds %s", end)
	}
}
