package sender

import "strings"

// A Preset is a sender that is known: what preset.yaml in its folder says. A further column
// is a further field.
type Preset struct {
	Name             string    `yaml:"-"`                // of the folder, as the parameter provider has it
	Title            string    `yaml:"title"`            // as its makers write it
	Checks           string    `yaml:"checks"`           // what is checked of each call
	Secret           string    `yaml:"secret"`           // what the signing secret is; "" means that there is none
	SecretOptional   bool      `yaml:"secretOptional"`   // it works without a secret, too
	SecretChosen     bool      `yaml:"secretChosen"`     // people make the secret up, and enter it at the sender
	Dedupe           string    `yaml:"dedupe"`           // where the id of a delivery is, as the parameter dedupe has it
	MaxPayloadLength int       `yaml:"maxPayloadLength"` // of its calls, in bytes, where it sends more than most; 0: as most
	EventType        string    `yaml:"eventType"`        // where it names the kind of its events, as the parameter eventType has it
	Split            string    `yaml:"split"`            // where its calls have several events, as the parameter split has it
	Retries          string    `yaml:"retries"`          // how long it tries after a failure: none, unknown, or 3d
	Checked          string    `yaml:"checked"`          // date when it was last held against the sender's documents
	Setup            [3]string `yaml:"setup"`            // what to enter where
	Answers          Answers   `yaml:"answers"`          // what it demands of answers
	Handshake        Handshake `yaml:"handshake"`        // what it sends before calls

	Signature *rule    `yaml:"signature"` // how it signs, or
	Also      also     `yaml:"also"`      // and how, with another kind of secret
	Verifier  string   `yaml:"verifier"`  // the code that checks its calls
	Public    bool     `yaml:"public"`    // checked by public keys, with a secret or without
	Learns    bool     `yaml:"learns"`    // the secret comes with the handshake
	Unsigned  bool     `yaml:"unsigned"`  // calls carry the secret itself, or nothing
	Masked    []string `yaml:"masked"`    // headers that carry a secret itself, in lower case

	checker newChecker // made by prepare; nil: nothing is checked
}

// also says that secrets which begin so are those of another sender's kind.
type also struct{ Secret, Provider string }

// verifiers check the calls of senders that sign as no other does. Presets name them.
var verifiers = map[string]newChecker{
	"adyen":           newAdyen,
	"aws-sns":         newSNS,
	"figma":           inBody("", "passcode"),
	"google-pubsub":   newPubSub,
	"mailgun":         newMailgun,
	"microsoft-graph": inBody("value", "clientState"),
	"paypal":          newPayPal,
	"plaid":           newPlaid,
	"twilio":          newTwilio,
}

// prepare completes a preset with what follows from the way in which it proves its calls.
func (p *Preset) prepare() (err error) {
	if p.Signature == nil {
		if p.checker = verifiers[p.Verifier]; p.checker == nil { // nothing is checked
			p.Unsigned, p.SecretOptional = true, true
		}
		return nil
	}
	r := *p.Signature
	if err := r.check(); err != nil {
		return err
	}
	p.Public = p.Public || r.Keys != ""
	switch r.Algorithm {
	case plainSecret:
		p.Unsigned = true
		r.Header, err = r.headerName("the secret")
		p.mask(r.Header)
		p.checker = bySecret(r.Header, r.Word)
	case basicLogin:
		p.Unsigned = true
		p.mask("Authorization")
		p.checker = byLogin(r.User)
	case webToken:
		if p.checker, err = r.byJWT(); r.BodyHash == "" {
			p.mask(r.Header) // whoever has the token could call with any body
		}
	case messageSignature:
		p.checker, err = r.byMessage()
	default:
		_, err = r.compile()
		p.checker = r.checker
	}
	return err
}

// mask hides the header that carries a secret itself, unless the preset names those to hide.
func (p *Preset) mask(header string) {
	if p.Masked == nil {
		p.Masked = []string{strings.ToLower(header)}
	}
}

// Where the signing secret of a sender comes from.
const (
	SecretFromYou       = "you"        // the person who sets the webhook up makes it up
	SecretFromSender    = "sender"     // the sender shows it, perhaps only when it has the URL
	SecretFromPublicKey = "public-key" // likewise, and no other text will do
	SecretFromHandshake = "handshake"  // the sender sends it
)

// SecretFrom returns where the signing secret comes from, "" if there is none.
func (p *Preset) SecretFrom() string {
	switch {
	case p.Secret == "":
		return ""
	case p.Learns:
		return SecretFromHandshake
	case p.SecretChosen:
		return SecretFromYou
	case p.Signature != nil && isAsymmetric(p.Signature.Algorithm):
		return SecretFromPublicKey
	}
	return SecretFromSender
}
