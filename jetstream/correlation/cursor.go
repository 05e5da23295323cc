package correlation

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// Cursor returns a place in a list that callers give back to go on there. As an id, it tells
// nobody how many events there are.
func (c IDs) Cursor(place ...uint64) string {
	b := make([]byte, 8, 8+8*len(place))
	for _, number := range place {
		b = binary.BigEndian.AppendUint64(b, number)
	}
	binary.BigEndian.PutUint64(b, c.hash("cursor", b[8:]))
	c.maskPlace(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Place returns the numbers of a cursor, which must be as many.
func (c IDs) Place(cursor string, count int) (place []uint64, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != 8+8*count {
		return nil, false
	}
	c.maskPlace(b)
	for part := range slices.Chunk(b[8:], 8) {
		place = append(place, binary.BigEndian.Uint64(part))
	}
	return place, binary.BigEndian.Uint64(b) == c.hash("cursor", b[8:])
}

// maskPlace masks the numbers of a cursor, or unmasks them, by the hash before them.
func (c IDs) maskPlace(b []byte) {
	nonce := binary.BigEndian.Uint64(b)
	for i, part := range slices.Collect(slices.Chunk(b[8:], 8)) {
		binary.BigEndian.PutUint64(part,
			binary.BigEndian.Uint64(part)^c.hash("place", binary.BigEndian.AppendUint64(nil, nonce+uint64(i))))
	}
}
