package sender

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice/value"
)

// A signatureCheck checks calls by a rule and one key. Its buffers and hash states are pooled,
// so that a valid call costs no allocation.
type signatureCheck struct {
	rule // with canonical names of headers

	format    format
	signed    []fragment
	tolerance time.Duration
	writeURL  func(string) string // nil: as it is
	handedOut *regexp.Regexp      // a body never matches it
	public    publicKey           // nil: the key is shared, an HMAC
	scratch   sync.Pool           // of *scratch
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

const maxTimestamp = 40

// A claim is what a call says about its signature.
type claim struct {
	signatures    []string
	timestamp, id string
	at            time.Time // of the timestamp
}

func (s *signatureCheck) check(_ context.Context, c *Call, now time.Time) error {
	w := s.scratch.Get().(*scratch)
	defer w.release(&s.scratch)
	said, err := s.claim(c, w)
	if err != nil {
		return err
	}
	s.gather(c, w, said)
	if !s.fits(w, said.signatures) {
		return invalid("The signature in the header %s does not match.", s.Header)
	}
	if s.handedOut != nil && s.handedOut.Match(c.Body) {
		return invalid("The signature in the header %s is one that a handshake answers with.", s.Header)
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
func (s *signatureCheck) claim(c *Call, w *scratch) (said claim, err error) {
	given, err := c.header(s.Header)
	if err != nil {
		return said, err
	}
	var ok bool
	if said.signatures, said.timestamp, ok = s.format.scan(given, w.found[:0]); !ok {
		return said, invalid("The header %s does not read like %s.", s.Header, s.Format)
	}
	for _, name := range s.Further {
		said.signatures = append(said.signatures, c.Header[name]...)
	}
	w.found = said.signatures
	switch {
	case s.TimestampHeader != "":
		said.timestamp, err = c.header(s.TimestampHeader)
	case s.TimestampBody != "":
		if said.timestamp = string(value.Lookup(c.Body, s.TimestampBody)); said.timestamp == "" {
			err = invalid("The body has no %s.", s.TimestampBody)
		}
	}
	if err != nil {
		return said, err
	}
	if said.timestamp != "" {
		if said.at, ok = instant(said.timestamp); !ok {
			return said, invalid("The timestamp of the call is no time.")
		}
	}
	if s.IDHeader != "" {
		said.id, err = c.header(s.IDHeader)
	}
	return said, err
}

// gather puts together what is signed.
func (s *signatureCheck) gather(c *Call, w *scratch, said claim) {
	w.text = w.text[:0]
	for _, p := range s.signed {
		text := ""
		switch p.field {
		case "":
			w.fragments = append(w.fragments, p.literal)
			continue
		case "body":
			w.fragments = append(w.fragments, c.Body)
			continue
		case "timestamp":
			text = said.timestamp
		case "id":
			text = said.id
		case "method":
			text = c.Method
		case "url":
			text = c.URL
			if s.writeURL != nil {
				text = s.writeURL(text)
			}
		}
		start := len(w.text)
		w.text = append(w.text, text...)
		w.fragments = append(w.fragments, w.text[start:])
	}
}

// fits reports whether one of the signatures is that of the fragments.
func (s *signatureCheck) fits(w *scratch, signatures []string) bool {
	if s.public == nil {
		w.hash()
	}
	for _, text := range signatures {
		n, ok := s.decode(w, text)
		switch {
		case !ok:
		case s.public == nil && subtle.ConstantTimeCompare(w.sum, w.decoded[:n]) == 1:
			return true
		case s.public != nil && s.public(w.fragments, w.decoded[:n]):
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
func (s *signatureCheck) decode(w *scratch, text string) (n int, ok bool) {
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

func (s *signatureCheck) sign(c *Call, now time.Time) error {
	if s.public != nil {
		return notSignable()
	}
	w := s.scratch.Get().(*scratch)
	defer w.release(&s.scratch)
	said := claim{timestamp: timeForms[s.TimestampForm](now)}
	if s.TimestampBody != "" && value.Lookup(c.Body, s.TimestampBody) == nil {
		var err error
		if c.Body, err = putMember(c.Body, s.TimestampBody, now.UnixMilli()); err != nil {
			return err
		}
	}
	if s.TimestampHeader != "" {
		c.Header.Set(s.TimestampHeader, said.timestamp)
	}
	if s.IDHeader != "" {
		if said.id = c.Header.Get(s.IDHeader); said.id == "" {
			said.id = "msg_" + randomText()
			c.Header.Set(s.IDHeader, said.id)
		}
	}
	s.gather(c, w, said)
	w.hash()
	text := hex.EncodeToString(w.sum)
	if s.Encoding == "base64" {
		text = base64.StdEncoding.EncodeToString(w.sum)
	}
	write := strings.NewReplacer(inSignature, text, inTimestamp, said.timestamp)
	c.Header.Set(s.Header, write.Replace(cmp.Or(s.Format, inSignature)))
	return nil
}

// timeForms are the ways in which senders write the time.
var timeForms = map[string]func(time.Time) string{
	"":             func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	"milliseconds": func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) },
	"rfc3339":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"rfc3339nano":  func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
}
