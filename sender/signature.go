package sender

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A signature checks calls by a rule and one key. Its buffers and hash states are pooled,
// so that a valid call costs no allocation.
type signature struct {
	rule

	header, timestampHeader, idHeader string

	format    format
	signed    []fragment
	tolerance time.Duration
	public    publicKey // nil: the key is shared, an HMAC
	scratch   sync.Pool // of *scratch
}

// scratch is what one check needs.
type scratch struct {
	mac       hash.Hash // nil with a public key
	fragments [][]byte
	text      []byte
	found     []string
	sum       []byte
	decoded   [maxSignature]byte
}

const (
	maxSignature = 1024 // bytes, decoded: that of the longest RSA key
	maxTimestamp = 40
)

// A claim is what a call says about its signature.
type claim struct {
	signatures    []string
	timestamp, id string
	at            time.Time // of the timestamp
}

func (s *signature) check(_ context.Context, c *Call, now time.Time) error {
	w := s.scratch.Get().(*scratch)
	defer w.release(&s.scratch)
	said, err := s.claim(c, w)
	if err != nil {
		return err
	}
	s.gather(c, w, said)
	if !s.fits(w, said.signatures) {
		return invalid("The signature in the header %s does not match.", s.header)
	}
	if s.handedOut != nil && s.handedOut.Match(c.Body) {
		return invalid("The signature in the header %s is one that a handshake answers with.", s.header)
	}
	if said.timestamp == "" {
		return nil
	}
	return fresh(said.at, now, s.tolerance)
}

// release keeps the buffers for another call, without references to this one.
func (w *scratch) release(pool *sync.Pool) {
	clear(w.fragments)
	clear(w.found)
	w.fragments, w.found = w.fragments[:0], w.found[:0]
	pool.Put(w)
}

// claim reads the headers of a call.
func (s *signature) claim(c *Call, w *scratch) (said claim, err error) {
	value, err := c.header(s.header)
	if err != nil {
		return said, err
	}
	var ok bool
	if said.signatures, said.timestamp, ok = s.format.scan(value, w.found[:0]); !ok {
		return said, invalid("The header %s does not read like %s.", s.header, s.Format)
	}
	for _, name := range s.further {
		said.signatures = append(said.signatures, c.Header[name]...)
	}
	w.found = said.signatures
	switch {
	case s.timestampHeader != "":
		said.timestamp, err = c.header(s.timestampHeader)
	case s.time != nil:
		said.timestamp, err = s.time(c)
	}
	if err != nil {
		return said, err
	}
	if said.timestamp != "" {
		if said.at, ok = instant(said.timestamp); !ok {
			return said, invalid("The timestamp of the call is no time.")
		}
	}
	if s.idHeader != "" {
		said.id, err = c.header(s.idHeader)
	}
	return said, err
}

// gather puts together what is signed.
func (s *signature) gather(c *Call, w *scratch, said claim) {
	w.text = w.text[:0]
	for _, p := range s.signed {
		text := ""
		switch p.field {
		case fieldLiteral:
			w.fragments = append(w.fragments, p.literal)
			continue
		case fieldBody:
			w.fragments = append(w.fragments, c.Body)
			continue
		case fieldTimestamp:
			text = said.timestamp
		case fieldID:
			text = said.id
		case fieldMethod:
			text = c.Method
		case fieldURL:
			text = c.URL
			if s.url != nil {
				text = s.url(text)
			}
		}
		start := len(w.text)
		w.text = append(w.text, text...)
		w.fragments = append(w.fragments, w.text[start:])
	}
}

// fits reports whether one of the signatures is that of the fragments.
func (s *signature) fits(w *scratch, signatures []string) bool {
	if s.public == nil {
		w.hash()
	}
	for _, text := range signatures {
		n, ok := s.decode(w, text)
		switch {
		case !ok:
		case s.public == nil && subtle.ConstantTimeCompare(w.sum, w.decoded[:n]) == 1:
			return true
		case s.public != nil && s.public.verify(w.fragments, w.decoded[:n]):
			return true
		}
	}
	return false
}

// hash computes the HMAC of the fragments.
func (w *scratch) hash() {
	w.mac.Reset()
	for _, p := range w.fragments {
		_, _ = w.mac.Write(p) // a hash takes everything
	}
	w.sum = w.mac.Sum(w.sum[:0])
}

