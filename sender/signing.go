package sender

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

func (s *signature) sign(c *Call, now time.Time) error {
	if s.public != nil {
		return notSignable()
	}
	w := s.scratch.Get().(*scratch)
	defer w.release(&s.scratch)
	said := claim{timestamp: timeForms[s.TimestampForm](now)}
	if s.TimestampBody != "" && lookup(c.Body, []string{s.TimestampBody}) == nil {
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
