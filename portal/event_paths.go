package portal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice"
	"sluice/command"
	"sluice/value"
	"sluice/wording"
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

// A seenEvent is the event of a call as expressions see it.
type seenEvent struct {
	TraceID  string
	EventKey string
	Paths    []eventPath
	More     bool // there are more values

	call tracedCall
}

// seen returns the event of a call, or nil if the user may not see it or it is gone.
func (p *Portal) seen(r *http.Request, trace string) (*seenEvent, error) {
	if trace == "" || !sluice.UserFrom(r.Context()).May(sluice.MaySeePayload) || !p.allows(r, "trace.get") {
		return nil, nil
	}
	found, err := ask[sluice.TraceAnswer](p, r, "trace.get", args("traceId", trace, "limit", "20"))
	if err != nil || len(found.Items) == 0 {
		return nil, ignoring(err, sluice.NotFound, sluice.Invalid)
	}
	return eventSeen(found.Items[len(found.Items)-1]), nil // events that the call caused are newer
}

// eventSeen returns the values of a call's event, the payload first.
func eventSeen(c tracedCall) *seenEvent {
	if c.PayloadEncoding == "" {
		return nil
	}
	event := &seenEvent{TraceID: c.TraceID, EventKey: c.EventKey, call: c}
	event.add(payloadSeen(c))
	headers := maps.Clone(c.Headers)
	maps.DeleteFunc(headers, func(name, _ string) bool { return isConnection(name) && !strings.Contains(name, "signature") })
	for _, part := range []struct {
		path  string
		value any
	}{{"body.eventKey", c.EventKey}, {"body.traceId", c.TraceID}, {"body.contentType", c.ContentType}, {"body.method", c.Method}, {"body.query", c.Query}, {"body.headers", headers}} {
		if content := string(asJSON(part.value)); content != `""` && content != "null" && content != "{}" {
			event.add(part.path, json.RawMessage(content))
		}
	}
	return event
}

// payloadSeen returns the payload of a call and its expression. It decodes bytes that
// are text.
func payloadSeen(c tracedCall) (path string, payload json.RawMessage) {
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
		case err != nil || !isText(content):
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

// add adds a value and everything inside it.
func (e *seenEvent) add(path string, content json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	e.walk(path, decoder, 0)
}

// walk reads one value. It ends early at the bound of lines.
func (e *seenEvent) walk(path string, decoder *json.Decoder, depth int) {
	if len(e.Paths) == maxPaths {
		e.More = true
		return
	}
	if depth == maxPathDepth {
		var rest json.RawMessage
		if decoder.Decode(&rest) == nil {
			e.note(path, rest)
		}
		return
	}
	token, err := decoder.Token()
	if err != nil {
		return
	}
	delim, nested := token.(json.Delim)
	switch {
	case !nested:
		e.note(path, token)
		return
	case !decoder.More():
		e.note(path, map[json.Delim]json.RawMessage{'{': []byte("{}"), '[': []byte("[]")}[delim])
	case delim == '{':
		e.walkObject(path, decoder, depth)
	default:
		e.walkList(path, decoder, depth)
	}
	if !e.More {
		_, _ = decoder.Token() // the end of it
	}
}

func (e *seenEvent) walkObject(path string, decoder *json.Decoder, depth int) {
	for !e.More && decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return
		}
		name, _ := token.(string)
		e.walk(member(path, name), decoder, depth+1)
	}
}

// walkList reads a list. It adds the first few items, and how many there are.
func (e *seenEvent) walkList(path string, decoder *json.Decoder, depth int) {
	count := 0
	for ; !e.More && decoder.More(); count++ {
		if count < maxPathItems {
			e.walk(path+"["+strconv.Itoa(count)+"]", decoder, depth+1)
			continue
		}
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return
		}
	}
	if count > maxPathItems {
		e.note("len("+path+")", count)
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

func (e *seenEvent) note(path string, v any) {
	if len(e.Paths) == maxPaths {
		e.More = true
		return
	}
	var text strings.Builder
	if err := value.Encode(&text, v); err == nil {
		e.Paths = append(e.Paths, eventPath{clipped(path, 2*maxPathValue), clipped(strings.TrimSpace(text.String()), maxPathValue)})
	}
}

// Small reports whether the page shows it open.
func (e *seenEvent) Small() bool { return len(e.Paths) <= 16 && !e.More }

// latestOf returns the trace id of the latest matching call that became an event, or "".
func (p *Portal) latestOf(r *http.Request, some command.Args) (string, error) {
	const looked = "10"
	found, err := askIfAllowed[sluice.TraceAnswer](p, r, "trace.get", append(some, args("limit", looked)...))
	for _, c := range found.Items {
		if c.Accepted() {
			return c.TraceID, nil
		}
	}
	return "", err
}

// pastCalls returns the latest calls of an event's webhook, with the call of the event
// itself. It returns none if the user may not try drafts.
func (p *Portal) pastCalls(r *http.Request, event *seenEvent) (past []tracedCall, err error) {
	if event == nil || event.EventKey == "" || !p.mayTry(sluice.UserFrom(r.Context())) {
		return nil, nil
	}
	const looked = "20"
	found, err := p.latest(r, event.EventKey, looked)
	found = slices.DeleteFunc(found, func(c tracedCall) bool { return !c.Accepted() })
	if !slices.ContainsFunc(found, func(c tracedCall) bool { return c.TraceID == event.TraceID }) {
		found = append(found, event.call)
	}
	return found, err
}

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
