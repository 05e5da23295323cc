package sender

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"path"
	"slices"
	"strings"
	"sync"
)

// A Preset is a sender that is known: what it does, in words and in code.
type Preset struct {
	Name           string    // as the parameter provider has it
	Title          string    // as its makers write it
	Checks         string    // what is checked of each call
	Secret         string    // what the signing secret is; "" means that there is none
	SecretOptional bool      // it works without a secret, too
	SecretChosen   bool      // people make the secret up, and enter it at the sender
	Unsigned       bool      // calls carry the secret itself, or nothing
	Handshake      string    // what it sends before calls; "" means nothing
	VerifyToken    bool      // the handshake repeats the parameter verifyToken
	Dedupe         string    // where the id of a delivery is, as the parameter dedupe has it
	Answers        Answers   // what it demands of answers
	Retries        string    // how long it goes on after a failure: none, a duration such as 3d, or unknown
	Setup          [3]string // what to enter where
	Masked         []string  // headers that carry a secret itself, in lower case

	rule    *rule                                           // how it signs, or
	checker func(secret string, keys Keys) (checker, error) // what checks it
	public  bool                                            // checked by public keys, with a secret or without
	learns  bool                                            // the secret comes with the handshake

	greet       func(greeting) (*Answer, error) // answers its handshake
	greetSigned bool                            // its handshake is signed
}

func (p Preset) checkerOf(secret string, keys Keys) (checker, error) {
	if p.rule != nil {
		return p.rule.checker(secret, keys)
	}
	return p.checker(secret, keys)
}

// Where the signing secret of a sender comes from.
const (
	SecretFromYou       = "you"        // the person who sets the webhook up makes it up
	SecretFromSender    = "sender"     // the sender shows it, perhaps only when it has the URL
	SecretFromPublicKey = "public-key" // likewise, and no other text will do
	SecretFromHandshake = "handshake"  // the sender sends it
)

// SecretFrom returns where the signing secret comes from, "" if there is none.
func (p Preset) SecretFrom() string {
	switch {
	case p.Secret == "":
		return ""
	case p.learns:
		return SecretFromHandshake
	case p.SecretChosen:
		return SecretFromYou
	case p.rule != nil && isAsymmetric(p.rule.Algorithm):
		return SecretFromPublicKey
	}
	return SecretFromSender
}

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
