package backup

import (
	"errors"
	"io"
)

// Check reads a backup to its end, and returns what it has if it is whole.
func Check(from io.Reader) (Header, Summary, error) { return CheckEach(from, func(Stream) {}) }

// CheckEach does what Check does, and calls visit with each stream.
func CheckEach(from io.Reader, visit func(Stream)) (Header, Summary, error) {
	r, err := NewReader(from)
	if err != nil {
		return Header{}, Summary{}, err
	}
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, r.summary, nil
		}
		if err != nil {
			return r.Header, r.summary, err
		}
		visit(s)
	}
}