// decode decodes a signature of bounded length.
func (s *signature) decode(w *scratch, text string) (n int, ok bool) {
	if len(text) > 2*maxSignature {
		return 0, false
	}
	start := len(w.text)
	w.text = append(w.text, text...)
	source := w.text[start:]
	var err error
	if s.Encoding == "base64" {
		if base64.StdEncoding.DecodedLen(len(source)) > maxSignature {
			return 0, false
		}
		n, err = base64.StdEncoding.Strict().Decode(w.decoded[:], source)
	} else {
		n, err = hex.Decode(w.decoded[:], source)
	}
	return n, err == nil
}

// instant reads a timestamp: seconds or milliseconds since 1970, or RFC 3339.
func instant(text string) (at time.Time, ok bool) {
	const millisecondsFrom = 1e11 // in seconds this would be the year 5138
	if len(text) > maxTimestamp {
		return at, false
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && len(text) <= 13 {
		if n >= millisecondsFrom {
			return time.UnixMilli(int64(n)), true
		}
		return time.Unix(int64(n), 0), true
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

func (s *signature) sign(c *Call, now time.Time) error {
	if s.public != nil {
		return notSignable()
	}
	w := s.scratch.Get().(*scratch)
	defer w.release(&s.scratch)
	said := claim{timestamp: strconv.FormatInt(now.Unix(), 10)}
	switch {
	case s.milli:
		said.timestamp = strconv.FormatInt(now.UnixMilli(), 10)
	case s.layout != "":
		said.timestamp = now.UTC().Format(s.layout)
	}
	if s.stamp != nil {
		if err := s.stamp(c, now); err != nil {
			return err
		}
	}
	if s.timestampHeader != "" {
		c.Header.Set(s.timestampHeader, said.timestamp)
	}
	if s.idHeader != "" {
		if said.id = c.Header.Get(s.idHeader); said.id == "" {
			said.id = "msg_" + randomText()
			c.Header.Set(s.idHeader, said.id)
		}
	}
	s.gather(c, w, said)
	w.hash()
	text := hex.EncodeToString(w.sum)
	if s.Encoding == "base64" {
		text = base64.StdEncoding.EncodeToString(w.sum)
	}
	c.Header.Set(s.header, strings.NewReplacer(inSignature, text, inTimestamp, said.timestamp).Replace(cmp.Or(s.Format, inSignature)))
	return nil
}

func standardWebhooks() Preset {
	return Preset{
		Name: "standard-webhooks", Title: "Standard Webhooks",
		Checks: "webhook-signature: HMAC-SHA256 of id, time and body, in base64; at most 5 minutes old",
		Secret: "the endpoint's secret (whsec_…)",
		Dedupe: "header:webhook-id", Retries: "unknown",
		Setup: [3]string{
			"At the sender, add an endpoint; its URL is the webhook's URL.",
			"Copy the endpoint's signing secret (whsec_…) and enter it as the `signingSecret`.",
			"For a public key (whpk_…) use `signature` with algorithm `ed25519`, format `v1a,{signature}` and the same headers.",
		},
		rule: standardRule("webhook"),
	}
}

// standardRule is the rule of Standard Webhooks, with a prefix for its headers.
func standardRule(prefix string) *rule {
	return &rule{
		Scheme: Scheme{
			Header: prefix + "-signature", Format: "v1,{signature}", Encoding: "base64", Signed: "{id}.{timestamp}.{body}",
			TimestampHeader: prefix + "-timestamp", IDHeader: prefix + "-id",
		},
		key: standardKey,
	}
}

// standardKey decodes a secret with or without its prefix.
func standardKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, secretError("The signing secret must be base64, with or without whsec_ before it, as the sender shows it.")
	}
	return key, nil
}

// SignStandard sets the headers by which receivers of Standard Webhooks know a
// call: its id, its time and its signature. A secret that begins with whsec_ is
// base64; any other is the key as it is.
func SignStandard(header http.Header, secret, id string, body []byte, now time.Time) error {
	key := []byte(secret)
	if strings.HasPrefix(secret, "whsec_") {
		var err error
		if key, err = standardKey(secret); err != nil {
			return err
		}
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	sum := macOf(sha256.New, string(key), id+"."+timestamp+".", string(body))
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(sum))
	return nil
}
