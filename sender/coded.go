package sender

// What needs code is named in presets by these names: those of senders, unless several share
// the code.

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
