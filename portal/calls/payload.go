package calls

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/wording"
)

// payloadText returns the payload of a call for people: formatted JSON, text as it is,
// or the size and type of other bytes.
func payloadText(c sluice.CallView) string {
	var sent struct {
		sluice.Binary

		Files []sluice.Binary `json:"files"`
	}
	body, whole := sentBody(c)
	switch {
	case c.PayloadEncoding == sluice.EncodingFiles && json.Unmarshal(c.Payload, &sent) == nil:
		var list strings.Builder
		for _, file := range sent.Files {
			fmt.Fprintf(&list, "%s (%s, %s)\n", file.Filename, file.Type, wording.Bytes(file.Size))
		}
		body = list.String()
	case c.PayloadEncoding == sluice.EncodingBase64 && !whole && json.Unmarshal(c.Payload, &sent) == nil:
		return wording.Bytes(sent.Size) + " of " + sent.Type
	case whole && c.PayloadEncoding != sluice.EncodingText && json.Valid([]byte(body)):
		return page.Pretty(json.RawMessage(body))
	case !whole && c.Payload != nil:
		return page.Pretty(c.Payload)
	}
	return page.Shortened(body, page.MaxText)
}

// sentBody returns the body of a call as it came, if it is text. whole is false if it
// is not text or is incomplete.
func sentBody(c sluice.CallView) (body string, whole bool) {
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
		return string(content), err == nil && page.IsText(content)
	}
	return "", false
}
