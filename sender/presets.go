package sender

import (
	"cmp"
	"slices"
	"sync"
)

// Presets returns all senders that are known, by name.
func Presets() []Preset { return presets() }

var presets = sync.OnceValue(func() []Preset {
	all := slices.Concat(bodySigners, timeSigners, tokenSenders, greeters, []Preset{
		adyen(), asana(), awsSNS(), figma(), googlePubSub(), hubspot(), mailgun(), microsoftGraph(), paypal(), plaid(),
		salesforce(), standardWebhooks(), twilio(), woocommerce(), x(),
	})
	slices.SortFunc(all, func(a, b Preset) int { return cmp.Compare(a.Name, b.Name) })
	return all
})

// Find returns the preset with that name.
func Find(name string) (Preset, bool) {
	at, found := slices.BinarySearchFunc(Presets(), name, func(p Preset, name string) int { return cmp.Compare(p.Name, name) })
	if !found {
		return Preset{}, false
	}
	return Presets()[at], true
}
