package missed

import (
	"context"

	"sluice/command"
)

// Commands returns the commands that ask senders. missing is the error of a webhook that is not there.
func Commands(f *Finder, missing func(ctx context.Context, parameter, name string) error) []command.Command {
	return []command.Command{
		command.New("webhook.missed", "Ask the sender of a webhook for its own list of deliveries, and have what was "+
			"not accepted here sent again, or fetch it, through the same checks as any call. For "+Senders()+
			"; needs apiUrl and apiSecret of the webhook.", f.missed, command.Missing(missing)),
		command.New("webhook.check", "Ask the sender of a webhook whether it still calls it: whether the hook is "+
			"there and active, where it leads and until when. A subscription of Microsoft Graph is renewed if it ends "+
			"soon. For "+Checkers()+"; needs apiUrl and apiSecret of the webhook.", f.subscription,
			command.Missing(missing)),
	}
}
