package webhook

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/sender"
	"sluice/webhook/form"
)

// incoming is a call on its way in.
type incoming struct {
	request *http.Request
	arrived time.Time
	token   string // as the caller sent it, right or wrong
	query   form.Query
	hooked  bool   // it came to the second address, and has its token in the path
	path    string // behind that token, as it came; "" for a lone slash
	body    []byte
	raw     []byte       // the body with the token that it came with; nil if it had none
	files   *form.Upload // a multipart body, otherwise nil
	hook    sluice.Webhook
	trust   *trust         // nil: the token alone is demanded
	shown   [][]byte       // certificates of the client, in DER, once its webhook has demanded one
	answer  *sender.Answer // to a handshake
	answers sender.Answers // that its webhook gives
	wait    time.Duration  // for pipelines
	size    int            // of the body, if it is gone
	id      string         // of the delivery
	headers sluice.Headers
	payload []byte // as JSON

	vouched   bool       // the API of its sender has shown it, in place of a signature
	redacted  bool       // what its webhook does not store is replaced
	listeners []string   // pipelines that the event starts
	memory    limit.Hold // for the body and what is made of it
}

var incomings = sync.Pool{New: func() any { return new(incoming) }}

// maxKept bounds the buffers that are kept for another call. A larger one would stay
// after its memory was given back to the budget.
const maxKept = 256 << 10

// release keeps the buffers for another call.
func (in *incoming) release() {
	if cap(in.body) > maxKept || cap(in.payload) > maxKept {
		in.body, in.payload = nil, nil
	}
	in.memory.Release()
	clear(in.query)
	clear(in.headers)
	*in = incoming{query: in.query[:0], body: in.body[:0], headers: in.headers[:0], payload: in.payload[:0]}
	incomings.Put(in)
}

// admit finds the webhook of a call and reads its body, in the order that
// costs least: a token in query or header is checked before the body is read.
func (rc *Receiver) admit(w http.ResponseWriter, in *incoming) error {
	token, err := in.findToken()
	if err != nil {
		return err
	}
	if token == "" && slices.Contains(sluice.FurtherMethods, in.request.Method) {
		return notAllowed(sluice.DefaultMethods)
	}
	longest := sluice.MaxPayloadLength
	in.memory = rc.Bodies.Strange.Hold()
	if token != "" || in.hooked {
		if err := rc.find(in, token); err != nil {
			return err
		}
		if err := in.checkMethod(); err != nil {
			return err
		}
		longest = in.hook.MaxPayloadLength
		in.memory = rc.Bodies.Known.Hold()
	}
	if in.body, err = rc.Bodies.Read(w, in.request, in.body, longest, &in.memory); err != nil {
		return err
	}
	if token == "" && !in.hooked {
		if err := rc.admitByBody(in); err != nil {
			return err
		}
	}
	if err := rc.Bodies.Grow(in.request.Context(), &in.memory, limit.Copies*int64(len(in.body))); err != nil {
		return err
	}
	return in.parseUpload()
}

// findToken returns the token of a call: at the second address from the path, otherwise
// from query or header; "" if it is in none of them.
func (in *incoming) findToken() (string, error) {
	rest, hooked := strings.CutPrefix(in.request.URL.EscapedPath(), sluice.HookPath)
	if !hooked {
		return form.Token(in.query, in.request.Header)
	}
	in.hooked = true
	token, path, _ := strings.Cut(rest, "/")
	if path != "" {
		in.path = "/" + path
	}
	return token, nil
}

// sentQuery returns the query without the token, which at the second address is elsewhere.
func (in *incoming) sentQuery() map[string][]string {
	if in.hooked {
		return in.query.Without()
	}
	return in.query.Without("token", "uuid")
}

// checkMethod refuses a method that the webhook is not called with.
func (in *incoming) checkMethod() error {
	if methods := methodsOf(&in.hook); !slices.Contains(methods, in.request.Method) {
		return notAllowed(methods)
	}
	return nil
}

// methodsOf returns the methods that a webhook is called with.
func methodsOf(hook *sluice.Webhook) []string {
	if hook.Methods == nil {
		return sluice.DefaultMethods
	}
	return hook.Methods
}

func (in *incoming) parseUpload() (err error) {
	in.files, err = form.ParseUpload(in.request.Header.Get("Content-Type"), in.body, form.Upload{All: in.hook.Multipart == sluice.MultipartAll, NoToken: in.raw != nil})
	return err
}

// admitByBody finds the webhook of a call that carries its token in the body.
func (rc *Receiver) admitByBody(in *incoming) (err error) {
	size := len(in.body)
	token, rest, err := form.BodyToken(in.request.Header.Get("Content-Type"), in.body)
	if err != nil {
		return err
	}
	in.body, in.raw = rest, in.body
	if err := rc.find(in, token); err != nil {
		return err
	}
	if err := in.checkMethod(); err != nil {
		return err
	}
	if size > in.hook.MaxPayloadLength {
		return limit.TooLarge(in.hook.MaxPayloadLength)
	}
	return in.memory.Move(in.request.Context(), rc.Bodies.Known)
}

// challenge says how to send a token.
const challenge = `Webhook realm="webhook.receive", parameter="token"`

// find looks up a token. Calls without a valid token are throttled by client address;
// others never are.
func (rc *Receiver) find(in *incoming, token string) error {
	in.token = token
	if sluice.IsToken(token) {
		hook, err := rc.Webhooks.OpenedBy(in.request.Context(), form.Canonical(token))
		if err == nil {
			in.hook = hook
			if hook.Tokens != nil {
				rc.Used(hook.UUID, form.Canonical(token))
			}
			return nil
		}
		if sluice.AsError(err).Kind != sluice.NotFound {
			return err
		}
	}
	if wait := rc.misses.Try(limit.Network(in.request.RemoteAddr)); wait > 0 {
		return sluice.Errorf(sluice.CodeTooManyBadTokens, "Too many calls without a valid token came from this address.").After(wait)
	}
	if token == "" {
		return sluice.Errorf(sluice.CodeTokenMissing, "The call carries no token; send it as the header token, as the query parameter token, or in the body.").Challenging(challenge)
	}
	return sluice.Errorf(sluice.CodeTokenInvalid, "No webhook has this token; check the webhookUrl that webhook.put or webhook.get shows.").Challenging(challenge)
}

// claimed returns what stands for the webhook in the trace id of a rejected call: the
// last characters of its token, with _ for those that a trace id can't have.
func (in *incoming) claimed() string {
	if in.token == "" {
		return "none"
	}
	end := []byte(strings.ToLower(sluice.Last6(in.token)))
	for i, c := range end {
		if !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyz-", rune(c)) {
			end[i] = '_'
		}
	}
	return string(end)
}
