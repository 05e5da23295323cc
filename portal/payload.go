package portal

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/value"
	"sluice/wording"
)

// payloadText returns the payload of a call for people: formatted JSON, text as it is,
// or the size and type of other bytes.
func payloadText(c tracedCall) string {
	switch c.PayloadEncoding {
	case sluice.EncodingText:
		var text string
		if err := json.Unmarshal(c.Payload, &text); err == nil {
			return shortened(text, maxShown)
		}
	case sluice.EncodingBase64:
		var binary sluice.Binary
		if err := json.Unmarshal(c.Payload, &binary); err == nil {
			return binaryText(binary)
		}
	case sluice.EncodingFiles:
		var payload struct {
			Files []sluice.Binary `json:"files"`
		}
		if err := json.Unmarshal(c.Payload, &payload); err == nil {
			var text strings.Builder
			for _, file := range payload.Files {
				fmt.Fprintf(&text, "%s (%s, %s)\n", file.Filename, file.Type, wording.Bytes(file.Size))
			}
			return shortened(text.String(), maxShown)
		}
	}
	if c.Payload == nil {
		return ""
	}
	return pretty(c.Payload)
}

// sentBody returns the body of a call as it came, if it is text. whole is false if it
// is not text or is incomplete.
func sentBody(c tracedCall) (body string, whole bool) {
	switch c.PayloadEncoding {
	case sluice.EncodingText:
		return body, json.Unmarshal(c.Payload, &body) == nil
	case sluice.EncodingJSON:
		return string(c.Payload), true
	case sluice.EncodingNone:
		return "", c.Method != "" && c.Size == 0
	case sluice.EncodingBase64:
		var sent sluice.Binary
		if err := json.Unmarshal(c.Payload, &sent); err != nil || sent.Origin == "" && sent.Size > 0 {
			return "", false
		}
		content, err := base64.StdEncoding.DecodeString(sent.Origin)
		return string(content), err == nil && isText(content)
	}
	return "", false
}

// binaryText returns bytes as text if they are text, otherwise their size and type.
func binaryText(b sluice.Binary) string {
	content, err := base64.StdEncoding.DecodeString(b.Origin)
	if err != nil || b.Origin == "" && b.Size > 0 || !isText(content) {
		return fmt.Sprintf("%s of %s", wording.Bytes(b.Size), b.Type)
	}
	if json.Valid(content) {
		return pretty(json.RawMessage(content))
	}
	return shortened(string(content), maxShown)
}

func isText(content []byte) bool {
	return utf8.Valid(content) && !strings.ContainsFunc(string(content), func(c rune) bool {
		return unicode.IsControl(c) && !unicode.IsSpace(c)
	})
}

// eventOf returns the event of a call as pipelines get it.
func (p *Portal) eventOf(r *http.Request, trace string) (json.RawMessage, error) {
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", trace, "limit", "1"))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 || found.Items[0].PayloadEncoding == "" {
		return nil, sluice.Errorf(sluice.CodeCallUnknown, "The event of that call is no longer kept, or you may not see payloads.")
	}
	c := found.Items[0]
	return value.Marshal(map[string]any{
		"eventKey": c.EventKey, "traceId": c.TraceID, "correlationId": c.CorrelationID, "receivedAt": c.Time,
		"payload": c.Payload, "payloadEncoding": c.PayloadEncoding, "contentType": c.ContentType, "method": c.Method,
		"query": c.Query, "headers": c.Headers, "remoteAddr": c.RemoteAddr,
	})
}
