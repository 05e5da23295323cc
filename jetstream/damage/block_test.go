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
		want    []Loss   // without what is said of them
		last    uint64
	}{
		"whole":                         {[]uint64{1, 2, 3}, nil, 3},
		"before a message":              {[]uint64{1, 0, 3, 4}, []Loss{{First: 2, Last: 2}}, 4},
		"before a note":                 {[]uint64{1, 0, removed | 1, 3, 4}, []Loss{{First: 2, Last: 2}}, 4},
		"around a note":                 {[]uint64{1, 0, removed | 1, 0, 4}, []Loss{{First: 2, Last: 3}, {First: 2, Last: 3}}, 4},
		"at the end, and a note":        {[]uint64{1, 0, removed | 1}, []Loss{{First: 2}}, 1},
		"at the beginning, and further": {[]uint64{0, 2, 0, 4}, []Loss{{Last: 1}, {First: 3, Last: 3}}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := newBlock("EVENTS", 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, sequence := range test.records {
				b.append(sequence)
			}
			losses, can := b.losses()
			for i := range losses {
				losses[i].Problem = ""
			}
			if !slices.Equal(losses, test.want) || can.Last != test.last {
				t.Errorf("lost are %+v up to %d, want %+v up to %d", losses, can.Last, test.want, test.last)
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
