package receive

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/webhook/form"
)

// A call goes through three types, so that no step can come too early: it has arrived, its
// webhook is found, and it was checked. Each step returns the next type. They share a place,
// which is used again for other calls.
type place struct {
	arrived arrived
	found   found
	checked checked
}

// An arrived call is a request, right or wrong.
type arrived struct {
	request *http.Request
	at      time.Time
	token   string // as the caller sent it
	query   form.Query
	hooked  bool   // it came to the second address, and has its token in the path
	path    string // behind that token, as it came; "" for a lone slash
	body    []byte
	raw     []byte     // the body with the token that it came with; nil if it had none
	size    int        // of the body, if it is gone
	memory  limit.Hold // for the body and what is made of it

	place *place
}

// newPlace returns a place for a call.
func newPlace() *place {
	p := new(place)
	p.arrived.place, p.found.arrived, p.checked.found = p, &p.arrived, &p.found
	return p
}

var places = sync.Pool{New: func() any { return newPlace() }}

// arrive returns a call that has just arrived.
func arrive(r *http.Request) *arrived {
	a := &places.Get().(*place).arrived
	a.request, a.at = r, time.Now()
	return a
}

// maxKept bounds the buffers that are kept for another call. A larger one would stay
// after its memory was given back to the budget.
const maxKept = 256 << 10

// release keeps the buffers for another call.
func (a *arrived) release() {
	p := a.place
	body, query, headers, payload := a.body, a.query, p.checked.headers, p.checked.payload
	if cap(body) > maxKept || cap(payload) > maxKept {
		body, payload = nil, nil
	}
	a.memory.Release()
	clear(query)
	clear(headers)
	p.arrived = arrived{place: p, query: query[:0], body: body[:0]}
	p.found = found{arrived: &p.arrived}
	p.checked = checked{found: &p.found, headers: headers[:0], payload: payload[:0]}
	places.Put(p)
}

// findToken returns the token of a call: at the second address from the path, otherwise
// from query or header; "" if it is in none of them.
func (a *arrived) findToken() (string, error) {
	rest, hooked := strings.CutPrefix(a.request.URL.EscapedPath(), sluice.HookPath)
	if !hooked {
		return form.Token(a.query, a.request.Header)
	}
	a.hooked = true
	token, path, _ := strings.Cut(rest, "/")
	if path != "" {
		a.path = "/" + path
	}
	return token, nil
}

// sentQuery returns the query without the token, which at the second address is elsewhere.
func (a *arrived) sentQuery() map[string][]string {
	if a.hooked {
		return a.query.Without()
	}
	return a.query.Without("token", "uuid")
}

// sent returns the body as it came: signatures cover the token in it.
func (a *arrived) sent() []byte {
	if a.raw != nil {
		return a.raw
	}
	return a.body
}

// length returns the length of the body, as far as it was read or announced.
func (a *arrived) length() int { return max(a.size, len(a.body), int(a.request.ContentLength)) }

// keptPath returns the path of a call to the second address, "" for others.
func (a *arrived) keptPath() string {
	if !a.hooked {
		return ""
	}
	return a.request.URL.EscapedPath()
}

// claimed returns what stands for the webhook in the trace id of a rejected call: the
// last characters of its token, with _ for those that a trace id can't have.
func (a *arrived) claimed() string {
	if a.token == "" {
		return "none"
	}
	end := []byte(strings.ToLower(sluice.Last6(a.token)))
	for i, c := range end {
		if !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyz-", rune(c)) {
			end[i] = '_'
		}
	}
	return string(end)
}
