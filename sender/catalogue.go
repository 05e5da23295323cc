package sender

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"io"
	"net/http"
	"net/textproto"
	"path"
	"slices"
	"strings"
	"sync"
)

// Presets returns all senders that are known, by name.
func Presets() []Preset { return presets() }

var presets = sync.OnceValue(func() []Preset {
	all := slices.Concat(bodySigners, timeSigners, tokenSenders, greeters, []Preset{
		adyen(), asana(), awsSNS(), googlePubSub(), mailgun(), microsoftGraph(), paypal(), plaid(),
		standardWebhooks(), twilio(),
	})
	slices.SortFunc(all, func(a, b Preset) int { return cmp.Compare(a.Name, b.Name) })
	return all
})

// Find returns the preset with that name.
func Find(name string) (Preset, bool) {
	at, found := slices.BinarySearchFunc(Presets(), name, func(p Preset, name string) int { return cmp.Compare(p.Name, name) })
	if !found {
		return Preset{}, false
	}
	return Presets()[at], true
}

// sampleFiles has the samples of each preset: samples/<preset>/<name>.http, headers, an
// empty line and the body, without a signature.
//
//go:embed samples
var sampleFiles embed.FS

// A Sample is an event as a sender would send it, before it is signed.
type Sample struct {
	Name   string // of the event, as the sender calls it
	Header http.Header
	Body   []byte
}

// Samples returns samples of what the sender sends.
func (p Preset) Samples() []Sample {
	folder := path.Join("samples", p.Name)
	files, _ := sampleFiles.ReadDir(folder) // none: it has no samples
	samples := make([]Sample, len(files))
	for i, f := range files {
		content, _ := sampleFiles.ReadFile(path.Join(folder, f.Name())) // it was just listed
		r := bufio.NewReader(bytes.NewReader(content))
		header, _ := textproto.NewReader(r).ReadMIMEHeader() // a test reads all of them
		body, _ := io.ReadAll(r)
		samples[i] = Sample{strings.TrimSuffix(f.Name(), ".http"), http.Header(header), bytes.TrimSuffix(body, []byte("\n"))}
	}
	return samples
}
