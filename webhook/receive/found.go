package receive

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
	"sluice/webhook/form"
	"sluice/webhook/trust"
)

// A found call has a webhook, and its body was read.
type found struct {
	*arrived

	hook         sluice.Webhook
	files        *form.Upload // a multipart body, otherwise nil
	certificates [][]byte     // of the client, in DER, once its webhook has demanded one
	redacted     bool         // what its webhook does not store is replaced
}

// find finds the webhook of a call and reads its body, in the order that costs least: a
// token in query or header is checked before the body is read.
func (rc *Receiver) find(w http.ResponseWriter, a *arrived) (*found, error) {
	f := &a.place.found
	token, err := a.findToken()
	if err != nil {
		return f, err
	}
	if token == "" && slices.Contains(sluice.FurtherMethods, a.request.Method) {
		return f, notAllowed(sluice.DefaultMethods)
	}
	longest := sluice.MaxPayloadLength
	a.memory = rc.Bodies.Strange.Hold()
	if token != "" || a.hooked {
		if err := rc.findHook(f, token); err != nil {
			return f, err
		}
		longest = trust.LongestPayload(&f.hook)
		a.memory = rc.Bodies.Known.Hold()
	}
	if a.body, err = rc.Bodies.Read(w, a.request, a.body, longest, &a.memory); err != nil {
		return f, err
	}
	if token == "" && !a.hooked {
		if err := rc.findByBody(f); err != nil {
			return f, err
		}
	}
	if err := rc.Bodies.Grow(a.request.Context(), &a.memory, limit.Copies*int64(len(a.body))); err != nil {
		return f, err
	}
	return f, f.parseUpload()
}

// findHook finds the webhook that is called, and refuses calls beyond its rate, or with a method
// that it is not called with.
func (rc *Receiver) findHook(f *found, token string) error {
	if err := rc.lookUp(f, token); err != nil {
		return err
	}
	if f.hook.Rate != "" {
		interval, _ := sluice.ParseRate(f.hook.Rate) // a stored one is a rate
		if wait := rc.paced.At(f.hook.UUID, time.Now(), interval, max(interval, time.Second)); wait > 0 {
			return sluice.CodeTooManyCalls.Errorf("This webhook takes %s calls; slow down.", f.hook.Rate).
				After(wait)
		}
	}
	if methods := f.hook.AllowedMethods(); !slices.Contains(methods, f.request.Method) {
		return notAllowed(methods)
	}
	return nil
}

func notAllowed(methods []string) error {
	return sluice.CodeMethodNotAllowed.Errorf("This webhook is called with %s.", strings.Join(methods, " or ")).
		Allowing(strings.Join(methods, ", "))
}

func (f *found) parseUpload() (err error) {
	f.files, err = form.ParseUpload(f.request.Header.Get("Content-Type"), f.body,
		form.Upload{All: f.hook.Multipart == sluice.MultipartAll, NoToken: f.raw != nil})
	return err
}

// findByBody finds the webhook of a call that carries its token in the body.
func (rc *Receiver) findByBody(f *found) (err error) {
	size := len(f.body)
	token, rest, err := form.BodyToken(f.request.Header.Get("Content-Type"), f.body)
	if err != nil {
		return err
	}
	f.body, f.raw = rest, f.body
	if err := rc.findHook(f, token); err != nil {
		return err
	}
	if err := checkLength(&f.hook, size); err != nil {
		return err
	}
	return f.memory.Move(f.request.Context(), rc.Bodies.Known)
}

// checkLength refuses a body that is larger than its webhook takes.
func checkLength(hook *sluice.Webhook, size int) error {
	if most := trust.LongestPayload(hook); size > most {
		return limit.TooLarge(most)
	}
	return nil
}

// challenge says how to send a token.
const challenge = `Webhook realm="webhook.receive", parameter="token"`

// lookUp looks up a token. Calls without a valid token are throttled by client address;
// others never are.
func (rc *Receiver) lookUp(f *found, token string) error {
	f.token = token
	if sluice.IsToken(token) {
		hook, err := rc.Find.OpenedBy(f.request.Context(), form.Canonical(token))
		if err == nil {
			f.hook = hook
			if hook.Tokens != nil {
				rc.Find.Used(hook.UUID, form.Canonical(token))
			}
			return nil
		}
		if !sluice.NotFound.Is(err) {
			return err
		}
	}
	if wait := rc.misses.Try(limit.Network(f.request.RemoteAddr)); wait > 0 {
		return sluice.CodeTooManyBadTokens.Errorf(
			"Too many calls without a valid token came from this address.").After(wait)
	}
	if token == "" {
		return sluice.CodeTokenMissing.Errorf(
			"The call carries no token; send it as the header token, as the query parameter token, or in the body.").
			Challenging(challenge)
	}
	return sluice.CodeTokenInvalid.Errorf(
		"No webhook has this token; check the webhookUrl that webhook.put or webhook.get shows.").Challenging(challenge)
}
