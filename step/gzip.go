package step

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// fromGzip unpacks gzip in base64 to text, or to base64 if it is no text. It stops at the
// limit: a few bytes can unpack to more memory than any machine has.
func fromGzip(input any) (any, error) {
	packed, err := decodeBase64(input)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, gzipError(err)
	}
	unpacked, err := io.ReadAll(io.LimitReader(reader, value.MaxSize+1))
	switch {
	case len(unpacked) > value.MaxSize:
		return nil, value.TooLarge(value.MaxSize)
	case err != nil:
		return nil, gzipError(err)
	case !utf8.Valid(unpacked):
		return encodeBase64(unpacked)
	}
	return string(unpacked), nil
}

func gzipError(err error) error {
	why := "its bytes are damaged, or something follows them"
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		why = "it ends too early"
	case errors.Is(err, gzip.ErrChecksum):
		why = "its checksum does not match"
	}
	return sluice.Errorf(sluice.CodeGzipInvalid, "This is not gzip: %s.", why)
}

// toGzip packs text, or another value's JSON, and returns it as base64.
func toGzip(input any) (any, error) {
	text, err := textOrJSON(input)
	if err != nil {
		return nil, err
	}
	if len(text) > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = io.WriteString(writer, text)
	if err = errors.Join(err, writer.Close()); err != nil {
		return nil, err
	}
	return encodeBase64(packed.Bytes())
}
