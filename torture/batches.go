package main

import (
	"bytes"
	"encoding/json"

	"sluice"
)

// A split call brings several events, each with an id that tells of which call it is: all of them are
// stored, or none.

const (
	itemsOfACall = 5
	itemShift    = 56 // bits of the ids of calls
)

// An item is an event that a call brings with others.
type item struct {
	ID   uint64 `json:"id,string"`
	Body []byte `json:"body"` // of that id
}

// eventIDs returns the ids of the events of a call.
func (k kind) eventIDs(call uint64) []uint64 {
	if !k.splits {
		return []uint64{call}
	}
	ids := make([]uint64, itemsOfACall)
	for i := range ids {
		ids[i] = call | uint64(i+1)<<itemShift
	}
	return ids
}

// appendBody appends the body of the call with that id.
func (k kind) appendBody(b []byte, call uint64) []byte {
	if !k.splits {
		return appendBody(b, call)
	}
	var items []item
	for _, id := range k.eventIDs(call) {
		items = append(items, item{id, appendBody(nil, id)})
	}
	list, _ := json.Marshal(items) //nolint:errchkjson // numbers and bytes
	return append(b, list...)
}

// idOfItem is idOf for an event that came with others.
func idOfItem(body []byte) (id uint64, ok bool) {
	var i item
	if !bytes.HasPrefix(body, []byte("{")) || json.Unmarshal(body, &i) != nil {
		return 0, false
	}
	id, ok = idOf(i.Body)
	return id, ok && id == i.ID
}

// isWhole reports whether the answer to a call of several events says that all of them are new, or none.
func isWhole(r sluice.Result) (isNew, whole bool) {
	var s sluice.Split
	err := json.Unmarshal(r.Value, &s)
	return s.Events > 0, err == nil && s.Events+s.Duplicates == itemsOfACall && (s.Events == 0 || s.Duplicates == 0)
}

// repeats reports whether a call that was made again was recognised.
func (k kind) repeats(first, again sluice.Result) bool {
	if isNew, whole := isWhole(again); k.splits {
		return whole && !isNew
	}
	return first.CorrelationID == again.CorrelationID
}

// torn returns the calls of which some events are stored and others are not.
func torn(stored map[uint64]int) map[uint64]bool {
	items := make(map[uint64]int)
	for id := range stored {
		if id>>itemShift > 0 {
			items[id&(1<<itemShift-1)]++
		}
	}
	calls := make(map[uint64]bool)
	for call, n := range items {
		if n < itemsOfACall {
			calls[call] = true
		}
	}
	return calls
}

// isStored reports whether all events of an acknowledged call are.
func (r receipt) isStored(stored map[uint64]int) bool {
	for _, id := range kinds[r.kind].eventIDs(r.id) {
		if stored[id] == 0 {
			return false
		}
	}
	return true
}
