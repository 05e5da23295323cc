package webhook

import (
	"context"
	"strings"

	"sluice"
	"sluice/missed"
	"sluice/sender"
	"sluice/webhook/trust"
)

// bindCredential notes which server the credential of an edit is for, and refuses an edit by which
// a stored one would go to another server. given reports whether the edit has a credential.
func bindCredential(before, after *sluice.Webhook, given bool) error {
	server := serverOf(after.APIURL)
	if given {
		after.APISecretFor = server
		return nil
	}
	if before != nil && before.APISecretFor == "" { // it was stored before that was noted
		after.APISecretFor = serverOf(before.APIURL)
	}
	if after.APISecret != "" && server != "" && server != after.APISecretFor {
		return sluice.InvalidParameter("apiSecret", "Another server would get the stored apiSecret; give it again.")
	}
	return nil
}

// checkAsking refuses an edit after which the sender can't be asked. given reports whether the
// edit has a credential.
func checkAsking(ctx context.Context, after *sluice.Webhook, given bool) error {
	name, stored := trust.StoredName(after.APISecret)
	switch {
	case given && stored && !sluice.UserFrom(ctx).Cover(sluice.MayUseSecrets).Name(name):
		return sluice.NotPermitted(sluice.MayUseSecrets).About("apiSecret")
	case after.MissedEvery == 0 && after.CheckEvery == 0:
		return nil
	case after.APIURL == "":
		return sluice.InvalidParameter("apiUrl",
			"With missedEvery and checkEvery the sender is asked: that needs apiUrl, the address of the hook at its "+
				"API.")
	case after.APISecret == "":
		return sluice.InvalidParameter("apiSecret",
			"With missedEvery and checkEvery the sender is asked: that needs apiSecret, the credential for its API.")
	case after.MissedEvery != 0 && !missed.Asks(sender.Of(after).Name):
		return sluice.InvalidParameter("missedEvery", "These senders can be asked what was missed: %s.",
			missed.Senders())
	case after.CheckEvery != 0 && !missed.Checks(sender.Of(after).Name):
		return sluice.InvalidParameter("checkEvery", "These senders can be asked whether they still call: %s.",
			missed.Checkers())
	}
	return nil
}

func serverOf(address string) string { return strings.ToLower(sluice.ServerOf(address)) }
