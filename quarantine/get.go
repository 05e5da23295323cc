package quarantine

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice"
)

// maxBodies bounds the bodies that one answer shows, in bytes.
const maxBodies = 4 << 20

// criteria are a selection of calls to be shown.
type criteria struct {
	ID       string    `json:"id" names:"listed" doc:"Id of one call."`
	EventKey string    `json:"eventKey" names:"listed" doc:"Only calls of the webhook with this key."`
	Code     string    `json:"code" doc:"Only calls that were refused with this code, such as signature-invalid."`
	From     time.Time `json:"from" doc:"Earliest time."`
	To       time.Time `json:"to" doc:"Latest time."`
	Limit    int       `json:"limit" min:"1" max:"1000" doc:"At most this many calls. Default 100."`
	After    string    `json:"after" doc:"The value of next in the previous answer."`
}

type getParams struct {
	criteria

	Brief bool `json:"brief" doc:"Leaves out headers and bodies."`
}

func (k *Keeper) get(ctx context.Context, p getParams) (out sluice.List[sluice.QuarantineView], err error) {
	calls, next, err := k.find(ctx, selection(p.criteria), false)
	if err != nil {
		return out, err
	}
	out.Items, out.Next = []sluice.QuarantineView{}, next
	left, known := maxBodies, sluice.UserFrom(ctx).Cover(sluice.MaySeePayload)
	for _, c := range calls {
		maySee := known.Event(c.EventKey)
		item := sluice.QuarantineView{QuarantinedCall: c}
		if !sluice.CoverFrom(ctx).Whole() {
			item.Diagnosis = slices.DeleteFunc(slices.Clone(c.Diagnosis),
				func(found string) bool { return strings.Contains(found, sluice.OtherWebhook) })
		}
		if !maySee && c.Errors != nil {
			// Names of the payload are in them.
			item.Errors, item.Diagnosis = nil, []string{"The payload does not meet the schema of the " +
				"webhook; users who may see payloads see where."}
		}
		if !p.Brief && left >= c.Kept() && maySee {
			left -= c.Kept()
			there, err := k.fill(ctx, &item)
			if err != nil {
				return out, err
			}
			if !there {
				continue
			}
			k.Seen(ctx, "quarantine.get", c.ID)
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// fill adds the request to a call, and reports whether the call is still there.
func (k *Keeper) fill(ctx context.Context, v *sluice.QuarantineView) (bool, error) {
	there, err := k.Store.Open(ctx, &v.QuarantinedCall)
	if !there || err != nil {
		return false, err
	}
	var body []byte
	v.Method = v.Request.Method
	v.Headers, v.Query, body = k.Receiver.Show(ctx, &v.QuarantinedCall)
	v.Body, v.BodyEncoding = string(body), sluice.EncodingText
	if !utf8.Valid(body) {
		v.Body, v.BodyEncoding = base64.StdEncoding.EncodeToString(body), sluice.EncodingBase64
	}
	return true, nil
}
