package closed

import "sluice/command"

// Commands returns the command that shows the ledger.
func Commands(l *Ledger) []command.Command {
	return []command.Command{
		command.New("server.closed", "Show the times in which no calls were taken, newest first, and the webhooks "+
			"that may have missed some. A first start and a hand-over to a new program are none.", l.get,
			command.ReadOnly, command.Global),
	}
}
