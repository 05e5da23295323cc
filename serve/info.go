package serve

import (
	"context"

	"sluice/command"
	"sluice/jetstream"
)

type info struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Namespace string `json:"namespace"`
	Engine    string `json:"engine"`
}

func infoCommand(namespace string, engine *jetstream.Engine) command.Command {
	return command.New("server.info", "Show the server's version, the commit it was built from, its namespace and its engine.",
		func(context.Context, struct{}) (info, error) {
			return info{Version: Version, Commit: Commit(), Namespace: namespace, Engine: engine.Describe()}, nil
		}, command.ReadOnly)
}
