package damage

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestHolesEndAtTheNextMessage, whatever is between them that is none.
func TestHolesEndAtTheNextMessage(t *testing.T) {
	const removed = 1 << 62 // the note that a message was
	for name, test := range map[string]struct {
		records []uint64 // sequences; 0: it can't be read
		want    []hole   // without their bytes
		last    uint64
	}{
		"whole":                         {[]uint64{1, 2, 3}, nil, 3},
		"before a message":              {[]uint64{1, 0, 3, 4}, []hole{{after: 1, next: 3}}, 4},
		"before a note":                 {[]uint64{1, 0, removed | 1, 3, 4}, []hole{{after: 1, next: 3}}, 4},
		"around a note":                 {[]uint64{1, 0, removed | 1, 0, 4}, []hole{{after: 1, next: 4}, {after: 1, next: 4}}, 4},
		"at the end, and a note":        {[]uint64{1, 0, removed | 1}, []hole{{after: 1}}, 1},
		"at the beginning, and further": {[]uint64{0, 2, 0, 4}, []hole{{next: 2}, {after: 2, next: 4}}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := newBlock("EVENTS", 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, sequence := range test.records {
				b.append(sequence)
			}
			holes, _, _, last := b.holes()
			for i := range holes {
				holes[i].from, holes[i].to = 0, 0
			}
			if !slices.Equal(holes, test.want) || last != test.last {
				t.Errorf("the holes are %+v up to %d, want %+v up to %d", holes, last, test.want, test.last)
			}
		})
	}
}

// append adds a record as the engine writes it, or a damaged one if the sequence is 0.
func (b *block) append(sequence uint64) {
	const subject, payload = "s.a", "some payload"
	var head [headSize]byte
	binary.LittleEndian.PutUint32(head[:], headSize+uint32(len(subject)+len(payload))+hashSize)
	binary.LittleEndian.PutUint64(head[4:], max(sequence, 1))
	binary.LittleEndian.PutUint16(head[20:], uint16(len(subject)))
	b.hash.Reset()
	_, _ = b.hash.Write(head[4:20])
	_, _ = b.hash.Write([]byte(subject + payload))
	b.content = append(b.content, head[:]...)
	b.content = append(b.content, subject+payload...)
	b.content = b.hash.Sum(b.content)
	if sequence == 0 {
		b.content[len(b.content)-1]++
	}
}
