package limit

import (
	"errors"
	"io"
)

// ErrTooLong is the error of what is longer than it may be.
var ErrTooLong = errors.New("it is too long")

// ReadAll reads to the end. Of what is longer than longest it returns the beginning, and
// ErrTooLong.
func ReadAll(r io.Reader, longest int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, longest+1))
	if err == nil && int64(len(content)) > longest {
		err = ErrTooLong
	}
	return content, err
}
