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
	switch c.PayloadEncoding {
	case sluice.EncodingText:
		var text string
		if err := json.Unmarshal(c.Payload, &text); err == nil {
			return page.Shortened(text, page.MaxText)
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
			return page.Shortened(text.String(), page.MaxText)
		}
	}
	if c.Payload == nil {
		return ""
	}
	return page.Pretty(c.Payload)
}

// binaryText returns bytes as text if they are text, otherwise their size and type.
func binaryText(b sluice.Binary) string {
	content, err := base64.StdEncoding.DecodeString(b.Origin)
	if err != nil || b.Origin == "" && b.Size > 0 || !page.IsText(content) {
		return fmt.Sprintf("%s of %s", wording.Bytes(b.Size), b.Type)
	}
	if json.Valid(content) {
		return page.Pretty(json.RawMessage(content))
	}
	return page.Shortened(string(content), page.MaxText)
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
