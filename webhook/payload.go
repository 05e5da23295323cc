package webhook

import (
	"mime"
	"slices"
	"unicode/utf8"

	"github.com/emmansun/base64"

	"sluice"
	"sluice/value"
)

// maxText bounds text in an event. Escaping can make text up to six times as
// long; beyond this bound it is carried as base64, which always fits.
const maxText = 11 << 19 // 5.5 MiB

// encode writes the payload of a call to in.payload, in the form that its webhook
// wants, and returns that form.
func (in *incoming) encode() sluice.Encoding {
	raw := in.hook.PayloadType == sluice.Raw
	switch {
	case in.hook.PayloadType == sluice.Ignore:
		return sluice.EncodingNone
	case in.files != nil:
		in.payload = in.files.appendJSON(in.payload, raw)
		return sluice.EncodingFiles
	case raw && isJSONBody(in.request.Header.Get("Content-Type"), in.body):
		in.payload = append(in.payload, in.body...)
		return sluice.EncodingJSON
	case raw:
		var ok bool
		if in.payload, ok = appendText(in.payload, in.body); ok {
			return sluice.EncodingText
		}
	}
	in.payload = append(in.payload, `{"origin":`...)
	in.payload = appendBase64(in.payload, in.body)
	in.payload = append(in.payload, '}')
	return sluice.EncodingBase64
}

// isJSONBody reports whether a body is JSON that an event can carry unchanged. Deeper
// JSON is carried as text, since the event around it adds a level.
func isJSONBody(contentType string, body []byte) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return value.IsMediaType(media) && value.Valid(body)
}

// appendText appends bytes as a JSON string, if they are text that fits.
func appendText(b, text []byte) ([]byte, bool) {
	if !utf8.Valid(text) {
		return b, false
	}
	longer := value.AppendString(b, text)
	if len(longer) > maxText {
		return b, false
	}
	return longer, true
}

// appendBase64 appends bytes as a JSON string in base64.
func appendBase64(b, data []byte) []byte {
	b = append(b, '"')
	n := base64.StdEncoding.EncodedLen(len(data))
	b = slices.Grow(b, n)
	base64.StdEncoding.Encode(b[len(b):len(b)+n], data)
	return append(b[:len(b)+n], '"')
}
