package sender

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"sluice"
)

// folders has a folder for each known sender: preset.yaml, and samples of its events, each a
// file of headers, an empty line and the body, without a signature. The vectors beside them are
// for tests.
//
//go:embed known/*/preset.yaml known/*/*.http
var folders embed.FS

// presets are the senders that are known, by name.
var presets = sync.OnceValue(func() map[string]Preset {
	entries, _ := folders.ReadDir("known") // it is embedded
	all := make(map[string]Preset, len(entries))
	for _, folder := range entries {
		name := folder.Name()
		content, err := folders.ReadFile(path.Join("known", name, "preset.yaml"))
		if err == nil {
			all[name], err = parsePreset(name, content)
		}
		if err != nil {
			panic(err) // a mistake in the program
		}
	}
	return all
})

// parsePreset reads a preset. A field that there is not and a name that no code has are errors.
// A test reads all presets, so that no program is shipped with such a one.
func parsePreset(name string, content []byte) (Preset, error) {
	p := Preset{Name: name}
	dec := yaml.NewDecoder(bytes.NewReader(content))
	dec.KnownFields(true)
	err := dec.Decode(&p)
	if err == nil {
		err = p.named()
	}
	if err == nil {
		err = p.prepare()
	}
	if err != nil {
		return Preset{}, fmt.Errorf("known/%s/preset.yaml: %w", name, err)
	}
	return p, nil
}

// named refuses a name that no code has.
func (p *Preset) named() error {
	r := cmp.Or(p.Signature, &rule{})
	for field, known := range map[string]bool{
		"verifier":      p.Verifier == "" || verifiers[p.Verifier] != nil,
		"by":            p.Handshake.By == "" || greeters[p.Handshake.By] != nil,
		"key":           keyForms[r.Key] != nil,
		"timestampForm": timeForms[r.TimestampForm] != nil,
		"url":           r.URL == "" || urlForms[r.URL] != nil,
		"handedOut":     r.HandedOut == "" || handedOut[r.HandedOut] != nil,
	} {
		if !known {
			return fmt.Errorf("no code has the name that %s gives", field)
		}
	}
	return nil
}

// Find returns the preset with that name.
func Find(name string) (p Preset, found bool) {
	p, found = presets()[name]
	return p, found
}

// Of returns the preset of a webhook's sender, an empty one if it has none that is known.
func Of(hook *sluice.Webhook) (p Preset) {
	if hook.Trust != nil {
		p, _ = Find(hook.Trust.Provider)
	}
	return p
}

// Presets returns all senders that are known, by name.
func Presets() []Preset {
	return slices.SortedFunc(maps.Values(presets()), func(a, b Preset) int { return cmp.Compare(a.Name, b.Name) })
}

// Samples returns samples of what the sender sends, before it is signed.
func (p *Preset) Samples() (samples []sluice.Sample) {
	folder := path.Join("known", p.Name)
	files, _ := folders.ReadDir(folder) // none: it has no samples
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), ".http")
		if !is {
			continue
		}
		content, _ := folders.ReadFile(path.Join(folder, f.Name())) // it was just listed
		r := bufio.NewReader(bytes.NewReader(content))
		header, _ := textproto.NewReader(r).ReadMIMEHeader() // a test reads all of them
		body, _ := io.ReadAll(r)
		s := sluice.Sample{Name: name, Headers: make(map[string]string), Body: strings.TrimSuffix(string(body), "\n")}
		for name := range header {
			s.Headers[name] = header.Get(name)
		}
		s.ContentType = s.Headers["Content-Type"]
		delete(s.Headers, "Content-Type")
		samples = append(samples, s)
	}
	return samples
}
