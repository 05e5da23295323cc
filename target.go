package sluice

import (
	"hash/fnv"
	"net/url"
	"strings"
)

// A Target is a server that steps of pipelines call: a hash of scheme, host and port. 0 is
// none.
type Target uint64

// TargetOf returns the target of an address.
func TargetOf(u *url.URL) Target {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port)) // never fails
	return Target(h.Sum64())
}

// targets is how the calls of a run went, those of runs within it included.
type targets struct {
	reached map[Target]bool
	away    Target // of the latest call, if that went wrong
}

// NoteTarget notes that a step has called a server, and whether that is in order. A nil run
// takes it and forgets it.
func (r *Run) NoteTarget(u *url.URL, inOrder bool) {
	if r == nil {
		return
	}
	t, target := r.calls(), TargetOf(u)
	t.reached[target], t.away = inOrder, target
	if inOrder {
		t.away = 0
	}
}

// Within makes the run part of an outer one, which learns of its calls.
func (r *Run) Within(outer *Run) { r.targets = outer.calls() }

func (r *Run) calls() *targets {
	if r.targets == nil {
		r.targets = &targets{reached: make(map[Target]bool)}
	}
	return r.targets
}

// Reached returns the targets that were in order when the run last called them, and away the
// one that its latest call failed at, 0 if it went well.
func (r *Run) Reached() (reached []Target, away Target) {
	if r.targets == nil {
		return nil, 0
	}
	for target, inOrder := range r.targets.reached {
		if inOrder {
			reached = append(reached, target)
		}
	}
	return reached, r.targets.away
}
