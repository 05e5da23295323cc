package value

import (
	"strings"
	"testing"
)

// event is as long as that of a usual call.
var event = []byte(`{"eventKey":"webhook.lead.created","namespace":"default","traceId":"webhook-123456-abcdefghijklmnop","listeners":["a"],` +
	`"receivedAt":"2025-01-02T03:04:05.000000006Z","payload":{"origin":"` + strings.Repeat("abcdefghijklmnopqrstuvwxyz", 52) + `"},` +
	`"payloadType":"base64","payloadEncoding":"base64","contentType":"application/json","method":"POST","query":{},` +
	`"headers":{"content-length":"1024","content-type":"application/json","host":"127.0.0.1:8080","user-agent":"curl/8"},"remoteAddr":"127.0.0.1:40000"}`)

// order is a payload of many small values.
var order = []byte(`{"id":4711,"total":129.95,"paid":true,"note":null,"customer":{"name":"Ada <ada@example.com>","city":"Zürich"},"items":[` +
	strings.Repeat(`{"sku":"A-100","price":12.5,"count":3,"tags":["new","\"sale\""]},`, 20) + `{}]}`)

func BenchmarkDecode(b *testing.B) {
	for name, data := range map[string][]byte{"event": event, "order": order} {
		for how, decode := range map[string]func([]byte) error{
			"value":    func(data []byte) error { _, err := Decode(data); return err },
			"object":   func(data []byte) error { _, err := DecodeObject(data); return err },
			"standard": func(data []byte) error { _, err := decodeStandard(data); return err },
		} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	for name, data := range map[string][]byte{"event": event, "order": order} {
		v, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var written []byte
			for b.Loop() {
				if written, err = AppendJSON(written[:0], v, MaxSize); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScale(b *testing.B) {
	for name, data := range map[string][]byte{"event": event, "order": order} {
		v, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s Scale
				if err := s.Add(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInspect(b *testing.B) {
	b.SetBytes(int64(len(order)))
	for b.Loop() {
		_, _ = Inspect(order)
	}
}
