package closed

import (
	"cmp"
	"context"
	"time"

	"sluice"
	"sluice/command"
)

type params struct {
	From  time.Time `json:"from" doc:"Only times that lasted until then or longer."`
	Limit int       `json:"limit" min:"1" max:"500" doc:"At most this many. Default 100."`
}

const defaultLimit = 100

// Commands returns the command that shows the ledger.
func Commands(l *Ledger) []command.Command {
	return []command.Command{command.New("server.closed", "Show the times in which no calls were taken, newest "+
		"first, and the webhooks that may have missed some. A first start and a hand-over to a new program are none.",
		func(_ context.Context, p params) (sluice.List[sluice.Closing], error) {
			found := l.closings(p.From)
			return sluice.List[sluice.Closing]{Items: found[:min(len(found), cmp.Or(p.Limit, defaultLimit))]}, nil
		}, command.ReadOnly, command.Global)}
}
