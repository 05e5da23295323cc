package step

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/sender"
	"sluice/value"
)

type forwardParams struct {
	URL     string         `json:"url" required:"true" doc:"Where to send the call, by http or https. The query that the call came with is appended."`
	Headers map[string]any `json:"headers" doc:"Headers to send beside the sender's, or in place of them."`
	Timeout time.Duration  `json:"timeout" min:"1ms" max:"5m" doc:"How long it may take with the answer. Default 30s."`
	Auth    map[string]any `json:"auth" literal:"*" doc:"The credential to send, as for http.request."`
	Sign    string         `json:"sign" fixed:"true" names:"listed" doc:"Name of the secret to sign it with, by Standard Webhooks: whsec_ and base64, or plain text. Where an event starts the run, the name must stand in the source."`
}

func (c *client) forward(ctx context.Context, p forwardParams) (answer, error) {
	run := sluice.RunFrom(ctx)
	if run == nil || run.Event == nil {
		return answer{}, sluice.CodeNoEvent.Errorf("There is no call to send on: only in a pipeline " +
			"that an event has started is there one. To call a URL with something else, use http.request.")
	}
	request, err := newForward(ctx, run.Event, sluice.ForwardID(run), p)
	if err != nil {
		return answer{}, err
	}
	return c.send(request, sending{by: c.stay, auth: p.Auth, timeout: p.Timeout, expect: expectation{"2xx"}})
}

// forwardSecrets returns the names of the secrets of http.forward.
func forwardSecrets(known map[string]any) []string {
	return append(authSecrets(known), named("sign")(known)...)
}

// newForward returns the request that sends an event on.
func newForward(ctx context.Context, event map[string]any, id string, p forwardParams) (*http.Request, error) {
	target, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	addQuery(target, event)
	own, err := headerOf(p.Headers)
	if err != nil {
		return nil, err
	}
	body, contentType, err := forwardedBody(event, id)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, invalid("url", "can't be called as it is")
	}
	request.Header = forwardedHeader(event, contentType)
	maps.Copy(request.Header, own)
	setAgent(request.Header)
	// Receivers must expect an event twice anyway, so net/http may retry on another
	// connection. A header without values is not sent.
	if request.Header["Idempotency-Key"] == nil {
		request.Header["Idempotency-Key"] = []string{}
	}
	return request, sign(ctx, request.Header, p.Sign, id, body)
}

// sign signs a request with the named secret, if any. The id is the same at each attempt,
// so the receiver can recognize repeated requests.
func sign(ctx context.Context, header http.Header, name, id string, body []byte) error {
	if name == "" {
		return nil
	}
	secret, err := sluice.RunFrom(ctx).Secret(ctx, name)
	if err != nil {
		return err
	}
	if err := sender.SignStandard(header, secret, id, body, time.Now()); err != nil {
		return invalid("sign", "names a secret that begins with whsec_, but is not base64 behind that")
	}
	return nil
}

// addQuery appends the query of the call to that of the URL.
func addQuery(target *url.URL, event map[string]any) {
	query, _ := event["query"].(map[string]any)
	values := url.Values{}
	for name, items := range query {
		list, _ := items.([]any)
		for _, item := range list {
			if text, ok := item.(string); ok {
				values.Add(name, text)
			}
		}
	}
	added := values.Encode()
	if target.RawQuery != "" && added != "" {
		added = "&" + added
	}
	target.RawQuery += added
}

// forwardedHeader returns the sender's headers, without secrets and without those that
// concern the sender's connection.
func forwardedHeader(event map[string]any, contentType string) http.Header {
	header := http.Header{}
	sent, _ := event["headers"].(map[string]any)
	connection, _ := sent["connection"].(string)
	listed := http.Header{}
	for name := range strings.SplitSeq(connection, ",") {
		listed.Set(strings.TrimSpace(name), "listed")
	}
	for name, field := range sent {
		canonical := http.CanonicalHeaderKey(name)
		value, ok := headerValue(field)
		if !ok || !isHeaderName(name) || ofConnection(canonical) || listed.Get(canonical) != "" ||
			sluice.SecretHeader(strings.ToLower(name)) {
			continue
		}
		header.Set(canonical, value)
	}
	header.Del("Content-Type")
	if contentType != "" {
		header.Set("Content-Type", contentType)
	} else {
		header.Del("Content-Encoding") // there is no content
	}
	return header
}

// ofConnection reports whether a header concerns the connection between the sender and us,
// or changes the method. Names with an underscore count as well: many servers read them
// as dashes.
func ofConnection(canonical string) bool {
	switch canonical {
	case "Accept-Encoding", "Forwarded", "Via", "X-Real-Ip", "X-Http-Method", "X-Http-Method-Override",
		"X-Method-Override":
		return true
	}
	return strings.Contains(canonical, "_") || slices.Contains(framing, canonical) ||
		strings.HasPrefix(canonical, "Proxy-") || strings.HasPrefix(canonical, "X-Forwarded-")
}

// forwardedBody returns the bytes that an event came with and their content type, "" if
// there are none. JSON and the parts of an upload are written anew. The same event gives
// the same bytes each time.
func forwardedBody(event map[string]any, id string) (body []byte, contentType string, err error) {
	contentType, _ = event["contentType"].(string)
	payload := event["payload"]
	encoding, _ := event["payloadEncoding"].(string)
	switch sluice.Encoding(encoding) {
	case sluice.EncodingNone:
		return nil, "", nil
	case sluice.EncodingJSON:
		body, err = value.AppendJSON(nil, payload, value.MaxSize)
		return body, contentType, err
	case sluice.EncodingText:
		text, ok := payload.(string)
		if ok {
			return []byte(text), contentType, nil
		}
	case sluice.EncodingBase64:
		if origin, ok := member[string](payload, "origin"); ok {
			body, err = decodeBase64(origin)
			return body, contentType, err
		}
	case sluice.EncodingFiles:
		return uploadBody(payload, id)
	}
	return nil, "", sluice.CodePayloadUnknown.Errorf("The event's payload is in no form that can be sent on.")
}

func member[T any](object any, name string) (v T, ok bool) {
	fields, _ := object.(map[string]any)
	v, ok = fields[name].(T)
	return v, ok
}

// uploadBody writes an upload anew: its fields and files, with the names of their parts.
func uploadBody(payload any, id string) (body []byte, contentType string, err error) {
	var written bytes.Buffer
	form := multipart.NewWriter(&written)
	_ = form.SetBoundary("sluice-" + id) // the same each time; after an error it stays random
	fields, _ := member[map[string]any](payload, "fields")
	if err := eachField(fields, form.WriteField); err != nil {
		return nil, "", err
	}
	files, _ := member[[]any](payload, "files")
	for _, file := range files {
		if err := writeFile(form, file); err != nil {
			return nil, "", err
		}
	}
	err = form.Close()
	return written.Bytes(), form.FormDataContentType(), err
}

func writeFile(form *multipart.Writer, file any) error {
	text := func(name string) string {
		s, _ := member[string](file, name)
		return s
	}
	content := []byte(text("origin"))
	if text("encoding") != string(sluice.EncodingText) {
		decoded, err := decodeBase64(text("origin"))
		if err != nil {
			return err
		}
		content = decoded
	}
	header := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition(cmp.Or(text("name"),
		"file"), text("filename"))}}
	if contentType := text("contentType"); contentType != "" {
		header.Set("Content-Type", strings.NewReplacer("\r", "", "\n", "").Replace(contentType))
	}
	part, err := form.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	return err
}
