package sender

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// What needs code is named in presets by these names. Those of verifiers and greeters are
// names of senders, unless several share one.

// verifiers check the calls of senders that sign as no other does.
var verifiers = map[string]newChecker{
	"adyen":           newAdyen,
	"aws-sns":         newSNS,
	"figma":           newFigma,
	"google-pubsub":   newPubSub,
	"mailgun":         newMailgun,
	"microsoft-graph": newGraph,
	"paypal":          newPayPal,
	"plaid":           newPlaid,
	"twilio":          newTwilio,
}

// greeters answer handshakes that are more than a text to repeat; nil if a call is none.
var greeters = map[string]func(greeting) *Answer{
	"asana":       greetAsana,
	"aws-sns":     greetSNS,
	"discord":     greetDiscord,
	"origin":      greetOrigin,
	"woocommerce": greetWooCommerce,
	"x":           greetX,
	"zoom":        greetZoom,
}

// keyForms say how a secret becomes the key of an HMAC.
var keyForms = map[string]func(secret string) ([]byte, error){
	"":        func(secret string) ([]byte, error) { return []byte(secret), nil },
	"base64":  standardKey,
	"written": writtenKey,
}

// urlForms say how a URL is written when it is signed.
var urlForms = map[string]func(string) string{"hubspot": strings.NewReplacer(hubspotEscapes()...).Replace}

// handedOut are texts that a handshake signs for anybody.
var handedOut = map[string]*regexp.Regexp{"x": xChallenge}

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
