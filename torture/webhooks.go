package main

import (
	"fmt"
	"strings"
	"sync"

	"sluice"
)

// A hook is a webhook as the ledger knows it. One writer changes it, one change
// at a time.
type hook struct {
	key      string // its event key
	uuid     string // "" as long as its creation is not answered
	version  int    // of the last answered put
	asked    int    // of the last put, answered or not
	deleting bool   // a delete was sent
	deleted  bool   // and answered, or a check found it gone
	applied  bool   // apply changes it, no writer does
}

// A version of a webhook shows in two of its fields, so that a mix of two
// versions is noticed as well.

func maxPayloadLength(version int) int { return 30_000 + version }

func payloadType(version int) sluice.PayloadType {
	if version%2 == 0 {
		return sluice.Base64
	}
	return sluice.Raw
}

// A hookLedger keeps what was answered to puts and deletes of webhooks.
type hookLedger struct {
	mu      sync.Mutex
	byKey   map[string]*hook
	answers int // puts and deletes that were answered
	lost    int // webhooks that a check found in an older state
}

// longName makes the records long, so that the blocks they are stored in fill
// up and are rewritten.
var longName = strings.Repeat("x", 150)

// create adds a webhook that is about to be created.
func (l *hookLedger) create() *hook {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &hook{key: fmt.Sprintf("webhook.torture.%d.%s", len(l.byKey), longName)}
	l.byKey[h.key] = h
	return h
}

// answered notes a change that the server has answered.
func (l *hookLedger) answered(note func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	note()
}

// asking notes a change that is about to be sent.
func (l *hookLedger) asking(note func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note()
}

// compare counts the webhooks that are neither as they were answered nor as asked for later. From
// now on they are expected as it finds them.
func (l *hookLedger) compare(found []sluice.Webhook) {
	byKey := make(map[string]sluice.Webhook, len(found))
	for _, w := range found {
		if l.byKey[w.EventKey] == nil {
			l.lost++ // it is none of ours: the name of one is damaged
		}
		byKey[w.EventKey] = w
	}
	for key, h := range l.byKey {
		w, there := byKey[key]
		if !h.settle(w, there) {
			l.lost++
		}
	}
}

// live returns the webhooks that are there for sure.
func (l *hookLedger) live() []*hook {
	var live []*hook
	for _, h := range l.byKey {
		if h.uuid != "" && !h.deleting && !h.applied {
			live = append(live, h)
		}
	}
	return live
}

// settle reports whether a webhook may be as it was found, and takes over what
// it is.
func (h *hook) settle(w sluice.Webhook, there bool) bool {
	if !there {
		fits := h.deleting || h.uuid == ""
		h.deleting, h.deleted = true, true
		return fits
	}
	version := w.MaxPayloadLength - maxPayloadLength(0)
	fits := !h.deleted &&
		(h.uuid == w.UUID || h.uuid == "") &&
		(version >= h.version && version <= h.asked) &&
		w.PayloadType == payloadType(version)
	h.uuid, h.version, h.asked, h.deleting, h.deleted = w.UUID, version, version, false, false
	return fits
}
