package value_test

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"sluice/value"
)

type inner struct {
	Name string `json:"name,omitempty"`
}

// A writer appends its own JSON.
type writer func(b []byte) []byte

func (w writer) AppendJSON(b []byte) []byte { return w(b) }

type record struct {
	inner
	Inner   *inner              `json:"inner,omitempty"`
	Always  inner               `json:"always"`
	Text    string              `json:"text"`
	Count   int                 `json:"count,omitempty"`
	Size    uint64              `json:"size"`
	Share   float64             `json:"share"`
	Yes     bool                `json:"yes,omitempty"`
	At      time.Time           `json:"at,omitzero"`
	Raw     json.RawMessage     `json:"raw"`
	List    []inner             `json:"list"`
	Tags    []string            `json:"tags,omitempty"`
	Query   map[string][]string `json:"query"`
	Any     any                 `json:"any,omitempty"`
	Address *netip.Addr         `json:"address,omitempty"`
	Hidden  string              `json:"-"`
	Later   writer              `json:"-" written:"later"`
	private int
}

// TestAppendRecord: a record is written as encoding/json would write it, with the differences
// that are promised.
func TestAppendRecord(t *testing.T) {
	address := netip.MustParseAddr("192.0.2.1")
	for want, r := range map[string]record{
		`{"always":{},"text":"","size":0,"share":0,"raw":null,"list":[],"query":{}}`: {private: 1, Tags: []string{}},
		`{"name":"n","inner":{"name":"i"},"always":{"name":"a"},"text":"<\"\\>","count":-1,"size":18446744073709551615,"share":0.25,"yes":true,` +
			`"at":"2025-01-02T02:04:05.0000006Z","raw":{"a": 1},"list":[{},{"name":"b"}],"query":{"a":["1","2"],"b":[]},"any":{"x":[1]},` +
			`"address":"192.0.2.1","later":"now"}`: {
			inner: inner{"n"}, Inner: &inner{"i"}, Always: inner{"a"}, Text: `<"\>`, Count: -1, Size: 1<<64 - 1, Share: 0.25, Yes: true,
			At: time.Date(2025, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)), Raw: json.RawMessage(`{"a": 1}`), List: []inner{{}, {"b"}},
			Query: map[string][]string{"b": nil, "a": {"1", "2"}}, Any: map[string]any{"x": []int{1}}, Address: &address, Hidden: "secret",
			Later: func(b []byte) []byte { return append(b, `"now"`...) },
		},
	} {
		if got := string(value.AppendRecord([]byte("x"), &r)); got != "x"+want {
			t.Errorf("the record is\n%s, want\n%s", got, want)
		}
	}
}
