package trace

import (
	"context"
	"encoding/json"
	"strings"

	"sluice"
	"sluice/value"
)

// viewOf returns a call as the user may see it: in full, or without its payload and
// result.
func (o Options) viewOf(ctx context.Context, call sluice.Call, mayKnow, whole bool) (sluice.CallView, error) {
	v := sluice.CallView{Call: call}
	for i := range v.Runs {
		v.Runs[i].Sent = nil // of use only to those who can read the store
	}
	if !mayKnow {
		v.CorrelationID, v.DeliveryID = "", "" // with the first the result can be read
		for i := range v.Runs {
			v.Runs[i].Error.HideMessage()
		}
	}
	if !mayKnow || !whole {
		for i := range v.Runs {
			v.Runs[i].HidePayloads()
		}
		return v, nil
	}
	return v, o.fill(ctx, &v)
}

const (
	// maxFilled bounds the calls of one trace id that are shown in full.
	maxFilled = 10
	// maxBinary bounds the base64 payloads that are shown in full.
	maxBinary = 64 << 10
)

// fill adds the event and the result to a call, as far as they are kept.
func (o Options) fill(ctx context.Context, v *sluice.CallView) error {
	if v.CorrelationID == "" {
		return nil
	}
	event, err := o.Journal.Event(ctx, v.CorrelationID)
	if err != nil {
		return unlessGone(err)
	}
	v.PayloadEncoding, v.ContentType = event.PayloadEncoding, event.ContentType
	v.Method, v.Query, v.Admitted = event.Method, event.Query, event.Admitted
	v.Headers = make(map[string]string, len(event.Headers))
	for _, h := range event.Headers {
		v.Headers[h.Name] = h.Value
	}
	if v.Payload, err = showPayload(&event); err != nil {
		return err
	}
	result, err := o.Results.Result(ctx, v.CorrelationID, 0)
	if err != nil {
		return unlessGone(err)
	}
	sluice.CoverFrom(ctx).Result(&result)
	v.Result = &result
	return nil
}

func unlessGone(err error) error {
	if sluice.Gone.Is(err) {
		return nil
	}
	return err
}

// showPayload returns JSON and text as they are. Of bytes it returns size and
// type, and the bytes only if they are few.
func showPayload(e *sluice.Event) (json.RawMessage, error) {
	few := len(e.Payload) <= maxBinary
	switch e.PayloadEncoding {
	case sluice.EncodingBase64:
		var payload struct {
			Origin string `json:"origin"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		return value.Marshal(asBinary("", e.ContentType, payload.Origin, few))
	case sluice.EncodingFiles:
		var payload sluice.Files
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		files := make([]sluice.Binary, len(payload.Files))
		for i, f := range payload.Files {
			files[i] = asBinary(f.Filename, f.ContentType, f.Origin, few)
			if f.Encoding == sluice.EncodingText {
				files[i].Size = len(f.Origin)
			}
		}
		return value.Marshal(struct {
			Files  []sluice.Binary `json:"files"`
			Fields json.RawMessage `json:"fields,omitempty"`
		}{files, payload.Fields})
	}
	return e.Payload, nil
}

func asBinary(filename, media, origin string, few bool) sluice.Binary {
	b := sluice.Binary{Filename: filename, Type: media, Size: (len(origin)*3 - 3*strings.Count(origin, "=")) / 4}
	if few {
		b.Origin = origin
	}
	return b
}
