package sender

import (
	"bufio"
	"bytes"
	"embed"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"path"
	"slices"
	"strings"
)

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

// Renew gives a call another delivery id of the same form, so that a sample can be sent
// again and again.
func (d Dedupe) Renew(c *Call) {
	switch d.where {
	case "header":
		c.Header[d.name] = renewed(c.Header[d.name])
	case "body":
		c.Body = slices.Clone(c.Body)
		renewDigits(lookup(c.Body, d.path))
	case "cloudevent":
		c.Body = slices.Clone(c.Body)
		c.Header["Ce-Id"] = renewed(c.Header["Ce-Id"])
		renewDigits(lookup(c.Body, []string{"id"}))
	}
}

func renewed(ids []string) []string {
	ids = slices.Clone(ids)
	for i, id := range ids {
		digits := []byte(id)
		renewDigits(digits)
		ids[i] = string(digits)
	}
	return ids
}

// renewDigits replaces the digits of an id by random ones.
func renewDigits(id []byte) {
	for i, c := range id {
		if c >= '0' && c <= '9' {
			id[i] = '1' + byte(rand.IntN(9)) // it only has to differ
		}
	}
}
