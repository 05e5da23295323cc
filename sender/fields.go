package sender

import (
	"encoding/base64"
	"strings"
)

// Structured fields (RFC 9651), as far as signatures need them: dictionaries whose members
// are lists of strings, or bytes.

// A signatureMember is a member of a dictionary.
type signatureMember struct {
	label      string
	text       string // as it came, without the label
	isList     bool
	components []component       // of a list
	bytes      []byte            // of anything else
	params     map[string]string // of a list
}

// A component is an item of a list: a name, perhaps with parameters.
type component struct {
	text   string // as it came
	name   string
	params map[string]string
}

func memberOf(members []*signatureMember, label string) *signatureMember {
	for _, m := range members {
		if m.label == label {
			return m
		}
	}
	return nil
}

// maxMembers bounds the members of a dictionary, of a list, and the parameters.
const maxMembers = 64

// A fieldScanner reads a structured field from its beginning. Each of its functions cuts
// off what it has read.
type fieldScanner struct{ text string }

// scanMembers reads a dictionary. Of two members with the same label the standard takes
// the last one, and some programs the first; here that is no dictionary.
func scanMembers(text string) (members []*signatureMember, ok bool) {
	s := &fieldScanner{text: strings.Trim(text, " ")}
	for {
		m := &signatureMember{label: s.key()}
		if m.label == "" || !s.cut("=") || memberOf(members, m.label) != nil || len(members) == maxMembers {
			return nil, false
		}
		begin := s.text
		if m.isList = s.cut("("); m.isList {
			ok = s.list(m)
		} else {
			m.bytes, ok = s.bytes()
		}
		var params map[string]string
		if ok {
			params, ok = s.params()
		}
		if !ok {
			return nil, false
		}
		m.params, m.text = params, begin[:len(begin)-len(s.text)]
		members = append(members, m)
		s.text = strings.TrimLeft(s.text, " \t")
		if s.text == "" {
			return members, true
		}
		if !s.cut(",") {
			return nil, false
		}
		s.text = strings.TrimLeft(s.text, " \t")
	}
}

// cut cuts off a text, if the field begins with it.
func (s *fieldScanner) cut(text string) (ok bool) {
	s.text, ok = strings.CutPrefix(s.text, text)
	return ok
}

// key cuts off a key, "" if there is none.
func (s *fieldScanner) key() string {
	const first, later = "abcdefghijklmnopqrstuvwxyz*", "0123456789_-."
	rest := strings.TrimLeft(s.text, first+later)
	key := s.text[:len(s.text)-len(rest)]
	if key == "" || strings.Contains(later, key[:1]) {
		return ""
	}
	s.text = rest
	return key
}

// list cuts off the items of a list, and its end.
func (s *fieldScanner) list(m *signatureMember) (ok bool) {
	for !s.cut(")") {
		begin := s.text
		var c component
		if c.name, ok = s.quoted(); !ok || len(m.components) == maxMembers {
			return false
		}
		if c.params, ok = s.params(); !ok {
			return false
		}
		c.text = begin[:len(begin)-len(s.text)]
		m.components = append(m.components, c)
		if !s.cut(" ") && !strings.HasPrefix(s.text, ")") {
			return false
		}
	}
	return true
}

// params cuts off parameters. Names that come twice are refused.
func (s *fieldScanner) params() (map[string]string, bool) {
	params := make(map[string]string)
	for s.cut(";") {
		s.text = strings.TrimLeft(s.text, " ")
		name, value, ok := s.key(), "?1", true
		if s.cut("=") {
			value, ok = s.bare()
		}
		if _, twice := params[name]; name == "" || !ok || twice || len(params) == maxMembers {
			return nil, false
		}
		params[name] = value
	}
	return params, true
}

// bare cuts off a value: a string is returned without its quotes, others as they are.
func (s *fieldScanner) bare() (string, bool) {
	if strings.HasPrefix(s.text, `"`) {
		return s.quoted()
	}
	rest := strings.TrimLeftFunc(s.text, func(c rune) bool { return !strings.ContainsRune(`;, ()"`, c) })
	value := s.text[:len(s.text)-len(rest)]
	s.text = rest
	return value, value != "" && isPrintable(value)
}

// quoted cuts off a string.
func (s *fieldScanner) quoted() (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s.text) && s.text[0] == '"'; i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.text = s.text[i+1:]
			return b.String(), true
		case c == '\\':
			if i++; i == len(s.text) || s.text[i] != '"' && s.text[i] != '\\' {
				return "", false
			}
			b.WriteByte(s.text[i])
		case c < ' ' || c > '~':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// bytes cuts off bytes: base64 between colons, with or without padding. Some senders write
// base64url; the two must not be mixed.
func (s *fieldScanner) bytes() ([]byte, bool) {
	rest, ok := strings.CutPrefix(s.text, ":")
	text, rest, closed := strings.Cut(rest, ":")
	if !ok || !closed {
		return nil, false
	}
	s.text = rest
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	decoded, err := encoding.Strict().DecodeString(strings.TrimRight(text, "="))
	return decoded, err == nil && len(decoded) > 0
}
