package step

import (
	"bytes"
	"mime/multipart"
	"net/textproto"
	"strings"

	"sluice"
	"sluice/value"
)

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
		if origin, ok := member(payload, "origin"); ok {
			body, err = decodeBase64(origin)
			return body, contentType, err
		}
	case sluice.EncodingFiles:
		return uploadBody(payload, id)
	}
	return nil, "", sluice.Errorf(sluice.CodePayloadUnknown, "The event's payload is in no form that can be sent on.")
}

func member(object any, name string) (any, bool) {
	fields, _ := object.(map[string]any)
	v, ok := fields[name]
	return v, ok
}

// uploadBody writes an upload anew: its fields and files, with the names of their parts.
func uploadBody(payload any, id string) (body []byte, contentType string, err error) {
	var written bytes.Buffer
	form := multipart.NewWriter(&written)
	_ = form.SetBoundary("sluice-" + id) // the same each time; after an error it stays random
	fields, _ := member(payload, "fields")
	object, _ := fields.(map[string]any)
	if err := eachField(object, form.WriteField); err != nil {
		return nil, "", err
	}
	files, _ := member(payload, "files")
	list, _ := files.([]any)
	for _, file := range list {
		if err := writeFile(form, file); err != nil {
			return nil, "", err
		}
	}
	err = form.Close()
	return written.Bytes(), form.FormDataContentType(), err
}

func writeFile(form *multipart.Writer, file any) error {
	text := func(name string) string {
		v, _ := member(file, name)
		s, _ := v.(string)
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
	name := text("name")
	if name == "" {
		name = "file"
	}
	header := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition(name, text("filename"))}}
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
