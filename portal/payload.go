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
)

// shownBinary is how trace.get shows bytes: the bytes only if they are few.
type shownBinary struct {
	Filename string `json:"filename"`
	Size     int    `json:"size"`
	Type     string `json:"type"`
	Origin   string `json:"origin"`
}

// payloadText returns the payload of a call as people read it: JSON with line
// breaks, text unchanged, and of other bytes their size and type.
func payloadText(c tracedCall) string {
	switch sluice.Encoding(c.PayloadEncoding) {
	case sluice.EncodingText:
		var text string
		if err := json.Unmarshal(c.Payload, &text); err == nil {
			return shortened(text, maxShown)
		}
	case sluice.EncodingBase64:
		var binary shownBinary
		if err := json.Unmarshal(c.Payload, &binary); err == nil {
			return binaryText(binary)
		}
	case sluice.EncodingFiles:
		var payload struct {
			Files []shownBinary `json:"files"`
		}
		if err := json.Unmarshal(c.Payload, &payload); err == nil {
			var text strings.Builder
			for _, file := range payload.Files {
				fmt.Fprintf(&text, "%s (%s, %s)\n", file.Filename, file.Type, shownBytes(file.Size))
			}
			return shortened(text.String(), maxShown)
		}
	}
	if c.Payload == nil {
		return ""
	}
	return pretty(c.Payload)
}

// sentBody returns the body of a call as it came, as far as that is text, and
// whether it is all there.
func sentBody(c tracedCall) (body string, whole bool) {
	switch sluice.Encoding(c.PayloadEncoding) {
	case sluice.EncodingText:
		return body, json.Unmarshal(c.Payload, &body) == nil
	case sluice.EncodingJSON:
		return string(c.Payload), true
	case sluice.EncodingNone:
		return "", c.Method != "" && c.Size == 0
	case sluice.EncodingBase64:
		var sent shownBinary
		if err := json.Unmarshal(c.Payload, &sent); err != nil || sent.Origin == "" && sent.Size > 0 {
			return "", false
		}
		content, err := base64.StdEncoding.DecodeString(sent.Origin)
		return string(content), err == nil && isText(content)
	}
	return "", false
}

// binaryText returns bytes as text, if that is what they are.
func binaryText(b shownBinary) string {
	content, err := base64.StdEncoding.DecodeString(b.Origin)
	if err != nil || b.Origin == "" && b.Size > 0 || !isText(content) {
		return fmt.Sprintf("%s of %s", shownBytes(b.Size), b.Type)
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

// eventOf returns the event of a past call, as a pipeline would get it.
func (p *Portal) eventOf(r *http.Request, trace string) (json.RawMessage, error) {
	found, err := ask[calls](p, r, "trace.get", args("traceId", trace, "limit", "1"))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 || found.Items[0].PayloadEncoding == "" {
		return nil, sluice.Errorf(sluice.CodeCallUnknown, "The event of that call is no longer kept, or you may not see payloads.")
	}
	c := found.Items[0]
	return json.Marshal(map[string]any{
		"eventKey": c.EventKey, "traceId": c.TraceID, "correlationId": c.CorrelationID, "receivedAt": c.Time,
		"payload": c.Payload, "payloadEncoding": c.PayloadEncoding, "contentType": c.ContentType, "method": c.Method,
		"query": c.Query, "headers": c.Headers, "remoteAddr": c.RemoteAddr,
	})
}
