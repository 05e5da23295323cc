package main

import (
	"encoding/json"
	"slices"
	"testing"

	"sluice"
)

func TestEveryKindIsCalled(t *testing.T) {
	called := make([]int, len(kinds))
	for i := range allKinds {
		called[pick(i)]++
	}
	for i, k := range kinds {
		if called[i] != k.often || k.often == 0 {
			t.Errorf("kind %q is called %d times, want %d", k.name, called[i], k.often)
		}
	}
}

func TestOnlyTheRightResultFits(t *testing.T) {
	named := func(name string) kind {
		return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
	}
	none, plain, counted, failing := named(""), named("plain"), named("counted"), named("failing")
	split := kind{splits: true}
	done := func(value string) sluice.Result {
		return sluice.Result{Status: sluice.StatusOK, StatusCode: 200, Value: json.RawMessage(value)}
	}
	for _, c := range []struct {
		name   string
		kind   kind
		result sluice.Result
		want   bool
	}{
		{"no pipeline", none, done(`{"status":"OK"}`), true},
		{"no pipeline, not ready", none, sluice.Result{Status: sluice.StatusProcessing}, false},
		{"all events", split, done(`{"events":5,"duplicates":0}`), true},
		{"all there already", split, done(`{"events":0,"duplicates":5}`), true},
		{"some events", split, done(`{"events":2,"duplicates":3}`), false},
		{"no batch", split, done(`{"status":"OK"}`), false},
		{"its id", plain, done(`"7"`), true},
		{"another id", plain, done(`"8"`), false},
		{"no pipeline listened", plain, done(`{"status":"OK"}`), false},
		{"not ready", plain, sluice.Result{Status: sluice.StatusProcessing}, false},
		{"its id and a run", counted, done(`"7 in run 1"`), true},
		{"no run", counted, done(`"7"`), false},
		{"failed as asked", failing, sluice.Result{Status: sluice.StatusError, StatusCode: 422, Error: new(sluice.Problem)}, true},
		{"failed otherwise", failing, sluice.Result{Status: sluice.StatusError, StatusCode: 500, Error: new(sluice.Problem)}, false},
		{"did not fail", failing, done(`"7"`), false},
	} {
		if got := c.kind.fits(7, c.result); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestADigestTellsResultsApart(t *testing.T) {
	r := sluice.Result{Status: sluice.StatusOK, Value: json.RawMessage(`"7 in run 1"`)}
	asked, other := r, r
	asked.PollingRedirectEnabled = true
	other.Value = json.RawMessage(`"7 in run 2"`)
	if digestOf(asked) != digestOf(r) {
		t.Error("how a result was asked for makes it another one")
	}
	if digestOf(other) == digestOf(r) || digestOf(r) == (digest{}) {
		t.Error("two results have one digest")
	}
}
