// Package sender knows the systems that call webhooks: how each signs its calls, how it
// checks that the receiver wants them (its handshake), where the id of a delivery is, and
// how it is set up.
//
// A known sender is a Preset: a folder in known, with its preset, samples of its events, and
// vectors that prove both. Code that a preset needs is named in it: see verifiers and greeters.
// Any other sender is described by a Scheme. Either makes a Verifier, which a webhook keeps.
// Nothing here reads requests, stores anything or talks to the network, except a Fetcher, which
// gets the public keys that senders publish.
//
// Package webhook asks this one before it makes an event of a call.
package sender

import (
	"context"
	"strings"
	"time"
)

// maxSecrets is how many secrets a webhook may have: the old and the new one during a
// change.
const maxSecrets = 2

// SplitSecrets splits the parameter signingSecret at its comma.
func SplitSecrets(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	secrets := strings.Split(text, ",")
	if len(secrets) > maxSecrets {
		return nil, secretError("There may be two signing secrets at most, with a comma between them.")
	}
	return secrets, nil
}

// A Verifier checks the calls of one webhook. It may be used concurrently.
type Verifier struct {
	preset   Preset // without a name: the scheme is the webhook's own
	secrets  []string
	checkers []checker // one for each secret; none: everything is accepted
	keys     Keys
}

// New returns the verifier of a preset, or of a scheme. Keys are needed for those that have
// public keys.
func New(p Preset, secrets []string, keys Keys) (*Verifier, error) {
	switch own, given := p.Name == "", len(secrets) > 0; {
	case own && !given && !p.Public:
		return nil, secretError("A webhook with a signature needs the secret that is shared with the sender, or its " +
			"public key.")
	case own && given && p.Public:
		return nil, secretError("The keys of this sender come from the address in keys, so that there is no signing " +
			"secret to be set.")
	case !own && !given && !p.SecretOptional:
		return nil, secretError("A webhook for " + p.Title + " needs the signing secret: " + p.Secret + "." +
			p.meanwhile())
	case !own && given && p.Secret == "":
		return nil, secretError(p.Title + " signs nothing, so that there is no signing secret to be set.")
	}
	v := &Verifier{preset: p, secrets: secrets, keys: keys}
	return v, v.build()
}

// meanwhile says what to do until the sender shows its secret, if it wants the webhook's
// URL first.
func (p *Preset) meanwhile() string {
	switch p.SecretFrom() {
	case SecretFromSender:
		return " If " + p.Title + " shows it only when it has the URL, set another one of that form now, and the " +
			"right secret with an edit: until then all calls are refused."
	case SecretFromPublicKey:
		return " If " + p.Title +
			" shows it only when it has a URL, enter any there first, and the right one afterwards."
	}
	return ""
}

func (v *Verifier) build() error {
	if len(v.secrets) > maxSecrets {
		return secretError("There may be two signing secrets at most.")
	}
	for _, secret := range v.secrets {
		if strings.TrimSpace(secret) == "" {
			return secretError("A signing secret is empty.")
		}
		if err := v.add(secret); err != nil {
			return err
		}
	}
	if len(v.secrets) == 0 && v.preset.Public {
		return v.add("")
	}
	return nil
}

func (v *Verifier) add(secret string) error {
	made := v.preset.checker
	if also := v.preset.Also; also.Secret != "" && strings.HasPrefix(secret, also.Secret) {
		other, _ := Find(also.Provider) // a test finds it
		made = other.checker
	}
	c, err := made(secret, v.keys)
	if err != nil {
		return err
	}
	v.checkers = append(v.checkers, c)
	return nil
}

// Verify reports whether the sender made a call: nil, or an error with the code
// signature-missing, signature-invalid or signature-expired. The error says no
// more to the caller; Diagnose does. If the sender's public keys can't be read,
// the error is Unavailable.
func (v *Verifier) Verify(ctx context.Context, c *Call, now time.Time) error {
	_, err := v.verify(ctx, c, now)
	return err
}

// verify also returns the number of the secret that fits.
func (v *Verifier) verify(ctx context.Context, c *Call, now time.Time) (secret int, err error) {
	if len(v.checkers) == 0 && v.preset.Learns {
		return 0, missing("No secret is known yet: %s gives it in its handshake.", v.preset.Title)
	}
	for i, checker := range v.checkers {
		e := checker.check(ctx, c, now)
		if e == nil {
			return i, nil
		}
		if err == nil || isExpired(e) { // an expired signature says most
			err = e
		}
	}
	return 0, err
}

// Sign signs a call as the sender would, with the first secret, for tests. The
// call must have a header map. Senders with private keys can't be imitated:
// not-signable.
func (v *Verifier) Sign(c *Call, now time.Time) error {
	switch {
	case len(v.checkers) > 0:
		return v.checkers[0].sign(c, now)
	case v.preset.Learns:
		return notSignable()
	}
	return nil
}

// SendsSecret reports whether calls carry the secret itself.
func (v *Verifier) SendsSecret() bool { return v.preset.Unsigned && len(v.secrets) > 0 }

// Masked returns the headers in which the sender sends a secret itself, in lower case.
// They don't belong in events.
func (v *Verifier) Masked() []string { return v.preset.Masked }

// Handshake returns the answer to a call that is a handshake of the sender, nil
// if it is none. Where the sender signs its handshakes, the signature is
// checked first, with the errors of Verify. A wrong verifyToken is Forbidden.
func (v *Verifier) Handshake(ctx context.Context, c *Call, now time.Time, verifyToken string) (*Answer, error) {
	shake := &v.preset.Handshake
	if shake.Words == "" {
		return nil, nil
	}
	g := greeting{Call: c, verifyToken: verifyToken}
	if len(v.secrets) > 0 {
		g.secret = v.secrets[0]
	}
	answer, err := shake.answer(g)
	if answer == nil || err != nil || !shake.Signed {
		return answer, err
	}
	fitting, err := v.verify(ctx, c, now)
	if err != nil {
		return nil, err
	}
	if fitting > 0 {
		g.secret = v.secrets[fitting]
		return shake.answer(g)
	}
	return answer, nil
}
