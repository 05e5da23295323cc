package webhook

import (
	"context"
	"net/url"
	"strings"

	"sluice"
	"sluice/missed"
	"sluice/webhook/trust"
)

// checkAsking refuses an edit after which the sender can't be asked, or by which a stored
// credential would go to another server than the one that it was entered for. given reports
// whether the edit has a credential.
func checkAsking(ctx context.Context, before, after *sluice.Webhook, given bool) error {
	name, stored := trust.StoredName(after.APISecret)
	moved := before != nil && before.APIURL != "" && after.APIURL != "" &&
		serverOf(before.APIURL) != serverOf(after.APIURL)
	switch {
	case given && stored && !sluice.UserFrom(ctx).Cover(sluice.MayUseSecrets).Name(name):
		return sluice.NotPermitted(sluice.MayUseSecrets).About("apiSecret")
	case !given && after.APISecret != "" && moved:
		return sluice.InvalidParameter("apiSecret", "Another server would get the stored apiSecret; give it again.")
	case after.MissedEvery == 0:
		return nil
	case after.APIURL == "":
		return sluice.InvalidParameter("apiUrl",
			"With missedEvery the sender is asked what was missed: that needs apiUrl, the address of the hook at its "+
				"API.")
	case after.APISecret == "":
		return sluice.InvalidParameter("apiSecret",
			"With missedEvery the sender is asked what was missed: that needs apiSecret, the credential for its API.")
	case !missed.Asks(trust.DemandsOf(after).Provider):
		return sluice.InvalidParameter("missedEvery", "These senders can be asked what was missed: %s.",
			missed.Senders())
	}
	return nil
}

// serverOf returns the scheme and host of an address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
