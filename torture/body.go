package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// A call's body starts with its id, and the rest follows from the id: so the
// body alone tells whether it was stored as it was sent.

const (
	shortestBody = 1 << 10
	longestBody  = 4 << 10
)

// appendBody appends the body of the call with that id.
func appendBody(b []byte, id uint64) []byte {
	random := rand.NewPCG(id, 1)
	end := len(b) + shortestBody + int(random.Uint64()%(longestBody-shortestBody))
	b = binary.BigEndian.AppendUint64(b, id)
	for len(b) < end {
		b = binary.LittleEndian.AppendUint64(b, random.Uint64())
	}
	return b
}

// idOf returns the id of the call that a body belongs to.
func idOf(body []byte) (id uint64, ok bool) {
	if len(body) < shortestBody {
		return 0, false
	}
	id = binary.BigEndian.Uint64(body)
	return id, bytes.Equal(body, appendBody(make([]byte, 0, longestBody+8), id))
}
