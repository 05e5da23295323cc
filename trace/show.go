package trace

import (
	"context"
	"encoding/json"
	"strings"

	"sluice"
)

const (
	// maxShown bounds the calls of one trace id that are shown in full.
	maxShown = 10
	// maxBinary is how long a base64 payload may be to be shown as it is.
	maxBinary = 64 << 10
)

// A callView is a call that was found; in full, with its payload and result.
type callView struct {
	sluice.Call

	Payload         any                 `json:"payload,omitempty"`
	PayloadEncoding sluice.Encoding     `json:"payloadEncoding,omitempty"`
	ContentType     string              `json:"contentType,omitempty"`
	Method          string              `json:"method,omitempty"`
	Query           map[string][]string `json:"query,omitempty"`
	Headers         map[string]string   `json:"headers,omitempty"`
	Admitted        bool                `json:"admitted,omitempty"`
	Result          *sluice.Result      `json:"result,omitempty"` // as long as it is kept
}

// hide takes away what steps have sent and got.
func (f *callView) hide() {
	for i := range f.Runs {
		f.Runs[i].HidePayloads()
	}
}

// show adds the event and the result, as far as they are kept.
func (f *callView) show(ctx context.Context, journal sluice.Journal, results sluice.Results) error {
	if f.CorrelationID == "" {
		return nil
	}
	event, err := journal.Event(ctx, f.CorrelationID)
	if err != nil {
		return unlessGone(err)
	}
	f.PayloadEncoding, f.ContentType, f.Method, f.Query, f.Admitted = event.PayloadEncoding, event.ContentType, event.Method, event.Query, event.Admitted
	f.Headers = make(map[string]string, len(event.Headers))
	for _, h := range event.Headers {
		f.Headers[h.Name] = h.Value
	}
	if f.Payload, err = shownPayload(&event); err != nil {
		return err
	}
	result, err := results.Result(ctx, f.CorrelationID, 0)
	if err != nil {
		return unlessGone(err)
	}
	f.Result = &result
	return nil
}

func unlessGone(err error) error {
	if sluice.AsError(err).Kind == sluice.Gone {
		return nil
	}
	return err
}

// binary stands for bytes, which are shown only if they are few.
type binary struct {
	Filename string `json:"filename,omitempty"`
	Size     int    `json:"size"`
	Type     string `json:"type"`
	Origin   string `json:"origin,omitempty"`
}

// shownPayload returns JSON and text as they are. Of bytes it returns size and
// type, and the bytes only if they are few.
func shownPayload(e *sluice.Event) (any, error) {
	few := len(e.Payload) <= maxBinary
	switch e.PayloadEncoding {
	case sluice.EncodingBase64:
		var payload struct {
			Origin string `json:"origin"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		return asBinary("", e.ContentType, payload.Origin, few), nil
	case sluice.EncodingFiles:
		var payload struct {
			Files []struct {
				Filename    string          `json:"filename"`
				ContentType string          `json:"contentType"`
				Origin      string          `json:"origin"`
				Encoding    sluice.Encoding `json:"encoding"`
			} `json:"files"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil, err
		}
		files := make([]binary, len(payload.Files))
		for i, f := range payload.Files {
			files[i] = asBinary(f.Filename, f.ContentType, f.Origin, few)
			if f.Encoding == sluice.EncodingText {
				files[i].Size = len(f.Origin)
			}
		}
		return map[string]any{"files": files}, nil
	}
	if e.Payload == nil {
		return nil, nil
	}
	return e.Payload, nil
}

func asBinary(filename, media, origin string, few bool) binary {
	b := binary{Filename: filename, Type: media, Size: (len(origin)*3 - 3*strings.Count(origin, "=")) / 4}
	if few {
		b.Origin = origin
	}
	return b
}
