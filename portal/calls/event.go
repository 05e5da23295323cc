package calls

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/value"
)

// Bounds of an event on a page: lines, items of a list, characters of a value, and depth.
const (
	maxPaths     = 60
	maxPathItems = 3
	maxPathValue = 120
	maxPathDepth = 12
)

// An eventPath is an expression and its value in an event.
type eventPath struct{ Path, Value string }

// A SeenEvent is the event of a call as expressions see it.
type SeenEvent struct {
	TraceID  string
	EventKey string
	Paths    []eventPath
	More     bool // there are more values

	call sluice.CallView
}

// Event returns the event of a call, or nil if the user may not see it or it is gone.
func Event(v *page.Visit, trace string) *SeenEvent {
	if trace == "" || !v.User.May(sluice.MaySeePayload) || !v.May("trace.get") {
		return nil
	}
	found, err := page.Try[sluice.TraceAnswer](v, "trace.get", "traceId", trace, "limit", "20")
	v.Fail(page.Ignoring(err, sluice.NotFound, sluice.Invalid))
	if len(found.Items) == 0 {
		return nil
	}
	return eventSeen(found.Items[len(found.Items)-1]) // events that the call caused are newer
}

// Body returns what the call has sent and its content type, "" if that is not known or no text.
func (e *SeenEvent) Body() (body, media string) {
	if e == nil {
		return "", ""
	}
	body, whole := sentBody(e.call)
	if !whole {
		return "", ""
	}
	return body, e.call.ContentType
}

// eventSeen returns the values of a call's event, the payload first.
func eventSeen(c sluice.CallView) *SeenEvent {
	if c.PayloadEncoding == "" {
		return nil
	}
	event := &SeenEvent{TraceID: c.TraceID, EventKey: c.EventKey, call: c}
	path, payload := payloadSeen(c)
	event.add(path, payload, 0)
	headers := maps.Clone(c.Headers)
	maps.DeleteFunc(headers,
		func(name, _ string) bool { return page.IsConnection(name) && !strings.Contains(name, "signature") })
	for _, part := range []struct {
		path  string
		value any
	}{
		{"body.eventKey", c.EventKey}, {"body.traceId", c.TraceID}, {"body.contentType", c.ContentType},
		{"body.method", c.Method}, {"body.query", c.Query}, {"body.headers", headers},
	} {
		if content := string(asJSON(part.value)); content != `""` && content != "null" && content != "{}" {
			event.add(part.path, json.RawMessage(content), 0)
		}
	}
	return event
}

// payloadSeen returns the payload of a call and its expression. It decodes bytes that
// are text.
func payloadSeen(c sluice.CallView) (path string, payload json.RawMessage) {
	switch c.PayloadEncoding {
	case sluice.EncodingFiles:
		var sent struct {
			Files []struct {
				Filename string `json:"filename"`
			} `json:"files"`
		}
		if json.Unmarshal(c.Payload, &sent) == nil {
			return "body.payload.files", asJSON(sent.Files)
		}
	case sluice.EncodingBase64:
		var sent sluice.Binary
		if json.Unmarshal(c.Payload, &sent) != nil {
			break
		}
		path = "body.payload.origin"
		content, err := base64.StdEncoding.DecodeString(sent.Origin)
		switch {
		case err != nil || !page.IsText(content):
			return path, asJSON(sent.Origin)
		case json.Valid(content):
			return "convert.fromJson(convert.fromBase64(" + path + "))", content
		}
		return "convert.fromBase64(" + path + ")", asJSON(string(content))
	}
	return "body.payload", c.Payload
}

func asJSON(v any) json.RawMessage {
	content, err := value.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return content
}

// add adds a value and everything inside it, as far as there is room: of a list the first few items, and how many
// there are.
func (e *SeenEvent) add(path string, content json.RawMessage, depth int) {
	parts, items := 0, 0
	for p := range value.Parts(content) {
		if depth == maxPathDepth || e.More || p.Value == nil {
			break
		}
		if parts++; p.Name != nil {
			e.add(member(path, p.Text()), p.Value, depth+1)
		} else if items++; items <= maxPathItems {
			e.add(path+"["+strconv.Itoa(items-1)+"]", p.Value, depth+1)
		}
	}
	switch {
	case parts == 0:
		e.note(path, content)
	case items > maxPathItems:
		e.note("len("+path+")", asJSON(items))
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member returns the expression for a member.
func member(path, name string) string {
	if plainName.MatchString(name) {
		return path + "." + name
	}
	return path + "[" + strconv.Quote(name) + "]"
}

// note adds a line. Texts have no escapes that they need not have.
func (e *SeenEvent) note(path string, content json.RawMessage) {
	if len(e.Paths) == maxPaths {
		e.More = true
		return
	}
	var text string
	if json.Unmarshal(content, &text) == nil && text != "" {
		content = asJSON(text)
	}
	if content != nil {
		e.Paths = append(e.Paths, eventPath{
			page.Clipped(path, 2*maxPathValue), page.Clipped(string(asJSON(content)), maxPathValue),
		})
	}
}

// EventJSON returns the event of a call as pipelines get it.
func EventJSON(v *page.Visit, trace string) (json.RawMessage, error) {
	found, err := page.Try[sluice.TraceAnswer](v, "trace.get", "traceId", trace, "limit", "1")
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 || found.Items[0].PayloadEncoding == "" {
		return nil, sluice.CodeCallUnknown.Errorf(
			"The event of that call is no longer kept, or you may not see payloads.")
	}
	c := found.Items[0]
	return value.Marshal(map[string]any{
		"eventKey": c.EventKey, "traceId": c.TraceID, "correlationId": c.CorrelationID, "receivedAt": c.Time,
		"payload": c.Payload, "payloadEncoding": c.PayloadEncoding, "contentType": c.ContentType, "method": c.Method,
		"query": c.Query, "headers": c.Headers, "remoteAddr": c.RemoteAddr,
	})
}
